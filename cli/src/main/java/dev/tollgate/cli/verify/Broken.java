package dev.tollgate.cli.verify;

/** Ends a check: the deployment broke the promise. */
final class Broken extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String expected;
  private final String seen;

  /**
   * @param what the value that was looked at
   */
  Broken(String what, String expected, String seen) {
    super(what + ": " + seen + " (expected: " + expected + ")");
    this.expected = what + ": " + expected;
    this.seen = seen;
  }

  String expected() {
    return expected;
  }

  String seen() {
    return seen;
  }
}
