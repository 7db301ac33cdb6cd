package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.Calendar;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/**
 * A window of time in which the limits of a tier or a tenant are multiplied.
 *
 * <p>A time that does not exist because clocks change counts as the same time after the change, and
 * one that exists twice as the earlier one ({@link ZonedDateTime#of}).
 *
 * @param factor what the limits are multiplied by
 * @param from the local time at which the window opens, in whole minutes
 * @param to the local time at which it closes, in whole minutes
 * @param zone the time zone of both, a region of the IANA time zone database
 * @param isOpen whether the factor is in force; see {@link LimitSchedules#at}
 */
public record LimitSchedule(
    Factor factor, LocalDateTime from, LocalDateTime to, ZoneId zone, boolean isOpen) {
  private static final DateTimeFormatter ID =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmm'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  private static final String TIME = "a local time such as 2026-11-27T18:00";

  /**
   * Checks the times.
   *
   * @throws InvalidValue if one has seconds or a year of other than four digits, if {@code to} is
   *     not after {@code from}, or if the zone is no region
   */
  public LimitSchedule {
    check("from", from);
    check("to", to);
    Calendar.region(zone.getId());
    checkOrder(from.isBefore(to), from, to);
  }

  private static void checkOrder(boolean isAfter, LocalDateTime from, LocalDateTime to) {
    InvalidValue.unless(isAfter, "to", to, "a time after from, which is " + from);
  }

  private static void check(String field, LocalDateTime time) {
    InvalidValue.unless(
        time.equals(time.truncatedTo(ChronoUnit.MINUTES))
            && time.getYear() >= 1970
            && time.getYear() <= 9999,
        field,
        time,
        TIME);
  }

  /**
   * A schedule from its texts, whose window is not open yet.
   *
   * @throws InvalidValue if one of them is malformed
   */
  public static LimitSchedule of(BigDecimal factor, String from, String to, String zone) {
    return new LimitSchedule(
        Factor.of(factor), time("from", from), time("to", to), Calendar.region(zone), false);
  }

  private static LocalDateTime time(String field, String text) {
    InvalidValue.unless(
        text.matches("\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:00)?"), field, text, TIME);
    try {
      return LocalDateTime.parse(text);
    } catch (DateTimeException noDate) {
      throw new InvalidValue(field, text, TIME);
    }
  }

  /** Names the schedule among those of its tier or tenant: the time at which the window opens. */
  public String id() {
    return ID.format(opensAt());
  }

  /** The first instant of the window. */
  public Instant opensAt() {
    return from.atZone(zone).toInstant();
  }

  /** The first instant after the window. */
  public Instant closesAt() {
    return to.atZone(zone).toInstant();
  }

  /**
   * Checks that an instant is in the window.
   *
   * @throws InvalidValue if none is, because the clocks skip the time in between
   */
  void checkNotEmpty() {
    checkOrder(opensAt().isBefore(closesAt()), from, to);
  }

  /** Whether an instant is in both windows. */
  boolean overlaps(LimitSchedule other) {
    return opensAt().isBefore(other.closesAt()) && other.opensAt().isBefore(closesAt());
  }

  /** Whether only the state of the window may differ. */
  boolean hasSameTermsAs(LimitSchedule other) {
    return factor.equals(other.factor)
        && from.equals(other.from)
        && to.equals(other.to)
        && zone.equals(other.zone);
  }

  /** This schedule, with its window open if it contains an instant. */
  public LimitSchedule at(Instant now) {
    return new LimitSchedule(
        factor, from, to, zone, !now.isBefore(opensAt()) && now.isBefore(closesAt()));
  }

  /** For example {@code factor 2 from 2026-11-27T18:00 to 2026-11-28T02:00 (Europe/Berlin)}. */
  @Override
  public String toString() {
    return "factor %s from %s to %s (%s)".formatted(factor, from, to, zone);
  }
}
