package dev.tollgate.league.adapters;

import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Terms;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Random;

/** The times of all admissions in the last period, as a sorted set in Redis keeps them. */
public final class SlidingLog implements Bucket {
  private final Terms terms;
  private final InstantSource clock;
  private final Deque<Instant> log = new ArrayDeque<>();

  private SlidingLog(Terms terms, InstantSource clock) {
    this.terms = terms;
    this.clock = clock;
  }

  /**
   * Promises at most the limit in any period, which is never more than a bucket admits. After a
   * burst nothing is admitted for a period (lateness). No source: this is the algorithm itself.
   */
  public static Limiter.Maker maker() {
    return Bucket.maker(SlidingLog::terms, SlidingLog::new);
  }

  private static Terms terms(Random random) {
    Duration period = Duration.ofSeconds(1L + random.nextInt(60));
    long limit = 1L + random.nextInt(20);
    return new Terms(new Rate(limit, period), limit, 0, period);
  }

  @Override
  public Optional<Claim> claim(long tokens) {
    Instant now = clock.instant();
    Duration period = terms.rate().per();
    log.removeIf(at -> !at.plus(period).isAfter(now));
    long missing = log.size() + tokens - terms.capacity();
    if (missing > 0) {
      Instant last = log.stream().skip(missing - 1).findFirst().orElseThrow();
      return Bucket.answer(false, Duration.between(now, last.plus(period)));
    }
    for (long i = 0; i < tokens; i++) {
      log.add(now);
    }
    return Bucket.answer(true);
  }
}
