package dev.tollgate.cli.terminal;

import java.util.stream.Collectors;

/**
 * Makes untrusted text safe to print. Text from files, servers and sockets must not control the
 * terminal, or reorder or hide other text.
 */
final class PlainText {
  private PlainText() {}

  /** Escapes control characters, except line ends and tabs, and invisible characters as in JSON. */
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
