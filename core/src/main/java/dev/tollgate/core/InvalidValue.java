package dev.tollgate.core;

/**
 * A value that was refused: which field, what it was, and what was expected. Its message is fit for
 * whoever sent the value.
 */
public final class InvalidValue extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;
  private static final int SHOWN = 100;

  private final String field;
  private final String value;
  private final String expected;
  private final boolean secret;

  /**
   * Describes a refused value.
   *
   * @param field the name that the sender knows it by
   * @param value what was sent; shown to at most 100 characters
   * @param expected what would have been accepted
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

  /** Describes a refused value that may be told to its sender, and never to a log. */
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
  public static long inRange(String field, long value, long least, long most) {
    if (value < least || value > most) {
      throw new InvalidValue(field, value, least + " to " + most);
    }
    return value;
  }

  /** The same refusal under a longer name, for a value inside a document. */
  public InvalidValue within(String parent) {
    return new InvalidValue(parent + "." + field, value, expected, secret);
  }

  /** What a log may say of it: unlike the message, it is fit for others than the sender. */
  public String logged() {
    return field
        + ": "
        + (secret ? "[hidden]" : LogText.quoted(value))
        + " (expected: "
        + expected
        + ")";
  }

  /** The name that the sender knows the value by. */
  public String field() {
    return field;
  }

  /** The value as sent, shortened to 100 characters. */
  public String value() {
    return value;
  }

  /** What would have been accepted. */
  public String expected() {
    return expected;
  }
}
