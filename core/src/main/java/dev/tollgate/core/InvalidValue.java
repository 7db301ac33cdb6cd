package dev.tollgate.core;

/**
 * A value was rejected: names the field, the value and the expected values. The message may be
 * returned to the sender of the value.
 */
public final class InvalidValue extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;
  private static final int SHOWN = 100;

  private final String field;
  private final String value;
  private final String expected;
  private final boolean secret;

  /**
   * Describes a rejected value.
   *
   * @param field the name that the sender used for the value
   * @param value the rejected value; shortened to 100 characters
   * @param expected the values that are accepted
   */
  public InvalidValue(String field, Object value, String expected) {
    this(field, value, expected, false);
  }

  private InvalidValue(String field, Object value, String expected, boolean secret) {
    super(field + ": " + shown(value) + " (expected: " + expected + ")");
    this.field = field;
    this.value = shown(value);
    this.expected = expected;
    this.secret = secret;
  }

  /** Describes a rejected value that may be returned to its sender but must not be logged. */
  public static InvalidValue ofSecret(String field, String value, String expected) {
    return new InvalidValue(field, value, expected, true);
  }

  private static String shown(Object value) {
    String text = String.valueOf(value);
    if (text.length() <= SHOWN) {
      return text;
    }
    boolean splits = Character.isHighSurrogate(text.charAt(SHOWN - 1));
    return text.substring(0, splits ? SHOWN - 1 : SHOWN) + "…";
  }

  /** Throws unless {@code valid}. */
  public static void unless(boolean valid, String field, Object value, String expected) {
    if (!valid) {
      throw new InvalidValue(field, value, expected);
    }
  }

  /**
   * Returns {@code value} if it lies within the bounds, both included.
   *
   * @throws InvalidValue if it does not
   */
  public static long inRange(String field, long value, long least, long max) {
    if (value < least || value > max) {
      throw new InvalidValue(field, value, least + " to " + max);
    }
    return value;
  }

  /** This error with a longer field name, for a value inside a document. */
  public InvalidValue within(String parent) {
    return new InvalidValue(parent + "." + field, value, expected, secret);
  }

  /** The text for logs. Unlike the message, it hides secrets and escapes the value. */
  public String logged() {
    return field
        + ": "
        + (secret ? "[hidden]" : LogText.quoted(value))
        + " (expected: "
        + expected
        + ")";
  }

  /** The name that the sender used for the value. */
  public String field() {
    return field;
  }

  /** The rejected value, shortened to 100 characters. */
  public String value() {
    return value;
  }

  /** The values that are accepted. */
  public String expected() {
    return expected;
  }
}
