package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;

/**
 * How a bucket is filled, and when that stops.
 *
 * @param mode what fills it
 * @param hibernateAfterMinutes for how long it must have stayed full until its filling stops, which
 *     the next claim starts again; 0 if it never stops, at most 10,080, a week
 */
public record FillPolicy(FillMode mode, long hibernateAfterMinutes) {
  /** The longest that a bucket may have to stay full, in minutes: a week. */
  public static final long MAX_MINUTES = 10_080;

  /** What is meant if nothing is said. */
  public static final FillPolicy DEFAULT = new FillPolicy(FillMode.PRODUCER, 15);

  /**
   * Checks the minutes.
   *
   * @throws InvalidValue if they are out of range
   */
  public FillPolicy {
    InvalidValue.inRange("hibernateAfterMinutes", hibernateAfterMinutes, 0, MAX_MINUTES);
  }

  /** Whether it ever stops. */
  boolean mayHibernate() {
    return hibernateAfterMinutes > 0;
  }
}
