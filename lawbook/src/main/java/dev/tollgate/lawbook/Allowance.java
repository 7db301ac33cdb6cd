package dev.tollgate.lawbook;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;

/**
 * The most tokens that may still be admitted: an ideal bucket in exact integer arithmetic. In every
 * interval at most capacity + rate × time + slack tokens were admitted if and only if this bucket
 * never fell below −slack.
 *
 * <p>A retune keeps its tokens, as far as the new capacity can hold them. Until the grain of the
 * terms has passed, a surplus may remain, and tokens may come at the faster of both rates.
 */
public final class Allowance {
  private Terms terms;
  private long slack;
  private Instant now;

  /** Units in a token; a multiple of the nanoseconds that each rate so far is per. */
  private BigInteger unit;

  private BigInteger units;
  private BigInteger perNano;
  private Instant settlesAt;
  private final Queue<Surplus> surpluses =
      new PriorityQueue<>(Comparator.comparing(Surplus::until));

  /** Until when a bucket may hold more than its capacity. */
  private record Surplus(long tokens, Instant until) {}

  /** The allowance of a bucket that is opened, full, at {@code now}. */
  public Allowance(Terms terms, Instant now) {
    this.terms = terms;
    this.slack = terms.slack();
    this.now = now;
    this.unit = Rate.nanos(terms.rate().per());
    this.units = unit.multiply(BigInteger.valueOf(terms.capacity()));
    this.perNano = ofTerms();
    this.settlesAt = now;
  }

  /** The terms change at {@code at}. */
  public void retune(Terms next, Instant at) {
    retune(next, at, 0, at);
  }

  /**
   * The terms change at {@code at}, while so many tokens are held by leases: these may be spent
   * until the last of them ends.
   */
  public void retune(Terms next, Instant at, long held, Instant lastEnd) {
    pass(at);
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
    perNano = settlesAt.isAfter(at) ? before.max(ofTerms()) : ofTerms();
    slack = Math.max(slack, next.slack());
    cap();
  }

  /** So many are admitted at {@code at}. */
  public void spend(long tokens, Instant at) {
    pass(at);
    units = units.subtract(unit.multiply(BigInteger.valueOf(tokens)));
  }

  /** How many more tokens than the terms allow have been admitted, rounded up; 0 if none. */
  public long excess() {
    BigInteger below = unit.multiply(BigInteger.valueOf(slack)).add(units).negate();
    if (below.signum() <= 0) {
      return 0;
    }
    return below.add(unit).subtract(BigInteger.ONE).divide(unit).longValueExact();
  }

  private void pass(Instant at) {
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
      perNano = ofTerms();
    }
    accrueSteadily(at);
    cap();
  }

  private void accrueSteadily(Instant at) {
    units = units.add(perNano.multiply(Rate.nanos(Duration.between(now, at))));
    now = at;
  }

  private BigInteger ofTerms() {
    return unit.divide(Rate.nanos(terms.rate().per()))
        .multiply(BigInteger.valueOf(terms.rate().tokens()));
  }

  private void cap() {
    long most = surpluses.stream().mapToLong(Surplus::tokens).reduce(terms.capacity(), Math::max);
    units = units.min(unit.multiply(BigInteger.valueOf(most)));
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
