package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;

/**
 * What a bucket promises: how fast it fills and how much it holds; and how that is brought about.
 *
 * @param rate how fast it fills
 * @param capacity the most tokens it holds, 1 to 100,000: SQS keeps about 120,000 messages of a
 *     standard queue in flight (Amazon SQS Developer Guide, "Amazon SQS message quotas")
 * @param fillPolicy how it is filled
 */
public record BucketSpec(Rate rate, long capacity, FillPolicy fillPolicy) {
  /** The largest capacity. */
  public static final long MAX_CAPACITY = 100_000;

  /**
   * Checks the capacity, and that the bucket can be filled so.
   *
   * @throws InvalidValue if the capacity is out of range, or {@link FillMode#DIRECT} cannot bring
   *     the rate or hold the capacity
   */
  public BucketSpec {
    InvalidValue.inRange("capacity", capacity, 1, MAX_CAPACITY);
    if (fillPolicy.mode() == FillMode.DIRECT) {
      DirectFill.check(rate, capacity);
    }
  }

  /** A bucket that is filled as is usual. */
  public BucketSpec(Rate rate, long capacity) {
    this(rate, capacity, FillPolicy.DEFAULT);
  }

  /** A bucket that holds what one minute brings, rounded up, and is filled as is usual. */
  public static BucketSpec ofRate(Rate rate) {
    return new BucketSpec(rate, rate.ceiling());
  }
}
