package dev.tollgate.core.history;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;

/**
 * Whole minutes from an instant up to another.
 *
 * @param from the beginning of the first minute
 * @param to the end of the last minute
 */
public record Span(Instant from, Instant to) {
  /** The longest one. */
  public static final Duration LONGEST = Hours.KEPT;

  /**
   * Checks both ends.
   *
   * @throws InvalidValue if one is within a minute, or the time is empty or longer than {@link
   *     #LONGEST}
   */
  public Span {
    InvalidValue.unless(isMinute(from), "from", from, "a full minute");
    InvalidValue.unless(isMinute(to), "to", to, "a full minute");
    InvalidValue.unless(from.isBefore(to), "to", to, "an instant after from, " + from);
    InvalidValue.unless(
        !from.plus(LONGEST).isBefore(to), "from", from, "at most 400 days before to, " + to);
  }

  /**
   * The last minutes before an instant.
   *
   * @param window 1 to 15 minutes
   * @throws InvalidValue if it is longer, or {@code to} is within a minute
   */
  public static Span lately(Instant to, Duration window) {
    InvalidValue.inRange("window", window.toMinutes(), 1, 15);
    return new Span(to.minus(window), to);
  }

  private static boolean isMinute(Instant instant) {
    return instant.getNano() == 0 && instant.getEpochSecond() % 60 == 0;
  }
}
