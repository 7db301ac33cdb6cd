package dev.tollgate.league.adapters;

import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Terms;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Random;

/**
 * A token bucket in a DynamoDB item, which is read and then written by a conditional {@code
 * UpdateItem}, after the package ddb-token-bucket ({@code token-bucket.ts}). The table is
 * simulated; it deletes an expired item at once, the earliest that DynamoDB may.
 */
public final class ExpiringItem implements Bucket {
  private final double perSecond;
  private final long capacity;
  private final long lifetime;
  private final InstantSource clock;
  private Optional<Item> item = Optional.empty();

  private record Item(double tokens, long filledAt, long expiresAt) {}

  private ExpiringItem(Terms terms, InstantSource clock, long lifetime) {
    this.perSecond = terms.rate().tokens() * 1e9 / terms.rate().per().toNanos();
    this.capacity = terms.capacity();
    this.lifetime = lifetime;
    this.clock = clock;
  }

  /**
   * Promises a bucket on a clock of milliseconds (lateness). README, How It Works: "Tokens are
   * automatically refilled at the specified refillRate (tokens per second)". Also: it uses "the
   * TtlTimestamp attribute to expire token buckets after they have been unchanged for 100 seconds
   * or more". Rounding may admit a fraction of a token more (slack).
   */
  public static Limiter.Maker maker() {
    return Bucket.maker(ExpiringItem::terms, (terms, clock) -> new ExpiringItem(terms, clock, 100));
  }

  /** The same without an expiry: what {@link #maker} would be if its items lived long enough. */
  public static Limiter.Maker withoutExpiry() {
    return Bucket.maker(
        ExpiringItem::terms, (terms, clock) -> new ExpiringItem(terms, clock, 1_000_000_000));
  }

  private static Terms terms(Random random) {
    Terms any = Terms.any(random);
    Rate rate = any.rate();
    return new Terms(rate, any.capacity(), 1, Duration.ofMillis(2));
  }

  @Override
  public Optional<Claim> claim(long tokens) {
    if (tokens > 1) {
      return Optional.empty();
    }
    long now = clock.millis();
    Item read =
        item.filter(any -> any.expiresAt() > now / 1_000).orElse(new Item(capacity, now, 0));
    double filled =
        Math.min(capacity, read.tokens() + (now - read.filledAt()) / 1_000.0 * perSecond);
    if (filled < 1) {
      return Bucket.answer(false);
    }
    item = Optional.of(new Item(filled - 1, now, now / 1_000 + lifetime));
    return Bucket.answer(true);
  }
}
