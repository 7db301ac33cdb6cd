package dev.tollgate.league.adapters;

import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Terms;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import io.github.bucket4j.TokensInheritanceStrategy;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/** bucket4j in memory, with greedy refill and a clock in nanoseconds. */
public final class Bucket4j implements Bucket {
  private final io.github.bucket4j.Bucket bucket;

  private Bucket4j(Terms terms, InstantSource clock) {
    bucket =
        io.github.bucket4j.Bucket.builder()
            .addLimit(limit -> limit.capacity(terms.capacity()).refillGreedy(tokens(terms), per(terms)))
            .withCustomTimePrecision(new Meter(clock))
            .build();
  }

  /**
   * Promises an exact bucket. The reference for 8.7, 1.2: "Absolutely non-compromise precision -
   * Bucket4j does not operate with floats or doubles, all calculations are performed in integer
   * arithmetic".
   */
  public static Limiter.Maker maker() {
    return Bucket.maker(Terms::any, Bucket4j::new);
  }

  private static long tokens(Terms terms) {
    return terms.rate().tokens();
  }

  private static Duration per(Terms terms) {
    return terms.rate().per();
  }

  @Override
  public Optional<Claim> claim(long tokens) {
    ConsumptionProbe probe = bucket.tryConsumeAndReturnRemaining(tokens);
    return Bucket.answer(probe.isConsumed(), Duration.ofNanos(probe.getNanosToWaitForRefill()));
  }

  @Override
  public boolean retune(Terms terms) {
    bucket.replaceConfiguration(
        BucketConfiguration.builder()
            .addLimit(limit -> limit.capacity(terms.capacity()).refillGreedy(tokens(terms), per(terms)))
            .build(),
        TokensInheritanceStrategy.AS_IS);
    return true;
  }

  private record Meter(InstantSource clock) implements TimeMeter {
    @Override
    public long currentTimeNanos() {
      return Bucket.nanos(clock);
    }

    @Override
    public boolean isWallClockBased() {
      return false;
    }
  }
}
