package dev.tollgate.lawbook;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
  public boolean retune(String tenant, Terms terms) {
    of(tenant).retune(terms);
    return true;
  }

  @Override
  public Optional<Books> books(String tenant) {
    return Optional.of(of(tenant).books());
  }

  @Override
  public long cost(String tenant) {
    return of(tenant).claims;
  }

  /** One bucket: whole tokens, and a fraction of the next in units that {@code per} has. */
  static class Bucket {
    final Setting setting;
    Terms terms;
    long held;
    long minted;
    long spent;
    long expired;
    long claims;
    BigInteger fraction = BigInteger.ZERO;
    final List<Held> inFlight = new ArrayList<>();
    private Instant reckoned;

    Bucket(Setting setting, Terms terms) {
      this.setting = setting;
      this.terms = terms;
      this.held = terms.capacity();
      this.minted = held;
      this.reckoned = setting.now();
    }

    Instant now() {
      return setting.now();
    }

    BigInteger unit() {
      return Rate.nanos(terms.rate().per());
    }

    void reckon() {
      BigInteger came =
          Rate.nanos(Duration.between(reckoned, now()))
              .multiply(BigInteger.valueOf(terms.rate().tokens()));
      reckoned = now();
      BigInteger[] parts = fraction.add(came).divideAndRemainder(unit());
      long room = Math.max(0, terms.capacity() - held - inFlight.size());
      boolean overflows = parts[0].compareTo(BigInteger.valueOf(room)) >= 0;
      long fresh = overflows ? room : parts[0].longValueExact();
      fraction = overflows ? BigInteger.ZERO : parts[1];
      held += fresh;
      minted += fresh;
      int before = inFlight.size();
      inFlight.removeIf(lease -> !now().isBefore(lease.endsAt()));
      held += before - inFlight.size();
      overflow();
    }

    /** A token that comes back to a bucket that is full by then is gone, and a surplus is, too. */
    private void overflow() {
      long most = Math.max(0, terms.capacity() - inFlight.size());
      if (held >= most) {
        expired += held - most;
        held = most;
        fraction = BigInteger.ZERO;
      }
    }

    Claim claim() {
      reckon();
      claims++;
      if (held == 0) {
        return refused();
      }
      held--;
      Held lease = new Held(this, now().plus(LEASE));
      inFlight.add(lease);
      return Claim.admitted(lease);
    }

    Claim refused() {
      return Claim.refused(untilNext());
    }

    Duration untilNext() {
      BigInteger missing = unit().subtract(fraction);
      BigInteger[] parts = missing.divideAndRemainder(BigInteger.valueOf(terms.rate().tokens()));
      return Duration.ofNanos(parts[0].longValueExact() + (parts[1].signum() == 0 ? 0 : 1));
    }

    Lease.Spending spend(Held lease) {
      reckon();
      if (!inFlight.remove(lease)) {
        return Lease.Spending.REFUSED;
      }
      spent++;
      return Lease.Spending.SPENT;
    }

    void giveBack(Held lease) {
      reckon();
      if (inFlight.remove(lease)) {
        held++;
        overflow();
      }
    }

    void retune(Terms next) {
      reckon();
      BigInteger before = unit();
      terms = next;
      fraction = fraction.multiply(unit()).divide(before);
      overflow();
    }

    Books books() {
      reckon();
      return new Books(minted, spent, expired, held, inFlight.size());
    }
  }

  /** A token that is held. */
  static final class Held implements Lease {
    private final Bucket bucket;
    private final Instant endsAt;

    Held(Bucket bucket, Instant endsAt) {
      this.bucket = bucket;
      this.endsAt = endsAt;
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
