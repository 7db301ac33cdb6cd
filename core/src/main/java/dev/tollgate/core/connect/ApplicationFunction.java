package dev.tollgate.core.connect;

import java.time.Duration;

/**
 * The application's function behind {@code $connect} or {@code $disconnect} of an attached API,
 * which API Gateway would invoke itself without Tollgate.
 */
@FunctionalInterface
public interface ApplicationFunction {
  /**
   * Invokes the function once, and waits for its answer.
   *
   * @param event the event of API Gateway, JSON
   * @param limit how long to wait at most; the function may run on after that
   */
  Reply invoke(String event, Duration limit);

  /** How an invocation ended. */
  sealed interface Reply {}

  /**
   * The function returned.
   *
   * @param payload what it returned, JSON
   */
  record Answered(String payload) implements Reply {}

  /**
   * The function threw, could not be invoked, or did not answer in time.
   *
   * @param cause for the log
   */
  record Failed(String cause) implements Reply {}
}
