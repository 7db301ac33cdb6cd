package dev.tollgate.core;

import java.util.regex.Pattern;

/**
 * Escapes untrusted text for logs. The result cannot start a new log line, control a terminal, or
 * reveal a session id.
 */
public final class LogText {
  private static final int SHOWN = 100;
  private static final String HIDDEN = "[hidden]";

  /** Anything that could be a session id, in upper or lower case. */
  private static final Pattern SECRET = Pattern.compile("[0-9A-Fa-f]{32,}");

  private LogText() {}

  /** A value in quotes, escaped as in JSON, and cut after 100 characters. */
  public static String quoted(String value) {
    String text = SECRET.matcher(value).replaceAll(HIDDEN);
    StringBuilder quoted = new StringBuilder("\"");
    int end = text.offsetByCodePoints(0, Math.min(SHOWN, text.codePointCount(0, text.length())));
    text.substring(0, end).codePoints().forEach(c -> append(quoted, c));
    return quoted.append(end < text.length() ? "…\"" : "\"").toString();
  }

  /** A text of several lines, such as a stack trace. Every line but the first begins with a tab. */
  public static String lines(String text) {
    StringBuilder lines = new StringBuilder();
    SECRET
        .matcher(text.strip().replace("\r\n", "\n").replace("\n\t", "\n"))
        .replaceAll(HIDDEN)
        .codePoints()
        .forEach(
            c -> {
              if (c == '\n') {
                lines.append("\n\t");
              } else if (isHarmless(c)) {
                lines.appendCodePoint(c);
              } else {
                append(lines, c);
              }
            });
    return lines.toString();
  }

  private static void append(StringBuilder text, int c) {
    if (c == '"' || c == '\\') {
      text.append('\\').appendCodePoint(c);
    } else if (isHarmless(c)) {
      text.appendCodePoint(c);
    } else {
      for (char unit : Character.toChars(c)) {
        text.append("\\u%04x".formatted((int) unit));
      }
    }
  }

  /**
   * Whether a character is no control character, no line separator, and does not reorder or hide
   * others.
   */
  private static boolean isHarmless(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED ->
          false;
      default -> true;
    };
  }
}
