package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;

/**
 * What a bucket promises: how fast it fills and how much it holds.
 *
 * @param rate how fast it fills
 * @param capacity the most tokens it holds, 1 to 100,000: SQS keeps about 120,000 messages of a
 *     standard queue in flight (Amazon SQS Developer Guide, "Amazon SQS message quotas")
 */
public record BucketSpec(Rate rate, long capacity) {
  /** The largest capacity. */
  public static final long MOST_CAPACITY = 100_000;

  /**
   * Checks the capacity.
   *
   * @throws InvalidValue if it is out of range
   */
  public BucketSpec {
    InvalidValue.inRange("capacity", capacity, 1, MOST_CAPACITY);
  }

  /** A bucket that holds what one minute brings, rounded up. */
  public static BucketSpec ofRate(Rate rate) {
    return new BucketSpec(rate, rate.ceiling());
  }
}
