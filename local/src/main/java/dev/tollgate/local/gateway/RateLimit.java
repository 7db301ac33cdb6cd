package dev.tollgate.local.gateway;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * A limit of throttling.
 *
 * @param perThousandSeconds the rate, in requests per 1,000 s
 * @param burst the capacity of the token bucket, in requests, up to a million
 */
public record RateLimit(long perThousandSeconds, int burst) {
  /** The default quota of an account in a Region ("Amazon API Gateway quotas"). */
  public static final RateLimit OF_ACCOUNTS = of(new BigDecimal(10_000), 5_000);

  /** New connections of an account in a Region ("Quotas for running a WebSocket API"). */
  static final RateLimit OF_NEW_CONNECTIONS = of(new BigDecimal(500), 500);

  /** Refuses values out of range. */
  public RateLimit {
    if (perThousandSeconds < 0 || burst < 0 || burst > 1_000_000) {
      throw new IllegalArgumentException(
          "%d per 1,000 s, burst %d (expected: >= 0, 0 to 1000000)"
              .formatted(perThousandSeconds, burst));
    }
  }

  /** A limit of requests per second, which is rounded down to whole requests per 1,000 s. */
  public static RateLimit of(BigDecimal perSecond, int burst) {
    return new RateLimit(
        perSecond.movePointRight(3).setScale(0, RoundingMode.DOWN).longValueExact(), burst);
  }
}
