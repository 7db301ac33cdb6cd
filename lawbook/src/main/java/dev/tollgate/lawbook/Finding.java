package dev.tollgate.lawbook;

import java.time.Duration;

/** What came of holding a subject to a law in one history. */
public sealed interface Finding {
  /** The law was kept. */
  record Kept() implements Finding {}

  /** The history says nothing of the law, or the subject does not let it be judged. */
  record NotJudged() implements Finding {}

  /**
   * The law was broken.
   *
   * @param step the number of the step that showed it, from 1; one beyond the last if it showed
   *     after the history
   * @param after how long after the history began
   * @param expected what should have been
   * @param happened what was
   */
  record Broken(int step, Duration after, String expected, String happened) implements Finding {}
}
