package dev.tollgate.local.scheduler;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * The delays with which schedules fire. The service promises a precision of one minute and delivery
 * at least once.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html">Schedule
 *     types</a>
 */
@FunctionalInterface
public interface Punctuality {
  /** Fires once per due time, without delay. */
  Punctuality EXACT = (schedule, time) -> List.of(Duration.ZERO);

  /**
   * The delays after a due time at which a schedule fires.
   *
   * @param schedule the schedule's name
   * @return one delay for each event; none if the schedule does not fire
   */
  List<Duration> delays(String schedule, Instant time);
}
