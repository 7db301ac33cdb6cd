package dev.tollgate.local.faults;

import dev.tollgate.local.scheduler.Punctuality;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Has schedules fire late, twice or not at all, by the plan. */
public record ScheduleFaults(Faults faults) implements Punctuality {
  /** Where precision is a minute: {@code 01:00} is between 01:00:00 and 01:00:59. */
  private static final Duration LATEST = Duration.ofSeconds(59);

  @Override
  public List<Duration> delays(String schedule, Instant time) {
    if (faults.occurs(FaultKind.SCHEDULE_MISSED, schedule)) {
      return List.of();
    }
    Duration delay = late(schedule);
    return faults.occurs(FaultKind.SCHEDULE_TWICE, schedule)
        ? List.of(delay, late(schedule))
        : List.of(delay);
  }

  private Duration late(String schedule) {
    return faults.occurs(FaultKind.SCHEDULE_LATE, schedule)
        ? faults.part(FaultKind.SCHEDULE_LATE, schedule, LATEST)
        : Duration.ZERO;
  }
}
