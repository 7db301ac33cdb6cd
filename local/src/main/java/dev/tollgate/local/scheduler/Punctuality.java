package dev.tollgate.local.scheduler;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * How a schedule keeps its times. The service promises a precision of a minute and delivery at
 * least once.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html">Schedule
 *     types</a>
 */
@FunctionalInterface
public interface Punctuality {
  /** Every time once, and at once. */
  Punctuality EXACT = (schedule, time) -> List.of(Duration.ZERO);

  /**
   * How long after one of its times a schedule fires.
   *
   * @param schedule the schedule's name
   * @return a delay for each time that it fires; none if it does not
   */
  List<Duration> delays(String schedule, Instant time);
}
