package dev.tollgate.core.session;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A rate limit by the generic cell rate algorithm (GCRA), in the form of a virtual schedule (ITU-T
 * I.371, annex A). Its state is one instant.
 *
 * <p>The state is the theoretical arrival time: the time of the next use if all uses came evenly,
 * one interval apart. A use that is earlier than that by more than the tolerance does not conform
 * and does not change the state. With an interval of a minute ÷ n and a tolerance of n − 1
 * intervals, n uses conform at once, and never more than n + n × minutes. The interval is rounded
 * up to a nanosecond, so that the rate is never exceeded.
 *
 * @param interval the time between two uses that come evenly
 * @param tolerance how much earlier than the theoretical arrival time a use may come
 */
public record Gcra(Duration interval, Duration tolerance) {
  private static final long MINUTE_NANOS = 60_000_000_000L;

  /** No limit: every use conforms, and none changes what another rate allows. */
  public static final Gcra UNLIMITED = new Gcra(Duration.ZERO, Duration.ofDays(1));

  /**
   * A limit of n uses a minute, n at once.
   *
   * @param n 1 to 600,000
   * @throws InvalidValue if n is out of range
   */
  public static Gcra perMinute(long n) {
    InvalidValue.inRange("n", n, 1, 600_000);
    Duration interval = Duration.ofNanos(-Math.floorDiv(-MINUTE_NANOS, n));
    return new Gcra(interval, interval.multipliedBy(n - 1));
  }

  /** Whether a use at {@code now} conforms. */
  public boolean conforms(Optional<Instant> arrival, Instant now) {
    return !conformsAt(arrival, now).isAfter(now);
  }

  /** The earliest instant, {@code now} or later, at which a use conforms. */
  public Instant conformsAt(Optional<Instant> arrival, Instant now) {
    Instant earliest = arrival.orElse(now).minus(tolerance);
    return earliest.isAfter(now) ? earliest : now;
  }

  /** The state after a use at {@code now} that conforms. */
  public Instant after(Optional<Instant> arrival, Instant now) {
    Instant due = arrival.orElse(now);
    return (due.isAfter(now) ? due : now).plus(interval);
  }

  /** How many uses conform at {@code now}, if they come at once. */
  public long remaining(Optional<Instant> arrival, Instant now) {
    Instant due = arrival.orElse(now);
    Duration ahead = due.isAfter(now) ? Duration.between(now, due) : Duration.ZERO;
    Duration spare = tolerance.minus(ahead);
    return spare.isNegative() ? 0 : spare.dividedBy(interval) + 1;
  }
}
