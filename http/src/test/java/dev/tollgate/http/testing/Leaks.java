package dev.tollgate.http.testing;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What no caller is to see: how the inside is built, and what it was told by others. */
public final class Leaks {
  private static final Pattern LEAK =
      Pattern.compile(
          // a line of a stack trace
          "\\bat [\\w.$/]+\\([^)]*\\)"
              // a class of Java
              + "|\\b(?:java|javax|jdk|sun|com|org|io|software|dev)\\.[a-z][\\w$]*\\.[\\w.$]*[A-Z]\\w*"
              + "|\\b[A-Z]\\w+(?:Exception|Error)\\b"
              // a name on AWS, or what the SDK says of a request that failed
              + "|arn:aws|\\(Service: |Status Code: \\d|Request ID: ");

  private Leaks() {}

  /**
   * Looks through what a caller is told.
   *
   * @throws AssertionError if it holds a stack trace, a class's name, an ARN or an error of the SDK
   */
  public static void check(String told) {
    Matcher leak = LEAK.matcher(told);
    if (leak.find()) {
      throw new AssertionError("leaks \"" + leak.group() + "\": " + told);
    }
  }
}
