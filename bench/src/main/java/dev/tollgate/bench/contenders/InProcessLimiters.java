package dev.tollgate.bench.contenders;

import com.google.common.util.concurrent.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** Limiters that know nothing of other processes, so a fleet of N admits N times as much. */
final class InProcessLimiters implements Contender {
  private final String name;
  private final Function<Purpose, Terms> terms;
  private final Function<Terms, Limiter> limiters;

  private InProcessLimiters(
      String name, Function<Purpose, Terms> terms, Function<Terms, Limiter> limiters) {
    this.name = name;
    this.terms = terms;
    this.limiters = limiters;
  }

  /** A fixed window: the capacity, anew after each period. */
  static Contender resilience4j() {
    return new InProcessLimiters(
        Contenders.RESILIENCE4J,
        Purpose::terms,
        terms -> {
          var limiter =
              io.github.resilience4j.ratelimiter.RateLimiter.of(
                  Contenders.RESILIENCE4J,
                  RateLimiterConfig.custom()
                      .limitForPeriod((int) terms.capacity())
                      .limitRefreshPeriod(
                          Duration.ofMillis((long) (60_000 * terms.capacity() / terms.perMinute())))
                      .timeoutDuration(Duration.ZERO)
                      .build());
          return limiter::acquirePermission;
        });
  }

  /**
   * Guava's limiter holds the tokens of one second, is empty when it is created, and gives one
   * token on credit. So its rate decides its capacity.
   */
  static Contender guava() {
    return new InProcessLimiters(
        Contenders.GUAVA,
        purpose ->
            switch (purpose) {
              case PLENTY -> new Terms(1_000_000_000, 60e9);
              case EMPTY -> new Terms(1, purpose.terms().perMinute());
              case DRAINED -> new Terms(60, 60 * 60);
            },
        terms -> {
          @SuppressWarnings("UnstableApiUsage")
          RateLimiter limiter = RateLimiter.create(terms.perMinute() / 60);
          return limiter::tryAcquire;
        });
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public boolean isInProcess() {
    return true;
  }

  @Override
  public Terms terms(Purpose purpose) {
    return terms.apply(purpose);
  }

  @Override
  public long slack(Purpose purpose) {
    return name.equals(Contenders.GUAVA) ? 1 : 0;
  }

  @Override
  public List<Limiter> open(Purpose purpose, int keys) {
    return Stream.generate(() -> limiters.apply(terms(purpose))).limit(keys).toList();
  }

  @Override
  public void close() {
    // Nothing is open.
  }
}
