package dev.tollgate.cli.prove.probe;

import java.util.regex.Pattern;

/**
 * One question to AWS that its documentation leaves open.
 *
 * @param name lower-case letters, digits and hyphens; also the name of the answer's file
 * @param text the question as one sentence
 */
public record Question(String name, String text) {
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{2,50}");

  /**
   * @throws IllegalArgumentException if the name is malformed
   */
  public Question {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("name: " + name + " (expected: " + NAME + ")");
    }
  }
}
