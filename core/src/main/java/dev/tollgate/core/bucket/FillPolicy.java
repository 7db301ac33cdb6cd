package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;

/**
 * What fills a bucket, and when it hibernates.
 *
 * @param mode what fills it
 * @param hibernateAfterMinutes minutes that it must stay full before it hibernates, until the next
 *     claim wakes it; 0 for never, at most 10,080 (a week)
 */
public record FillPolicy(FillMode mode, long hibernateAfterMinutes) {
  /** The largest {@code hibernateAfterMinutes}: a week. */
  public static final long MAX_MINUTES = 10_080;

  /** The fill policy of tiers that specify none. */
  public static final FillPolicy DEFAULT = new FillPolicy(FillMode.PRODUCER, 15);

  /**
   * Checks the minutes.
   *
   * @throws InvalidValue if they are out of range
   */
  public FillPolicy {
    InvalidValue.inRange("hibernateAfterMinutes", hibernateAfterMinutes, 0, MAX_MINUTES);
  }

  /** Whether the bucket ever hibernates. */
  boolean mayHibernate() {
    return hibernateAfterMinutes > 0;
  }
}
