package dev.tollgate.lawbook;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fewest tokens that a limiter must have: an ideal bucket, computed with whole numbers and
 * never rounded, whose tokens come as late as the terms state. The counterpart of {@link
 * Allowance}.
 *
 * <p>A token that is held takes up room until it is spent. One that is given back, or whose lease
 * ends, can be had again after {@link #RETURN}, or after the stated lateness if that is less.
 */
final class GuaranteedTokens {
  /** The longest until a token that came back can be had again. */
  static final Duration RETURN = Duration.ofSeconds(1);

  private Terms terms;
  private Duration lateness;
  private Instant now;

  /** Units in a token; a multiple of the nanoseconds that each rate so far is per. */
  private BigInteger unit;

  /** All tokens: those in the bucket and those that are held. */
  private BigInteger units;

  private BigInteger perNano;
  private Instant settlesAt;
  private Instant hiddenUntil = Instant.MIN;
  private final Deque<Accrual> accruals = new ArrayDeque<>();
  private final List<Return> returns = new ArrayList<>();
  private final IdentityHashMap<Lease, Long> held = new IdentityHashMap<>();

  /** A time in which tokens accrued, each of which may be late. */
  private record Accrual(Instant from, Instant to, BigInteger perNano) {
    BigInteger unitsAfter(Instant instant) {
      Instant start = from.isAfter(instant) ? from : instant;
      return start.isBefore(to)
          ? perNano.multiply(Rate.nanos(Duration.between(start, to)))
          : BigInteger.ZERO;
    }
  }

  /** Tokens that came back. */
  private record Return(Instant until, long tokens) {}

  /** The floor of a bucket that is opened, full, at {@code now}. */
  GuaranteedTokens(Terms terms, Instant now) {
    this.terms = terms;
    this.lateness = terms.lateness();
    this.now = now;
    this.settlesAt = now;
    this.unit = Rate.nanos(terms.rate().per());
    this.perNano = BigInteger.valueOf(terms.rate().tokens());
    this.units = unit.multiply(BigInteger.valueOf(terms.capacity()));
  }

  /** Tokens are spent that were not held. */
  void take(long tokens, Instant at) {
    pass(at);
    expectIfForgiven(tokens, at);
    units = units.subtract(tokens(tokens));
  }

  /** Tokens are held by a lease from {@code at} on. */
  void hold(Lease lease, Instant at) {
    pass(at);
    expectIfForgiven(lease.tokens(), at);
    held.put(lease, lease.tokens());
  }

  /** Callers contended at {@code at}: what one of them held for a moment was hidden from others. */
  void contended(Instant at) {
    Duration most = lateness.compareTo(RETURN) < 0 ? lateness : RETURN;
    hiddenUntil = at.plus(most);
  }

  /** What a lease holds is spent. */
  void spend(Lease lease, Instant at) {
    pass(at);
    Long tokens = held.remove(lease);
    if (tokens != null) {
      units = units.subtract(tokens(tokens));
    }
  }

  /** What a lease holds is given back. */
  void giveBack(Lease lease, Instant at) {
    pass(at);
    returned(held.remove(lease), at);
  }

  /** Tokens have gone because of their age, which the terms allow. */
  void expire(long tokens, Instant at) {
    pass(at);
    units = units.subtract(tokens(tokens));
  }

  /** Nothing is expected until {@code at}; from then on, as much as if it were drained then. */
  void reset(Instant at) {
    units = BigInteger.ZERO;
    accruals.clear();
    returns.clear();
    held.clear();
    now = at.isAfter(now) ? at : now;
    settle();
  }

  /** Tokens are taken; while nothing is expected, they are more than were expected. */
  private void expectIfForgiven(long tokens, Instant at) {
    if (at.isBefore(now)) {
      BigInteger missing = tokens(tokens + heldTokens()).subtract(units);
      units = units.add(missing.max(BigInteger.ZERO));
    }
  }

  /**
   * The terms change at {@code at}. Until they are in force, the slower of both rates and the later
   * of both latenesses are expected.
   */
  void retune(Terms next, Instant at) {
    pass(at);
    BigInteger per = Rate.nanos(next.rate().per());
    BigInteger factor = per.divide(per.gcd(unit));
    unit = unit.multiply(factor);
    units = units.multiply(factor).subtract(pending(at).multiply(factor));
    accruals.clear();
    BigInteger before = perNano.multiply(factor);
    terms = next;
    settlesAt = at.plus(next.grain());
    perNano = before.min(ofTerms());
    lateness = max(lateness, next.lateness());
    settle();
    cap();
  }

  private void settle() {
    if (!now.isBefore(settlesAt)) {
      perNano = ofTerms();
      lateness = terms.lateness();
    }
  }

  /** Whether so many tokens must be there at {@code at}. */
  boolean has(long tokens, Instant at) {
    pass(at);
    BigInteger there =
        units
            .subtract(tokens(heldTokens()))
            .subtract(pending(at))
            .subtract(tokens(returns.stream().mapToLong(Return::tokens).sum()));
    return there.compareTo(tokens(tokens)) >= 0 && !at.isBefore(hiddenUntil);
  }

  private BigInteger pending(Instant at) {
    Instant due = at.minus(lateness);
    return accruals.stream()
        .map(accrual -> accrual.unitsAfter(due))
        .reduce(BigInteger.ZERO, BigInteger::add);
  }

  private void pass(Instant at) {
    while (true) {
      Instant end = nextEnd();
      if (end.isAfter(at)) {
        break;
      }
      accrue(end);
      List<Lease> ended =
          held.keySet().stream().filter(lease -> !lease.endsAt().isAfter(end)).toList();
      ended.forEach(lease -> returned(held.remove(lease), end));
    }
    accrue(at);
    returns.removeIf(back -> !back.until().isAfter(at));
    Instant oldest = at.minus(lateness);
    accruals.removeIf(accrual -> !accrual.to().isAfter(oldest));
  }

  private Instant nextEnd() {
    return held.keySet().stream().map(Lease::endsAt).min(Instant::compareTo).orElse(Instant.MAX);
  }

  private void returned(@Nullable Long tokens, Instant at) {
    if (tokens == null) {
      return;
    }
    Duration most = lateness.compareTo(RETURN) < 0 ? lateness : RETURN;
    returns.add(new Return(at.plus(most), tokens));
    cap();
  }

  private void accrue(Instant at) {
    if (now.isBefore(settlesAt) && !settlesAt.isAfter(at)) {
      accrueSteadily(settlesAt);
      settle();
    }
    accrueSteadily(at);
  }

  private void accrueSteadily(Instant at) {
    if (!at.isAfter(now)) {
      return;
    }
    BigInteger room = most().subtract(units);
    if (room.signum() > 0) {
      BigInteger[] full = room.divideAndRemainder(perNano);
      BigInteger nanos = full[0].add(BigInteger.valueOf(full[1].signum()));
      BigInteger passed = Rate.nanos(Duration.between(now, at)).min(nanos);
      units = units.add(perNano.multiply(passed));
      accruals.add(new Accrual(now, now.plusNanos(passed.longValueExact()), perNano));
    }
    now = at;
    cap();
  }

  private BigInteger most() {
    return tokens(Math.max(terms.capacity(), heldTokens()));
  }

  private void cap() {
    units = units.min(most());
  }

  private long heldTokens() {
    return held.values().stream().mapToLong(Long::longValue).sum();
  }

  private BigInteger tokens(long tokens) {
    return unit.multiply(BigInteger.valueOf(tokens));
  }

  private BigInteger ofTerms() {
    return unit.divide(Rate.nanos(terms.rate().per()))
        .multiply(BigInteger.valueOf(terms.rate().tokens()));
  }

  private static Duration max(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }
}
