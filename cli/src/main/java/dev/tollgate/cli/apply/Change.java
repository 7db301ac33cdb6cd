package dev.tollgate.cli.apply;

/**
 * A value that is to become another.
 *
 * @param from as it stands, as a person reads it
 * @param to as it is to be
 */
record Change(String from, String to) {
  /** Stands for a value that is not there. */
  static final String NONE = "(none)";

  @Override
  public String toString() {
    return from + " → " + to;
  }
}
