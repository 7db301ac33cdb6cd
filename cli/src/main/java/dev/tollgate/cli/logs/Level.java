package dev.tollgate.cli.logs;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * How serious a log line is. Functions do not write levels, so they follow from the line: the
 * outcome of a metric line, or words of another line.
 */
enum Level {
  /** An admission, a refusal by a limit, a measurement, or other text. */
  INFO(""),
  /** A step that is repeated later, or an admission without a token. */
  WARN("WITHOUT_TOKEN|failed|not.|dropped|pending|unreadable|without.a.token|stay.open"),
  /** A failed invocation, handshake, message or request for credentials. */
  ERROR("Exception|Error|Task.timed.out|FAILED|UNDECIDED|LEASE_ENDED|CredentialFailures");

  private static final Set<String> FAILED = Set.of("FAILED", "UNDECIDED", "LEASE_ENDED");

  private final String words;
  private final Pattern pattern;

  Level(String words) {
    this.words = words;
    this.pattern = Pattern.compile(words);
  }

  /** The level of a line that is text. */
  static Level of(String text) {
    if (ERROR.pattern.matcher(text).find()) {
      return ERROR;
    }
    return WARN.pattern.matcher(text).find() ? WARN : INFO;
  }

  /** The level of a metric line. */
  static Level of(JsonNode line) {
    String outcome = line.path("Outcome").asText();
    if (FAILED.contains(outcome) || line.has("CredentialFailures")) {
      return ERROR;
    }
    return outcome.endsWith("WITHOUT_TOKEN") ? WARN : INFO;
  }

  /**
   * A regular expression of CloudWatch Logs that finds all lines of this level and above, and some
   * others. It has neither spaces nor parentheses, which CloudWatch refuses.
   */
  String expression() {
    return this == WARN ? ERROR.words + "|" + WARN.words : words;
  }
}
