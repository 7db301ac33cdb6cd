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

  private final boolean retunes;

  private Bucket4j(Terms terms, InstantSource clock, boolean retunes) {
    this.retunes = retunes;
    bucket =
        io.github.bucket4j.Bucket.builder()
            .addLimit(
                limit -> limit.capacity(terms.capacity()).refillGreedy(tokens(terms), per(terms)))
            .withCustomTimePrecision(new Meter(clock))
            .build();
  }

  /**
   * Promises an exact bucket. The reference for 8.7, 1.2: "Absolutely non-compromise precision -
   * Bucket4j does not operate with floats or doubles, all calculations are performed in integer
   * arithmetic". Javadoc of {@code getNanosToWaitForRefill}: "time in nanos which need to wait
   * until requested amount of tokens will be refilled".
   */
  public static Limiter.Maker maker() {
    return Bucket.maker(Terms::any, (terms, clock) -> new Bucket4j(terms, clock, false));
  }

  /**
   * The same, with {@code replaceConfiguration} and {@code AS_IS}, which "Instructs to copy
   * available tokens as is". The code carries the accrued fraction of a token over as well.
   */
  public static Limiter.Maker replacingConfigurations() {
    return Bucket.maker(Terms::any, (terms, clock) -> new Bucket4j(terms, clock, true));
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
    if (!retunes) {
      return false;
    }
    bucket.replaceConfiguration(
        BucketConfiguration.builder()
            .addLimit(
                limit -> limit.capacity(terms.capacity()).refillGreedy(tokens(terms), per(terms)))
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
