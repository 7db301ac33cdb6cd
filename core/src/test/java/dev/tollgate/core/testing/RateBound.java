package dev.tollgate.core.testing;

import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Rate;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;

/**
 * Checks that in any window of w minutes at most {@code capacity + rate × w + one minute's tokens}
 * are spent. Computed with an ideal bucket of that size, in exact arithmetic.
 */
public final class RateBound {
  private static final BigDecimal MINUTE = BigDecimal.valueOf(60_000);

  private final BigDecimal perMillisecond;
  private final BigDecimal max;
  private BigDecimal left;
  private Instant at;

  /** Creates a bound that starts, unused, at {@code start}. */
  public RateBound(BucketSpec spec, Instant start) {
    Rate rate = spec.rate();
    perMillisecond = rate.tokensPerMinute().divide(MINUTE, MathContext.DECIMAL128);
    max = BigDecimal.valueOf(spec.capacity()).add(rate.tokensPerMinute());
    left = max;
    at = start;
  }

  /** Records that tokens are spent at {@code now}. Returns whether that is within the bound. */
  public boolean allows(long tokens, Instant now) {
    BigDecimal accrued =
        perMillisecond.multiply(BigDecimal.valueOf(Duration.between(at, now).toMillis()));
    left = max.min(left.add(accrued)).subtract(BigDecimal.valueOf(tokens));
    at = now;
    return left.signum() >= 0;
  }

  @Override
  public String toString() {
    return left.setScale(3, RoundingMode.HALF_UP) + " left of " + max + " at " + at;
  }
}
