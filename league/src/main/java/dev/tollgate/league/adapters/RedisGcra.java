package dev.tollgate.league.adapters;

import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Terms;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Random;

/**
 * GCRA in seconds as a floating-point number, after the script of redis-gcra ({@code
 * perform_gcra_ratelimit.lua}). Lua's numbers are Java's {@code double}, and Redis passes them on
 * with 17 digits.
 */
public final class RedisGcra implements Bucket {
  private final double interval;
  private final double burst;
  private final InstantSource clock;
  private double arrival;

  private RedisGcra(Terms terms, InstantSource clock) {
    this.clock = clock;
    double period = terms.rate().per().toNanos() / 1e9;
    interval = period / terms.rate().tokens();
    burst = interval * terms.capacity();
  }

  /**
   * Promises a bucket, as exact as its numbers: a {@code double} of seconds since 1970 is exact to
   * a quarter of a microsecond, and {@code TIME} counts microseconds (lateness). Rounding admits a
   * fraction of a token more (slack). README of redis-gcra: "the rate limit bucket has 1000 tokens
   * in it and recovers at speed of 100 tokens per minute", and "can retry in 1.2 seconds". The
   * adapter rounds the retry time up to milliseconds, as a caller that sleeps does.
   */
  public static Limiter.Maker maker() {
    return Bucket.maker(RedisGcra::terms, RedisGcra::new);
  }

  private static Terms terms(Random random) {
    Terms any = Terms.any(random);
    return new Terms(any.rate(), any.capacity(), 1, Duration.ofMillis(2));
  }

  @Override
  public Optional<Claim> claim(long tokens) {
    double now = clock.instant().getEpochSecond() + clock.instant().getNano() / 1_000 / 1e6;
    double next = Math.max(arrival, now) + interval * tokens;
    double early = next - burst - now;
    if (early > 0) {
      return Bucket.answer(false, Duration.ofMillis((long) Math.ceil(early * 1_000)));
    }
    arrival = next;
    return Bucket.answer(true);
  }
}
