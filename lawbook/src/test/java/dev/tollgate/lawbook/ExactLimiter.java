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

/** The reference: buckets that reckon at each claim, in whole numbers, and break no law. */
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

  /** A bucket; a planted fault overrides it. */
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
    return Optional.of(of(tenant).books());
  }

  @Override
  public long cost(String tenant) {
    return of(tenant).claims;
  }

  /** One bucket: whole tokens, and a fraction of the next, in units of which a token has many. */
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
    private Instant reckoned;

    Bucket(Setting setting, Terms terms) {
      this.setting = setting;
      this.terms = terms;
      this.held = terms.capacity();
      this.minted = held;
      this.unit = Rate.nanos(terms.rate().per());
      this.reckoned = setting.now();
    }

    Instant now() {
      return setting.now();
    }

    void reckon() {
      BigInteger came = Rate.nanos(Duration.between(reckoned, now())).multiply(perNano());
      reckoned = now();
      BigInteger[] parts = fraction.add(came).divideAndRemainder(unit);
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
      return inFlight.stream().mapToLong(Held::tokens).sum();
    }

    /** A token that comes back to a bucket that is full by then is gone, and a surplus is, too. */
    private void overflow() {
      long most = Math.max(0, terms.capacity() - inFlight());
      if (held >= most) {
        expired += held - most;
        held = most;
        fraction = BigInteger.ZERO;
      }
    }

    final Claim claim() {
      return claim(1);
    }

    Claim claim(long tokens) {
      reckon();
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
      reckon();
      if (!inFlight.remove(lease)) {
        return Lease.Spending.REFUSED;
      }
      spent += lease.tokens();
      return Lease.Spending.SPENT;
    }

    void giveBack(Held lease) {
      reckon();
      if (inFlight.remove(lease)) {
        held += lease.tokens();
        overflow();
      }
    }

    void retune(Terms next) {
      reckon();
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

    TokenCounts books() {
      reckon();
      return new TokenCounts(minted, spent, expired, held, inFlight());
    }
  }

  /** Tokens that are held. */
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
