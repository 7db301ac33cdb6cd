package dev.tollgate.lawbook;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The reference: buckets that are computed at each claim in exact integer arithmetic. They break no
 * law.
 */
class ExactLimiter implements Limiter {
  private static final Duration LEASE = Duration.ofSeconds(30);

  final Setting setting;
  private final Map<String, Bucket> buckets = new HashMap<>();

  ExactLimiter(Setting setting) {
    this.setting = setting;
  }

  @Override
  public void open(String tenant, Terms terms) {
    buckets.put(tenant, bucket(terms));
  }

  /** Makes a bucket. Planted faults override this method. */
  Bucket bucket(Terms terms) {
    return new Bucket(setting, terms);
  }

  Bucket of(String tenant) {
    return Optional.ofNullable(buckets.get(tenant)).orElseThrow();
  }

  @Override
  public Claim claim(String tenant) {
    return of(tenant).claim();
  }

  @Override
  public Optional<Claim> claim(String tenant, long tokens) {
    return Optional.of(of(tenant).claim(tokens));
  }

  @Override
  public Optional<List<Claim>> claimTogether(String tenant, int callers, long tokens) {
    return Optional.of(Stream.generate(() -> of(tenant).claim(tokens)).limit(callers).toList());
  }

  @Override
  public boolean retune(String tenant, Terms terms) {
    of(tenant).retune(terms);
    return true;
  }

  @Override
  public Optional<TokenCounts> tokenCounts(String tenant) {
    return Optional.of(of(tenant).counts());
  }

  @Override
  public long cost(String tenant) {
    return of(tenant).claims;
  }

  /**
   * A bucket: whole tokens, and the accrued fraction of the next token in units of {@code 1 /
   * unit}.
   */
  static class Bucket {
    final Setting setting;
    Terms terms;
    long held;
    long minted;
    long spent;
    long expired;
    long claims;
    BigInteger fraction = BigInteger.ZERO;
    private BigInteger unit;
    final List<Held> inFlight = new ArrayList<>();
    private Instant updatedAt;

    Bucket(Setting setting, Terms terms) {
      this.setting = setting;
      this.terms = terms;
      this.held = terms.capacity();
      this.minted = held;
      this.unit = Rate.nanos(terms.rate().per());
      this.updatedAt = setting.now();
    }

    Instant now() {
      return setting.now();
    }

    void update() {
      BigInteger accrued = Rate.nanos(Duration.between(updatedAt, now())).multiply(perNano());
      updatedAt = now();
      BigInteger[] parts = fraction.add(accrued).divideAndRemainder(unit);
      long room = Math.max(0, terms.capacity() - held - inFlight());
      boolean overflows = parts[0].compareTo(BigInteger.valueOf(room)) >= 0;
      long fresh = overflows ? room : parts[0].longValueExact();
      fraction = overflows ? BigInteger.ZERO : parts[1];
      held += fresh;
      minted += fresh;
      long before = inFlight();
      inFlight.removeIf(lease -> !now().isBefore(lease.endsAt()));
      held += before - inFlight();
      overflow();
    }

    long inFlight() {
      long tokens = 0;
      for (Held lease : inFlight) {
        tokens += lease.tokens();
      }
      return tokens;
    }

    /**
     * Expires tokens beyond the capacity: those returned to a full bucket, and a surplus after a
     * retune.
     */
    private void overflow() {
      long max = Math.max(0, terms.capacity() - inFlight());
      if (held >= max) {
        expired += held - max;
        held = max;
        fraction = BigInteger.ZERO;
      }
    }

    final Claim claim() {
      return claim(1);
    }

    Claim claim(long tokens) {
      update();
      claims++;
      if (held < tokens) {
        return refused(tokens - held);
      }
      held -= tokens;
      Held lease = new Held(this, now().plus(LEASE), tokens);
      inFlight.add(lease);
      return Claim.admitted(lease);
    }

    Claim refused(long missing) {
      return Claim.refused(untilNext(missing));
    }

    Duration untilNext(long tokens) {
      BigInteger missing = unit.multiply(BigInteger.valueOf(tokens)).subtract(fraction);
      BigInteger[] parts = missing.divideAndRemainder(perNano());
      return Duration.ofNanos(parts[0].longValueExact() + (parts[1].signum() == 0 ? 0 : 1));
    }

    Lease.Spending spend(Held lease) {
      update();
      if (!inFlight.remove(lease)) {
        return Lease.Spending.REFUSED;
      }
      spent += lease.tokens();
      return Lease.Spending.SPENT;
    }

    void giveBack(Held lease) {
      update();
      if (inFlight.remove(lease)) {
        held += lease.tokens();
        overflow();
      }
    }

    void retune(Terms next) {
      update();
      terms = next;
      BigInteger per = Rate.nanos(next.rate().per());
      BigInteger factor = per.divide(per.gcd(unit));
      unit = unit.multiply(factor);
      fraction = fraction.multiply(factor);
      overflow();
    }

    private BigInteger perNano() {
      return unit.divide(Rate.nanos(terms.rate().per()))
          .multiply(BigInteger.valueOf(terms.rate().tokens()));
    }

    TokenCounts counts() {
      update();
      return new TokenCounts(minted, spent, expired, held, inFlight());
    }
  }

  /** A lease of a bucket's tokens. */
  static final class Held implements Lease {
    private final Bucket bucket;
    private final Instant endsAt;
    private final long tokens;

    Held(Bucket bucket, Instant endsAt, long tokens) {
      this.bucket = bucket;
      this.endsAt = endsAt;
      this.tokens = tokens;
    }

    @Override
    public long tokens() {
      return tokens;
    }

    @Override
    public Instant endsAt() {
      return endsAt;
    }

    @Override
    public Spending spend() {
      return bucket.spend(this);
    }

    @Override
    public void giveBack() {
      bucket.giveBack(this);
    }
  }
}
