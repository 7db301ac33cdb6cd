package dev.tollgate.league.adapters;

import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Terms;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Random;

/**
 * The token bucket of Spring Cloud Gateway's {@code RedisRateLimiter}, after its script ({@code
 * request_rate_limiter.lua}), with Redis' clock and expiry.
 */
public final class GatewayScript implements Bucket {
  private final long rate;
  private final long capacity;
  private final InstantSource clock;
  private long tokens;
  private long refreshed;
  private Instant expires = Instant.MIN;

  private GatewayScript(Terms terms, InstantSource clock) {
    this.rate = terms.rate().tokens();
    this.capacity = terms.capacity();
    this.clock = clock;
  }

  /**
   * Promises a bucket on a clock of whole seconds. Reference, RequestRateLimiter: "The {@code
   * redis-rate-limiter.burstCapacity} property is the maximum number of requests a user is allowed
   * in a single second (without any dropped requests)", and the script reads the seconds of {@code
   * TIME} alone. Around the end of a second another second's tokens come at once (slack), and a
   * token may come a second late (lateness). "A steady rate is accomplished by setting the same
   * value in replenishRate and burstCapacity. Temporary bursts can be allowed by setting
   * burstCapacity higher than replenishRate": no other setting is drawn.
   */
  public static Limiter.Maker maker() {
    return Bucket.maker(GatewayScript::terms, GatewayScript::new);
  }

  private static Terms terms(Random random) {
    long rate = 1L + random.nextInt(10);
    Duration second = Duration.ofSeconds(1);
    return new Terms(new Rate(rate, second), rate * (1 + random.nextInt(5)), rate, second);
  }

  @Override
  public Optional<Claim> claim(long requested) {
    boolean isNew = !clock.instant().isBefore(expires);
    long now = clock.instant().getEpochSecond();
    long last = isNew ? capacity : tokens;
    long filled = Math.min(capacity, last + Math.max(0, now - (isNew ? 0 : refreshed)) * rate);
    boolean allowed = filled >= requested;
    long ttl = capacity * 2 / rate;
    if (ttl > 0) {
      tokens = allowed ? filled - requested : filled;
      refreshed = now;
      expires = clock.instant().plusSeconds(ttl);
    }
    return Bucket.answer(allowed);
  }
}
