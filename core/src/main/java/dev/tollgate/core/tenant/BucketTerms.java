package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import java.util.Optional;

/**
 * What a tier says of a bucket. The rates of {@code connect} and {@code message} are limits, so for
 * these only a capacity can be said.
 *
 * @param rate how fast it fills; empty for {@code connect} and {@code message}
 * @param capacity the most it holds; empty for what a minute brings
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

  /** The bucket that these terms make with the rate of a limit, or with their own. */
  BucketSpec with(Rate limit, FillPolicy filling) {
    Rate fill = rate.orElse(limit);
    return new BucketSpec(fill, capacity.orElseGet(fill::ceiling), filling);
  }
}
