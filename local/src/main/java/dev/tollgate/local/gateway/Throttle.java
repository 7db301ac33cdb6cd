package dev.tollgate.local.gateway;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * A token bucket, full at first. It is filled by the clock or in real time, whichever has moved
 * further: a test's clock may stand still while the test sends requests.
 *
 * <p>API Gateway describes its throttles as token buckets and as targets rather than ceilings
 * ("Throttle requests to your HTTP APIs", "Protect your WebSocket APIs"). This one is exact.
 */
final class Throttle {
  /** The parts of a token. Each nanosecond adds as many as the rate has requests in 1,000 s. */
  private static final long TOKEN = 1_000_000_000_000L;

  private final RateLimit limit;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private long parts;
  private Instant filledAt;
  private long filledAtNanos;

  Throttle(RateLimit limit, InstantSource clock, LongSupplier nanoTime) {
    this.limit = limit;
    this.clock = clock;
    this.nanoTime = nanoTime;
    parts = limit.burst() * TOKEN;
    filledAt = clock.instant();
    filledAtNanos = nanoTime.getAsLong();
  }

  /** Takes a token; false if there is none, so that the request is throttled. */
  synchronized boolean admits() {
    fill();
    if (parts < TOKEN) {
      return false;
    }
    parts -= TOKEN;
    return true;
  }

  private void fill() {
    Instant now = clock.instant();
    long nanos = nanoTime.getAsLong();
    long elapsed =
        Math.max(Duration.between(filledAt, now).toNanos(), Math.max(nanos - filledAtNanos, 0));
    filledAt = now;
    filledAtNanos = nanos;
    long rate = limit.perThousandSeconds();
    long missing = limit.burst() * TOKEN - parts;
    parts += rate > 0 && elapsed > missing / rate ? missing : elapsed * rate;
  }
}
