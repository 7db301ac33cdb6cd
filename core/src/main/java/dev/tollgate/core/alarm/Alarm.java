package dev.tollgate.core.alarm;

import java.time.Instant;

/**
 * An alarm and its state.
 *
 * @param name without the prefix of the deployment, such as {@code fills-late}
 * @param meaning what is wrong while it is raised, in one sentence; empty if the alarm's
 *     description does not say it
 * @param since when it got into this state
 * @param reason why, in the words of CloudWatch
 * @param runbook the page that says what to do, by its path in the repository; empty if the alarm's
 *     description names none
 */
public record Alarm(
    String name, String meaning, State state, Instant since, String reason, String runbook) {
  /** The states of an alarm in CloudWatch. */
  public enum State {
    OK,
    /** It is raised. */
    ALARM,
    /** It has just been created, or its metrics are missing. */
    INSUFFICIENT_DATA
  }
}
