package dev.tollgate.lawbook;

/** Ends a run because the subject broke a law. */
final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String expected;
  private final String happened;

  Violation(String expected, String happened) {
    super(expected + ", but " + happened, null, false, false);
    this.expected = expected;
    this.happened = happened;
  }

  String expected() {
    return expected;
  }

  String happened() {
    return happened;
  }

  static void unless(boolean kept, String expected, Object happened) {
    if (!kept) {
      throw new Violation(expected, happened.toString());
    }
  }
}
