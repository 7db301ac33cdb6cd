package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Refill;
import java.util.Optional;

/**
 * A tier's settings of a bucket. The rates of {@code connect} and {@code message} are limits, so
 * these buckets have a capacity here only.
 *
 * @param refill the rate or the calendar; empty for {@code connect} and {@code message}
 * @param capacity the capacity; empty for one minute's tokens
 */
public record BucketTerms(Optional<Refill> refill, Optional<Long> capacity) {
  /**
   * Checks the capacity.
   *
   * @throws InvalidValue if it is out of range, or missing for a calendar
   */
  public BucketTerms {
    if (capacity.isPresent()) {
      InvalidValue.inRange("capacity", capacity.get(), 1, BucketSpec.MAX_CAPACITY);
    }
    InvalidValue.unless(
        capacity.isPresent() || refill.filter(Calendar.class::isInstance).isEmpty(),
        "capacity",
        "missing",
        "the number of tokens in a period, 1 to " + BucketSpec.MAX_CAPACITY);
  }

  /** These settings with a multiplied rate and capacity. The instants of a calendar stay. */
  BucketTerms times(Factor factor) {
    return factor.equals(Factor.ONE)
        ? this
        : new BucketTerms(refill.map(factor::times), capacity.map(factor::times));
  }

  /** The bucket with these settings. */
  BucketSpec with(Refill fill, FillPolicy filling, boolean line) {
    return new BucketSpec(fill, capacity.orElseGet(() -> fill.average(1).ceiling()), filling, line);
  }
}
