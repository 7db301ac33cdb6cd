package dev.tollgate.local;

import dev.tollgate.local.faults.Fates;
import dev.tollgate.local.faults.Misfortune;
import dev.tollgate.local.scheduler.Punctuality;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Schedules that fire late, twice or not at all, by a plan. */
record UnpunctualSchedules(Fates fates) implements Punctuality {
  /** Where precision is a minute: {@code 01:00} is between 01:00:00 and 01:00:59. */
  private static final Duration LATEST = Duration.ofSeconds(59);

  @Override
  public List<Duration> delays(String schedule, Instant time) {
    if (fates.strikes(Misfortune.SCHEDULE_MISSED, schedule)) {
      return List.of();
    }
    Duration delay = late(schedule);
    return fates.strikes(Misfortune.SCHEDULE_TWICE, schedule)
        ? List.of(delay, late(schedule))
        : List.of(delay);
  }

  private Duration late(String schedule) {
    return fates.strikes(Misfortune.SCHEDULE_LATE, schedule)
        ? fates.part(Misfortune.SCHEDULE_LATE, schedule, LATEST)
        : Duration.ZERO;
  }
}
