package dev.tollgate.local.scheduler;

import static java.util.Locale.ROOT;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The due times of a schedule: the meaning of a schedule expression in its time zone. See <a
 * href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html">Schedule types
 * in EventBridge Scheduler</a>.
 */
sealed interface Timing {
  Pattern AT = Pattern.compile("at\\((\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2})\\)");

  /**
   * A rate expression. The documentation of the service has {@code rate(1 days)}, so 1 accepts the
   * plural. Other values refuse the singular.
   */
  Pattern RATE = Pattern.compile("rate\\(([1-9]\\d{0,8}) +(minute|hour|day)(s?)\\)");

  /** The first due time of a schedule that is created, changed or enabled at {@code now}. */
  default Optional<Instant> first(Instant now) {
    return next(now.minusNanos(1));
  }

  /** The first due time later than {@code after}. */
  Optional<Instant> next(Instant after);

  /**
   * Reads an expression.
   *
   * @param anchor when the schedule was last changed; a rate without a start date begins then
   * @throws IllegalArgumentException if the expression is not valid
   */
  static Timing of(
      String expression,
      ZoneId zone,
      Instant anchor,
      Optional<Instant> start,
      Optional<Instant> end) {
    Matcher at = AT.matcher(expression);
    if (at.matches()) {
      try {
        return new At(LocalDateTime.parse(at.group(1)).atZone(zone).toInstant());
      } catch (DateTimeException e) {
        throw new IllegalArgumentException(e);
      }
    }
    Instant until = end.orElse(Instant.MAX);
    Matcher rate = RATE.matcher(expression);
    if (!rate.matches()) {
      return new Recurring(Cron.parse(expression), zone, start.orElse(Instant.MIN), until);
    }
    long value = Long.parseLong(rate.group(1));
    if (value > 1 && rate.group(3).isEmpty()) {
      throw new IllegalArgumentException(expression);
    }
    Duration period = Duration.of(value, ChronoUnit.valueOf(rate.group(2).toUpperCase(ROOT) + "S"));
    Instant origin = start.orElse(anchor.truncatedTo(ChronoUnit.SECONDS));
    return new Rate(start.isEmpty(), origin, period, until);
  }

  /** A one-time schedule. As in the service, start date and end date are ignored. */
  record At(Instant instant) implements Timing {
    @Override
    public Optional<Instant> next(Instant after) {
      return Optional.of(instant).filter(due -> due.isAfter(after));
    }
  }

  /**
   * A rate in elapsed time: a day is 24 hours, also when daylight saving time changes.
   *
   * @param atOnce whether the schedule has no start date, so that its first due time is its anchor
   */
  record Rate(boolean atOnce, Instant origin, Duration period, Instant end) implements Timing {
    @Override
    public Optional<Instant> first(Instant now) {
      return atOnce ? beforeEnd(origin) : Timing.super.first(now);
    }

    @Override
    public Optional<Instant> next(Instant after) {
      if (origin.isAfter(after)) {
        return beforeEnd(origin);
      }
      long periods = Duration.between(origin, after).dividedBy(period);
      return beforeEnd(origin.plus(period.multipliedBy(periods + 1)));
    }

    private Optional<Instant> beforeEnd(Instant due) {
      return Optional.of(due).filter(instant -> instant.isBefore(end));
    }
  }

  /**
   * The local times of a cron expression. Local times that do not exist because of daylight saving
   * time are skipped; repeated ones are due once, the first time.
   */
  record Recurring(Cron cron, ZoneId zone, Instant start, Instant end) implements Timing {
    @Override
    public Optional<Instant> first(Instant now) {
      return next(now);
    }

    @Override
    public Optional<Instant> next(Instant after) {
      Instant last = after.isBefore(start) ? start.minusNanos(1) : after;
      Optional<LocalDateTime> local = cron.next(LocalDateTime.ofInstant(last, zone));
      while (local.isPresent()) {
        LocalDateTime time = local.get();
        if (!zone.getRules().getValidOffsets(time).isEmpty()) {
          Instant due = time.atZone(zone).withEarlierOffsetAtOverlap().toInstant();
          if (due.isAfter(last)) {
            return Optional.of(due).filter(instant -> instant.isBefore(end));
          }
        }
        local = cron.next(time);
      }
      return Optional.empty();
    }
  }
}
