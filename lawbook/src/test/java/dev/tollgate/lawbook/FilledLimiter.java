package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * A second reference: buckets that are filled once a minute, by an event that may be delivered
 * twice. The second delivery has no effect.
 */
class FilledLimiter implements Limiter {
  private final Setting setting;
  private final Random faults;
  private final Map<String, Bucket> buckets = new HashMap<>();
  private Instant nextFill = Setting.START.plus(1, ChronoUnit.MINUTES);

  FilledLimiter(Setting setting) {
    this.setting = setting;
    this.faults = new Random(setting.seed());
  }

  /** Draws whole rates a minute, with a slack of one fill. */
  static Terms terms(Random random) {
    long rate = 1L + random.nextInt(20);
    return new Terms(Rate.perMinute(rate), 1 + random.nextInt(30), rate, Duration.ofMinutes(1));
  }

  /** A tenant's bucket. */
  static final class Bucket {
    Terms terms;
    long held;
    Instant filledThrough;

    Bucket(Terms terms, Instant now) {
      this.terms = terms;
      this.held = terms.capacity();
      this.filledThrough = now;
    }
  }

  @Override
  public void open(String tenant, Terms terms) {
    buckets.put(tenant, new Bucket(terms, setting.now()));
  }

  @Override
  public Optional<Instant> nextTimer() {
    return Optional.of(nextFill);
  }

  @Override
  public void passedTo(Instant now) {
    if (now.isBefore(nextFill)) {
      return;
    }
    int deliveries = faults.nextInt(3) == 0 ? 2 : 1;
    for (int i = 0; i < deliveries; i++) {
      buckets.values().forEach(bucket -> fill(bucket, nextFill));
    }
    nextFill = nextFill.plus(1, ChronoUnit.MINUTES);
  }

  void fill(Bucket bucket, Instant through) {
    if (through.isAfter(bucket.filledThrough)) {
      mint(bucket);
      bucket.filledThrough = through;
    }
  }

  static void mint(Bucket bucket) {
    bucket.held = Math.min(bucket.terms.capacity(), bucket.held + bucket.terms.rate().tokens());
  }

  @Override
  public Claim claim(String tenant) {
    Bucket bucket = Optional.ofNullable(buckets.get(tenant)).orElseThrow();
    if (bucket.held == 0) {
      return Claim.refused(Duration.between(setting.now(), nextFill));
    }
    bucket.held--;
    return Claim.admitted();
  }

  @Override
  public boolean retune(String tenant, Terms terms) {
    return false;
  }
}
