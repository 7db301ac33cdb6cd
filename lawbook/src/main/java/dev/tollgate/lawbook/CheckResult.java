package dev.tollgate.lawbook;

import java.time.Duration;

/** The result of checking a law in one history. */
public sealed interface CheckResult {
  /** The subject kept the law. */
  record Kept() implements CheckResult {}

  /**
   * The law could not be checked: the history has no relevant step, or the subject does not support
   * it.
   */
  record NotJudged() implements CheckResult {}

  /**
   * The subject broke the law.
   *
   * @param step the number of the step that broke it, from 1; the number of steps plus one if it
   *     broke after the history
   * @param after the time since the start of the history
   * @param expected what the law requires
   * @param happened what happened instead
   */
  record Broken(int step, Duration after, String expected, String happened)
      implements CheckResult {}
}
