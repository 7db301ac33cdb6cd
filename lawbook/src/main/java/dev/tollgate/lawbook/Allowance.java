package dev.tollgate.lawbook;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;

/**
 * The most tokens that may still be admitted: an ideal bucket in exact integer arithmetic. This
 * bucket never falls below −slack if and only if in every interval at most capacity + rate × time +
 * slack tokens are admitted.
 *
 * <p>A retune keeps the bucket's tokens up to the new capacity. Until the grain of the terms has
 * passed, a surplus may remain and tokens may accrue at the faster of the two rates.
 */
public final class Allowance {
  private Terms terms;
  private long slack;
  private Instant now;

  /** Units per token: a multiple of the period, in nanoseconds, of every rate so far. */
  private BigInteger unit;

  private BigInteger units;
  private BigInteger perNano;
  private Instant settlesAt;
  private final Queue<Surplus> surpluses =
      new PriorityQueue<>(Comparator.comparing(Surplus::until));

  /** Tokens that the bucket may hold beyond its capacity until {@code until}. */
  private record Surplus(long tokens, Instant until) {}

  /** The allowance of a bucket that is opened full at {@code now}. */
  public Allowance(Terms terms, Instant now) {
    this.terms = terms;
    this.slack = terms.slack();
    this.now = now;
    this.unit = Rate.nanos(terms.rate().per());
    this.units = unit.multiply(BigInteger.valueOf(terms.capacity()));
    this.perNano = unitsPerNano();
    this.settlesAt = now;
  }

  /** Changes the terms at {@code at}. */
  public void retune(Terms next, Instant at) {
    retune(next, at, 0, at);
  }

  /**
   * Changes the terms at {@code at}, while leases hold {@code held} tokens, which may be spent
   * until the last lease ends.
   */
  public void retune(Terms next, Instant at, long held, Instant lastEnd) {
    advance(at);
    if (held > next.capacity()) {
      surpluses.add(new Surplus(held, lastEnd));
    }
    if (terms.capacity() > next.capacity()) {
      Duration grain = max(terms.grain(), next.grain());
      surpluses.add(new Surplus(terms.capacity(), at.plus(grain)));
    }
    BigInteger per = Rate.nanos(next.rate().per());
    BigInteger factor = per.divide(per.gcd(unit));
    unit = unit.multiply(factor);
    units = units.multiply(factor);
    BigInteger before = perNano.multiply(factor);
    settlesAt = at.plus(max(terms.grain(), next.grain()));
    terms = next;
    perNano = settlesAt.isAfter(at) ? before.max(unitsPerNano()) : unitsPerNano();
    slack = Math.max(slack, next.slack());
    cap();
  }

  /** Records that this many tokens were spent at {@code at}. */
  public void spend(long tokens, Instant at) {
    advance(at);
    units = units.subtract(unit.multiply(BigInteger.valueOf(tokens)));
  }

  /** The tokens spent beyond what the terms allow, rounded up; 0 if none. */
  public long excess() {
    BigInteger below = unit.multiply(BigInteger.valueOf(slack)).add(units).negate();
    if (below.signum() <= 0) {
      return 0;
    }
    return below.add(unit).subtract(BigInteger.ONE).divide(unit).longValueExact();
  }

  private void advance(Instant at) {
    for (Surplus first = surpluses.peek();
        first != null && !first.until().isAfter(at);
        first = surpluses.peek()) {
      accrue(first.until());
      surpluses.remove();
      cap();
    }
    accrue(at);
  }

  private void accrue(Instant at) {
    if (!at.isAfter(now)) {
      return;
    }
    if (now.isBefore(settlesAt) && !settlesAt.isAfter(at)) {
      accrueSteadily(settlesAt);
      perNano = unitsPerNano();
    }
    accrueSteadily(at);
    cap();
  }

  private void accrueSteadily(Instant at) {
    units = units.add(perNano.multiply(Rate.nanos(Duration.between(now, at))));
    now = at;
  }

  private BigInteger unitsPerNano() {
    return unit.divide(Rate.nanos(terms.rate().per()))
        .multiply(BigInteger.valueOf(terms.rate().tokens()));
  }

  private void cap() {
    long max = surpluses.stream().mapToLong(Surplus::tokens).reduce(terms.capacity(), Math::max);
    units = units.min(unit.multiply(BigInteger.valueOf(max)));
  }

  private static Duration max(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  @Override
  public String toString() {
    return "%.6f of %d left, slack %d"
        .formatted(units.doubleValue() / unit.doubleValue(), terms.capacity(), slack);
  }
}
