package dev.tollgate.league.adapters;

import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Terms;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Random;

/** resilience4j's {@code AtomicRateLimiter}, which reads {@code System.nanoTime}. */
public final class Resilience4j implements Bucket {
  private static final ClassLoader CLASSES =
      new ClockedClasses("io.github.resilience4j.ratelimiter.internal.");

  private final RateLimiter limiter;
  private final InstantSource clock;

  private Resilience4j(Terms terms, InstantSource clock) {
    this.clock = clock;
    SimulatedTime.use(clock);
    RateLimiterConfig config =
        RateLimiterConfig.custom()
            .limitForPeriod(Math.toIntExact(terms.capacity()))
            .limitRefreshPeriod(terms.rate().per())
            .timeoutDuration(Duration.ZERO)
            .build();
    try {
      limiter =
          (RateLimiter)
              CLASSES
                  .loadClass("io.github.resilience4j.ratelimiter.internal.AtomicRateLimiter")
                  .getConstructor(String.class, RateLimiterConfig.class)
                  .newInstance("league", config);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Promises cycles. The reference, RateLimiter: "splits all nanoseconds from the start of epoch
   * into cycles. [...] At the start of each cycle, the RateLimiter sets the number of active
   * permissions to RateLimiterConfig.limitForPeriod." So two cycles' permissions may be taken
   * around the end of a cycle (slack), and a permission may come a cycle later than in a bucket
   * (lateness).
   */
  public static Limiter.Maker maker() {
    return Bucket.maker(Resilience4j::terms, Resilience4j::new);
  }

  private static Terms terms(Random random) {
    long limit = 1L + random.nextInt(20);
    Duration period = Duration.ofMillis(100L * (1 + random.nextInt(100)));
    return new Terms(new Rate(limit, period), limit, limit, period);
  }

  @Override
  public Optional<Claim> claim(long tokens) {
    SimulatedTime.use(clock);
    return Bucket.answer(limiter.acquirePermission(Math.toIntExact(tokens)));
  }
}
