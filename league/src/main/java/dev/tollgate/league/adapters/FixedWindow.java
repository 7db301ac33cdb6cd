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
 * A counter per window, after Envoy's rate limit service: {@code INCRBY} on a key with the start of
 * the window, then the comparison ({@code fixed_cache_impl.go}).
 */
public final class FixedWindow implements Bucket {
  private final Terms terms;
  private final InstantSource clock;
  private Instant window = Instant.MIN;
  private long count;

  private FixedWindow(Terms terms, InstantSource clock) {
    this.terms = terms;
    this.clock = clock;
  }

  /**
   * Promises a number of requests per unit. README, Rate limit definition: "{@code rate_limit:
   * unit: <see below: required>, requests_per_unit: <see below: required>}", the unit being one of
   * second, minute, hour and day. Two units' requests may be admitted around the end of a unit
   * (slack), and a request may wait for the next unit (lateness). A refused request counts as well:
   * "Rate limit requests can optionally specify the number of hits a request adds to the matched
   * limit" ({@code rls.proto}). So all or none is not promised for several hits.
   */
  public static Limiter.Maker maker() {
    return Bucket.maker(FixedWindow::terms, FixedWindow::new);
  }

  private static Terms terms(Random random) {
    Duration unit = random.nextBoolean() ? Duration.ofSeconds(1) : Duration.ofMinutes(1);
    long limit = 1L + random.nextInt(20);
    return new Terms(new Rate(limit, unit), limit, limit, unit);
  }

  @Override
  public Optional<Claim> claim(long tokens) {
    if (tokens > 1) {
      return Optional.empty();
    }
    Duration unit = terms.rate().per();
    Instant now = clock.instant();
    Instant current = Bucket.window(now, unit);
    if (!current.equals(window)) {
      window = current;
      count = 0;
    }
    count += tokens;
    return Bucket.answer(count <= terms.capacity(), Duration.between(now, current.plus(unit)));
  }
}
