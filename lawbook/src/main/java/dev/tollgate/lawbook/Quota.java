package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Optional;
import java.util.Random;

/**
 * The quota under test: a number of tokens for each period of a calendar, such as 1,000 a day.
 * Unused tokens of a period are lost.
 */
public interface Quota {
  /** Claims one token. */
  Claim claim();

  /** Changes the number of tokens of a period, the present one included. */
  void retune(long capacity);

  /** When {@link #passedTo} must be called next; empty for never. */
  default Optional<Instant> nextTimer() {
    return Optional.empty();
  }

  /** Reports that the clock has reached {@code now}. */
  default void passedTo(Instant now) {}

  /** The effects of the faults injected so far. */
  default FaultEffects faultEffects() {
    return FaultEffects.NONE;
  }

  /**
   * What the quota promises. A period begins every {@code days} days at a time of day, counted from
   * Monday, 5 January 1970.
   *
   * @param capacity the tokens of a period, at least 1
   * @param days how long a period is: 1 or 7
   * @param at when it begins. A time that does not exist on a day counts as the same time after the
   *     change of the clocks; of a time that exists twice, the first counts
   * @param zone the time zone of {@code at}
   * @param lateness how long after the beginning of a period its tokens can be claimed
   */
  record Terms(long capacity, int days, LocalTime at, ZoneId zone, Duration lateness) {
    private static final LocalDate MONDAY = LocalDate.of(1970, 1, 5);

    /** When the period begins that contains an instant. */
    Instant start(Instant instant) {
      LocalDate day = instant.atZone(zone).toLocalDate().plusDays(days);
      day = day.minusDays(Math.floorMod(day.toEpochDay() - MONDAY.toEpochDay(), days));
      while (begin(day).isAfter(instant)) {
        day = day.minusDays(days);
      }
      return begin(day);
    }

    /** When the next period begins. */
    Instant next(Instant instant) {
      Instant start = start(instant);
      for (LocalDate day = start.atZone(zone).toLocalDate(); ; day = day.plusDays(1)) {
        boolean first = Math.floorMod(day.toEpochDay() - MONDAY.toEpochDay(), days) == 0;
        if (first && begin(day).isAfter(instant)) {
          return begin(day);
        }
      }
    }

    private Instant begin(LocalDate day) {
      return ZonedDateTime.of(day, at, zone).toInstant();
    }

    /** Terms with another capacity. */
    Terms with(long other) {
      return new Terms(other, days, at, zone, lateness);
    }
  }

  /** Makes a quota for each history, and draws the terms that it promises. */
  interface Maker {
    /** Makes a quota whose present period has its whole capacity. */
    Quota make(Setting setting, Terms terms);

    /** Draws terms that the quota can keep. */
    Terms terms(Random random);
  }
}
