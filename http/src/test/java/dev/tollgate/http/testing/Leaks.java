package dev.tollgate.http.testing;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks that texts for callers reveal nothing of the implementation. */
public final class Leaks {
  private static final Pattern LEAK =
      Pattern.compile(
          // a line of a stack trace
          "\\bat [\\w.$/]+\\([^)]*\\)"
              // a Java class
              + "|\\b(?:java|javax|jdk|sun|com|org|io|software|dev)\\.[a-z][\\w$]*\\.[\\w.$]*[A-Z]\\w*"
              + "|\\b[A-Z]\\w+(?:Exception|Error)\\b"
              // an ARN, or the text of an SDK error
              + "|arn:aws|\\(Service: |Status Code: \\d|Request ID: ");

  private Leaks() {}

  /**
   * Checks a text for callers.
   *
   * @throws AssertionError if the text has a stack trace, a class name, an ARN or an SDK error
   */
  public static void check(String text) {
    Matcher leak = LEAK.matcher(text);
    if (leak.find()) {
      throw new AssertionError("leaks \"" + leak.group() + "\": " + text);
    }
  }
}
