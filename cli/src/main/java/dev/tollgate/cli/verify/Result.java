package dev.tollgate.cli.verify;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The result of a check. */
public sealed interface Result {
  Check check();

  Evidence evidence();

  /** The deployment kept the promise. */
  record Passed(Check check, Evidence evidence) implements Result {}

  /**
   * The deployment broke the promise, or did not respond.
   *
   * @param expected the value that was expected, with its name
   */
  record Failed(Check check, Evidence evidence, String expected, String seen) implements Result {}

  /** The check could not decide. */
  record Skipped(Check check, Evidence evidence, String reason) implements Result {}

  /** The deployment makes no such promise. */
  record Inapplicable(Check check, Evidence evidence, String reason) implements Result {}

  /**
   * What a check did and measured.
   *
   * @param steps what was done, in order
   * @param figures measured values by name
   */
  record Evidence(List<String> steps, Map<String, String> figures, Duration time) {}
}
