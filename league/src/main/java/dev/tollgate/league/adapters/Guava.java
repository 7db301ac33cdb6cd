package dev.tollgate.league.adapters;

import com.google.common.util.concurrent.ClockedRateLimiter;
import com.google.common.util.concurrent.RateLimiter;
import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Terms;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Guava's {@code RateLimiter}, asked with {@code tryAcquire}. */
public final class Guava implements Bucket {
  /** A new RateLimiter has no stored permits. After a second without claims it is full. */
  private static final long IDLE = TimeUnit.SECONDS.toMicros(1);

  private final RateLimiter limiter;
  private boolean made;

  private Guava(Terms terms, InstantSource clock) {
    long start = Bucket.nanos(clock) / 1_000;
    limiter =
        ClockedRateLimiter.create(
            terms.capacity(), () -> Bucket.nanos(clock) / 1_000 - start + (made ? IDLE : 0));
    made = true;
  }

  /**
   * Promises the rate, and bursts. Javadoc of {@code RateLimiter.create(double)}: "When the rate
   * limiter is unused, bursts of up to permitsPerSecond permits will be allowed". One more permit
   * comes at once (slack), because the Javadoc of the class says that the number of permits
   * requested "affects the throttling of the next request": a request pays for itself only by the
   * wait of the next. So claims for several permits are not all or none by design. The clock counts
   * microseconds (lateness).
   */
  public static Limiter.Maker maker() {
    return Bucket.maker(Guava::terms, Guava::new);
  }

  private static Terms terms(Random random) {
    long permits = 1L + random.nextInt(20);
    Rate rate = new Rate(permits, Duration.ofSeconds(1));
    return new Terms(rate, permits, 1, Duration.ofNanos(2_000));
  }

  @Override
  public Optional<Claim> claim(long tokens) {
    return tokens > 1 ? Optional.empty() : Bucket.answer(limiter.tryAcquire());
  }
}
