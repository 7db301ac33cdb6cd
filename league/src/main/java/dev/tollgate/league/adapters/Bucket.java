package dev.tollgate.league.adapters;

import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Setting;
import dev.tollgate.lawbook.Terms;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.function.Function;

/** One tenant's bucket, as an adapter presents it to the law book. */
interface Bucket {
  /**
   * Claims tokens.
   *
   * @return empty if this limiter promises nothing about claims for several tokens
   */
  Optional<Claim> claim(long tokens);

  /**
   * Changes the terms.
   *
   * @return false if this limiter cannot change terms
   */
  default boolean retune(Terms terms) {
    return false;
  }

  /** An answer to a claim for one token of a limiter that states a retry time. */
  static Optional<Claim> answer(boolean admitted, Duration retryAfter) {
    return Optional.of(admitted ? Claim.admitted() : Claim.refused(retryAfter));
  }

  /** An answer of a limiter that states no retry time. The law about it is not applied then. */
  static Optional<Claim> answer(boolean admitted) {
    return answer(admitted, Duration.ZERO);
  }

  /** Nanoseconds since the start of a history. */
  static long nanos(InstantSource clock) {
    return Duration.between(Setting.START, clock.instant()).toNanos();
  }

  /** The start of the current window, counted from the epoch. */
  static Instant window(Instant now, Duration unit) {
    long millis = unit.toMillis();
    return Instant.ofEpochMilli(now.toEpochMilli() / millis * millis);
  }

  /** Makes limiters that keep one bucket per tenant. */
  static Limiter.Maker maker(
      Function<Random, Terms> promised, BiFunction<Terms, InstantSource, Bucket> opened) {
    return new Limiter.Maker() {
      @Override
      public Limiter make(Setting setting) {
        return new Buckets(terms -> opened.apply(terms, setting.clock()));
      }

      @Override
      public Terms terms(Random random) {
        return promised.apply(random);
      }
    };
  }

  /** The buckets of all tenants. */
  final class Buckets implements Limiter {
    private final Function<Terms, Bucket> opened;
    private final Map<String, Bucket> buckets = new HashMap<>();

    Buckets(Function<Terms, Bucket> opened) {
      this.opened = opened;
    }

    private Bucket bucket(String tenant) {
      return Objects.requireNonNull(buckets.get(tenant), tenant);
    }

    @Override
    public void open(String tenant, Terms terms) {
      buckets.put(tenant, opened.apply(terms));
    }

    @Override
    public Claim claim(String tenant) {
      return bucket(tenant).claim(1).orElseThrow();
    }

    @Override
    public Optional<Claim> claim(String tenant, long tokens) {
      return bucket(tenant).claim(tokens);
    }

    @Override
    public boolean retune(String tenant, Terms terms) {
      return bucket(tenant).retune(terms);
    }
  }
}
