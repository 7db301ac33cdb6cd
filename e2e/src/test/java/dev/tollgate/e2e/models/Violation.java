package dev.tollgate.e2e.models;

/**
 * A value that a service model does not allow.
 *
 * @param at the member's path, such as {@code Entries[].DelaySeconds}
 * @param value the beginning of the value
 * @param expected what the model demands
 */
record Violation(String at, String value, String expected) {
  private static final int SHOWN = 200;

  Violation {
    value = value.length() > SHOWN ? value.substring(0, SHOWN) + "…" : value;
  }

  @Override
  public String toString() {
    return at + ": " + value + " (expected: " + expected + ")";
  }
}
