package dev.tollgate.cli.terminal;

import java.util.stream.Collectors;

/**
 * Text as a person is shown it, whoever wrote it: a file, a server, or what others sent to a socket
 * must not steer the terminal, or reorder or hide what stands there.
 */
final class PlainText {
  private PlainText() {}

  /**
   * The text, in which control characters other than line ends and tabs, and all that is not seen,
   * are escaped as in JSON.
   */
  static String of(String text) {
    return text.codePoints().mapToObj(PlainText::shown).collect(Collectors.joining());
  }

  private static String shown(int c) {
    return c == '\n' || c == '\t' || isSeen(c)
        ? Character.toString(c)
        : Character.toString(c)
            .chars()
            .mapToObj(unit -> "\\u%04x".formatted(unit))
            .collect(Collectors.joining());
  }

  private static boolean isSeen(int c) {
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
