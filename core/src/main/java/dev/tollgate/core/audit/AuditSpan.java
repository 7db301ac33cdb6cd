package dev.tollgate.core.audit;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;

/**
 * The time from an instant up to another.
 *
 * @param from the first instant
 * @param to the end, which is not included; after {@code from}, and at most {@link AuditLog#KEPT}
 *     later
 */
public record AuditSpan(Instant from, Instant to) {
  private static final Instant FIRST = Instant.parse("1970-01-01T00:00:00Z");
  private static final Instant LAST = Instant.parse("9999-01-01T00:00:00Z");

  /**
   * Checks both ends.
   *
   * @throws InvalidValue if the time is empty or too long, or an end is not between 1970 and 9999
   */
  public AuditSpan {
    check("from", from);
    check("to", to);
    InvalidValue.unless(from.isBefore(to), "to", to, "an instant after from, " + from);
    InvalidValue.unless(
        Duration.between(from, to).compareTo(AuditLog.KEPT) <= 0,
        "from",
        from,
        "at most " + AuditLog.KEPT.toDays() + " days before to, " + to);
  }

  /**
   * The time before an instant.
   *
   * @throws InvalidValue as the constructor
   */
  public static AuditSpan before(Instant to, Duration time) {
    check("to", to);
    return new AuditSpan(to.minus(time), to);
  }

  private static void check(String field, Instant instant) {
    InvalidValue.unless(
        !instant.isBefore(FIRST) && instant.isBefore(LAST),
        field,
        instant,
        "an instant from 1970 on and before 9999");
  }
}
