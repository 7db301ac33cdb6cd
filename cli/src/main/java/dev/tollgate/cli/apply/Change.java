package dev.tollgate.cli.apply;

/**
 * The change of one field.
 *
 * @param from the current value, as text for a person
 * @param to the new value
 */
record Change(String from, String to) {
  /** The text for a value that is absent. */
  static final String NONE = "(none)";

  @Override
  public String toString() {
    return from + " → " + to;
  }
}
