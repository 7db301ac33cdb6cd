package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.TextStyle;
import java.time.temporal.TemporalAdjusters;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The instants at which a bucket is filled to its capacity: each day or each week at a time of day
 * in a time zone. Two of them enclose a <em>period</em>. Unused tokens of a period are void in the
 * next one, unless they are carried over.
 *
 * <p>When clocks change, a period is an hour shorter or longer. A time that does not exist on a day
 * counts as the same time after the change, and one that exists twice as the earlier one ({@link
 * ZonedDateTime#of}).
 *
 * @param every how long a period is
 * @param day the day on which a week begins; present only for {@link Every#WEEK}
 * @param at the time of day, in whole minutes
 * @param zone the time zone, a region of the IANA time zone database such as {@code Europe/Berlin}
 * @param carryOver whether unused tokens of a period stay valid in the next one
 */
public record Calendar(
    Every every, Optional<DayOfWeek> day, LocalTime at, ZoneId zone, boolean carryOver)
    implements Refill {
  private static final String ANY_PERIOD =
      "DAY or WEEK; longer periods are impossible because SQS keeps tokens for fourteen days";

  private static final String ANY_ZONE = "a time zone such as Europe/Berlin";

  /** EventBridge Scheduler takes regions, and no offsets such as {@code UTC+2}. */
  private static final Pattern REGION = Pattern.compile("\\w+(/[\\w+-]+)*");

  /** How long a period is. SQS keeps a message for at most fourteen days. */
  public enum Every {
    /** A day. */
    DAY(1),
    /** A week. */
    WEEK(7);

    private final int days;

    Every(int days) {
      this.days = days;
    }
  }

  /**
   * Checks the day and the time.
   *
   * @throws InvalidValue if a day is given for {@link Every#DAY} or missing for {@link Every#WEEK},
   *     if the time has seconds, or if the zone is no region
   */
  public Calendar {
    InvalidValue.unless(
        day.isPresent() == (every == Every.WEEK),
        "day",
        day,
        "a day for every: WEEK, none for every: DAY");
    InvalidValue.unless(at.getSecond() == 0 && at.getNano() == 0, "at", at, "hours and minutes");
    region(zone.getId());
  }

  /**
   * A calendar from its texts.
   *
   * @param every {@code DAY} or {@code WEEK}
   * @param day a day such as {@code MONDAY}; if empty, a week begins on Monday
   * @param at a time such as {@code 00:00}
   * @param zone a time zone such as {@code Europe/Berlin}
   * @param carryOver see {@link #carryOver}
   * @throws InvalidValue if one of them is malformed
   */
  public static Calendar of(
      String every, Optional<String> day, String at, String zone, boolean carryOver) {
    Every period = oneOf(Every.class, "every", every, ANY_PERIOD);
    Optional<DayOfWeek> first =
        day.map(name -> oneOf(DayOfWeek.class, "day", name, "a day such as MONDAY"));
    InvalidValue.unless(at.matches("([01]\\d|2[0-3]):[0-5]\\d"), "at", at, "a time such as 00:00");
    return new Calendar(
        period,
        period == Every.WEEK ? first.or(() -> Optional.of(DayOfWeek.MONDAY)) : first,
        LocalTime.parse(at),
        region(zone),
        carryOver);
  }

  private static <E extends Enum<E>> E oneOf(
      Class<E> type, String field, String name, String expected) {
    for (E value : type.getEnumConstants()) {
      if (value.name().equals(name)) {
        return value;
      }
    }
    throw new InvalidValue(field, name, expected);
  }

  /**
   * The time zone of this name.
   *
   * @throws InvalidValue if it is no region of the IANA time zone database
   */
  public static ZoneId region(String name) {
    try {
      ZoneId zone = ZoneId.of(name);
      InvalidValue.unless(
          !(zone instanceof ZoneOffset) && REGION.matcher(name).matches(), "zone", name, ANY_ZONE);
      return zone;
    } catch (DateTimeException unknown) {
      throw new InvalidValue("zone", name, ANY_ZONE);
    }
  }

  /** The start of the period that contains an instant. */
  public Instant start(Instant instant) {
    return begin(firstDay(instant));
  }

  /** The start of the period after the one that contains an instant. */
  public Instant next(Instant instant) {
    return begin(firstDay(instant).plusDays(every.days));
  }

  private LocalDate firstDay(Instant instant) {
    LocalDate today = instant.atZone(zone).toLocalDate();
    LocalDate first =
        day.map(start -> today.with(TemporalAdjusters.previousOrSame(start))).orElse(today);
    while (begin(first).isAfter(instant)) {
      first = first.minusDays(every.days);
    }
    return first;
  }

  private Instant begin(LocalDate date) {
    return ZonedDateTime.of(date, at, zone).toInstant();
  }

  /** How long a period is if no clock changes. */
  public Duration period() {
    return Duration.ofDays(every.days);
  }

  @Override
  public Rate average(long capacity) {
    long micro = capacity * 1_000_000 / period().toMinutes();
    return new Rate(Math.max(1, micro));
  }

  /** For example {@code each day at 00:00 (Europe/Berlin)}. */
  @Override
  public String toString() {
    String when =
        day.map(first -> first.getDisplayName(TextStyle.FULL, Locale.ENGLISH)).orElse("day");
    return "each " + when + " at " + at + " (" + zone + (carryOver ? ", carried over)" : ")");
  }
}
