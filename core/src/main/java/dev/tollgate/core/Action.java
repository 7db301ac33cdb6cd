package dev.tollgate.core;

import java.util.regex.Pattern;

/**
 * The action that a token pays for: {@code connect}, {@code message}, or an action that a tier
 * defines.
 */
public record Action(String value) implements Comparable<Action> {
  private static final Pattern SYNTAX = Pattern.compile("[a-z][a-z0-9-]{0,19}");
  private static final String EXPECTED =
      "1 to 20 lower-case letters, digits and hyphens; a letter first";

  /** Opening a connection. */
  public static final Action CONNECT = new Action("connect");

  /** Processing a message. */
  public static final Action MESSAGE = new Action("message");

  /**
   * Checks the name.
   *
   * @throws InvalidValue if it has a character or a length that is not allowed
   */
  public Action {
    InvalidValue.unless(SYNTAX.matcher(value).matches(), "action", value, EXPECTED);
  }

  @Override
  public int compareTo(Action other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
