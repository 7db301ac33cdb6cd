package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import java.util.Optional;

/**
 * A tier's settings of a bucket. The rates of {@code connect} and {@code message} are limits, so
 * these buckets have a capacity here only.
 *
 * @param rate the rate; empty for {@code connect} and {@code message}
 * @param capacity the capacity; empty for one minute's tokens
 */
public record BucketTerms(Optional<Rate> rate, Optional<Long> capacity) {
  /**
   * Checks the capacity.
   *
   * @throws InvalidValue if it is out of range
   */
  public BucketTerms {
    if (capacity.isPresent()) {
      InvalidValue.inRange("capacity", capacity.get(), 1, BucketSpec.MAX_CAPACITY);
    }
  }

  /** The bucket with these settings, at its own rate or else at the rate of the limit. */
  BucketSpec with(Rate limit, FillPolicy filling, boolean line) {
    Rate fill = rate.orElse(limit);
    return new BucketSpec(fill, capacity.orElseGet(fill::ceiling), filling, line);
  }
}
