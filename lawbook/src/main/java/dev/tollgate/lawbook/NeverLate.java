package dev.tollgate.lawbook;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Compares refusals with {@link GuaranteedTokens}. */
final class NeverLate implements LimiterRun.Observer {
  private final boolean judgesSeveral;
  private Optional<GuaranteedTokens> guaranteed = Optional.empty();
  private long faults;
  private long expiredByAge;
  private Optional<Instant> demandedAt = Optional.empty();
  private long taken;

  /**
   * Checks some of the claims.
   *
   * @param judgesSeveral true to check claims for several tokens and concurrent claims, false to
   *     check all others
   */
  NeverLate(boolean judgesSeveral) {
    this.judgesSeveral = judgesSeveral;
  }

  @Override
  public void opened(LimiterRun run) {
    guaranteed = Optional.of(new GuaranteedTokens(run.terms(), run.now()));
  }

  @Override
  public void claimed(LimiterRun run, long tokens, List<Claim> answers) {
    GuaranteedTokens least = guaranteed(run);
    Instant now = run.now();
    boolean isJudged = judgesSeveral == (tokens > 1 || answers.size() > 1);
    boolean isAdmitted = answers.stream().anyMatch(Claim.Admitted.class::isInstance);
    Violation.unless(
        isAdmitted
            || run.expiredByAge().isEmpty()
            || !least.has(tokens, now)
            || isAllowedOnDemand(run)
            || !isJudged,
        "admission of a claim for "
            + tokens
            + ", as by an ideal bucket whose tokens arrive "
            + run.terms().lateness()
            + " late",
        answers);
    for (Claim answer : answers) {
      if (answer instanceof Claim.Admitted admitted) {
        taken += tokens;
        admitted
            .lease()
            .ifPresentOrElse(lease -> least.hold(lease, now), () -> least.take(tokens, now));
      }
    }
    if (answers.size() > 1) {
      least.contended(now);
    }
  }

  /** Whether the terms allow this refusal, because it requests due tokens. */
  private boolean isAllowedOnDemand(LimiterRun run) {
    Terms terms = run.terms();
    if (!terms.onDemand()) {
      return false;
    }
    if (demandedAt.isEmpty() || taken >= terms.capacity()) {
      demandedAt = Optional.of(run.now());
      taken = 0;
    }
    return !run.now().isAfter(demandedAt.get().plus(terms.lateness()));
  }

  @Override
  public void spentLease(LimiterRun run, Lease lease, Lease.Spending spending, boolean ended) {
    if (spending != Lease.Spending.REFUSED) {
      guaranteed(run).spend(lease, run.now());
    }
  }

  @Override
  public void gaveBack(LimiterRun run, Lease lease, boolean ended) {
    guaranteed(run).giveBack(lease, run.now());
  }

  @Override
  public void retuned(LimiterRun run) {
    guaranteed(run).retune(run.terms(), run.now());
    demandedAt = Optional.empty();
  }

  /** The guaranteed tokens, after applying expiries and faults since the last call. */
  private GuaranteedTokens guaranteed(LimiterRun run) {
    GuaranteedTokens least = guaranteed.orElseThrow();
    OptionalLong expired = run.expiredByAge();
    if (expired.isPresent() && expired.getAsLong() > expiredByAge) {
      least.expire(expired.getAsLong() - expiredByAge, run.now());
      expiredByAge = expired.getAsLong();
    }
    FaultEffects faultEffects = run.faultEffects();
    if (faultEffects.faults() > faults) {
      faults = faultEffects.faults();
      demandedAt = Optional.empty();
      least.reset(faultEffects.lastFaultAt().plus(run.terms().grain()));
    }
    return least;
  }

  /**
   * The fewest tokens that a limiter must have: those of an ideal bucket in exact integer
   * arithmetic, delayed by the stated lateness. The counterpart of {@link Allowance}.
   *
   * <p>A held token takes up room until it is spent. A token that is given back, or whose lease
   * ends, is available again after {@link #RETURN}, or after the stated lateness if that is less.
   */
  static final class GuaranteedTokens {
    /** The longest time until a returned token is available again. */
    static final Duration RETURN = Duration.ofSeconds(1);

    private Terms terms;
    private Duration lateness;
    private Instant now;

    /** Units per token: a multiple of the period, in nanoseconds, of every rate so far. */
    private BigInteger unit;

    /** The units of all tokens, in the bucket or held. */
    private BigInteger units;

    private BigInteger perNano;
    private Instant settlesAt;
    private Instant hiddenUntil = Instant.MIN;
    private final Deque<Accrual> accruals = new ArrayDeque<>();
    private final List<Return> returns = new ArrayList<>();
    private final IdentityHashMap<Lease, Long> held = new IdentityHashMap<>();

    /** An interval in which tokens accrued at {@code perNano}; each token may be late. */
    private record Accrual(Instant from, Instant to, BigInteger perNano) {
      BigInteger unitsAfter(Instant instant) {
        Instant start = from.isAfter(instant) ? from : instant;
        return start.isBefore(to)
            ? perNano.multiply(Rate.nanos(Duration.between(start, to)))
            : BigInteger.ZERO;
      }
    }

    /** Tokens that were returned and may be unavailable until {@code until}. */
    private record Return(Instant until, long tokens) {}

    /** The guaranteed tokens of a bucket that is opened full at {@code now}. */
    GuaranteedTokens(Terms terms, Instant now) {
      this.terms = terms;
      this.lateness = terms.lateness();
      this.now = now;
      this.settlesAt = now;
      this.unit = Rate.nanos(terms.rate().per());
      this.perNano = BigInteger.valueOf(terms.rate().tokens());
      this.units = unit.multiply(BigInteger.valueOf(terms.capacity()));
    }

    /** Spends tokens that no lease holds. */
    void take(long tokens, Instant at) {
      advance(at);
      addUnguaranteed(tokens, at);
      units = units.subtract(tokens(tokens));
    }

    /** Records that a lease holds its tokens from {@code at} on. */
    void hold(Lease lease, Instant at) {
      advance(at);
      addUnguaranteed(lease.tokens(), at);
      held.put(lease, lease.tokens());
    }

    /**
     * Records concurrent claims at {@code at}, each of which may have hidden tokens from the others
     * for a moment.
     */
    void contended(Instant at) {
      Duration max = lateness.compareTo(RETURN) < 0 ? lateness : RETURN;
      hiddenUntil = at.plus(max);
    }

    /** Spends the tokens of a lease. */
    void spend(Lease lease, Instant at) {
      advance(at);
      Long tokens = held.remove(lease);
      if (tokens != null) {
        units = units.subtract(tokens(tokens));
      }
    }

    /** Gives the tokens of a lease back. */
    void giveBack(Lease lease, Instant at) {
      advance(at);
      returned(held.remove(lease), at);
    }

    /** Removes tokens that expired by age, as the terms allow. */
    void expire(long tokens, Instant at) {
      advance(at);
      units = units.subtract(tokens(tokens));
    }

    /**
     * Guarantees nothing until {@code at}, and from then on the tokens of a bucket that was empty
     * at {@code at}.
     */
    void reset(Instant at) {
      units = BigInteger.ZERO;
      accruals.clear();
      returns.clear();
      held.clear();
      now = at.isAfter(now) ? at : now;
      settle();
    }

    /** While nothing is guaranteed, adds the tokens that were taken nevertheless. */
    private void addUnguaranteed(long tokens, Instant at) {
      if (at.isBefore(now)) {
        BigInteger missing = tokens(tokens + heldTokens()).subtract(units);
        units = units.add(missing.max(BigInteger.ZERO));
      }
    }

    /**
     * Changes the terms at {@code at}. Until they are in force, the slower rate and the greater
     * lateness are guaranteed.
     */
    void retune(Terms next, Instant at) {
      advance(at);
      BigInteger per = Rate.nanos(next.rate().per());
      BigInteger factor = per.divide(per.gcd(unit));
      unit = unit.multiply(factor);
      units = units.multiply(factor).subtract(pending(at).multiply(factor));
      accruals.clear();
      BigInteger before = perNano.multiply(factor);
      terms = next;
      settlesAt = at.plus(next.grain());
      perNano = before.min(unitsPerNano());
      lateness = max(lateness, next.lateness());
      settle();
      cap();
    }

    private void settle() {
      if (!now.isBefore(settlesAt)) {
        perNano = unitsPerNano();
        lateness = terms.lateness();
      }
    }

    /** Whether this many tokens must be available at {@code at}. */
    boolean has(long tokens, Instant at) {
      advance(at);
      BigInteger available =
          units
              .subtract(tokens(heldTokens()))
              .subtract(pending(at))
              .subtract(tokens(returns.stream().mapToLong(Return::tokens).sum()));
      return available.compareTo(tokens(tokens)) >= 0 && !at.isBefore(hiddenUntil);
    }

    private BigInteger pending(Instant at) {
      Instant due = at.minus(lateness);
      return accruals.stream()
          .map(accrual -> accrual.unitsAfter(due))
          .reduce(BigInteger.ZERO, BigInteger::add);
    }

    private void advance(Instant at) {
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
      Duration max = lateness.compareTo(RETURN) < 0 ? lateness : RETURN;
      returns.add(new Return(at.plus(max), tokens));
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
      BigInteger room = max().subtract(units);
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

    private BigInteger max() {
      return tokens(Math.max(terms.capacity(), heldTokens()));
    }

    private void cap() {
      units = units.min(max());
    }

    private long heldTokens() {
      return held.values().stream().mapToLong(Long::longValue).sum();
    }

    private BigInteger tokens(long tokens) {
      return unit.multiply(BigInteger.valueOf(tokens));
    }

    private BigInteger unitsPerNano() {
      return unit.divide(Rate.nanos(terms.rate().per()))
          .multiply(BigInteger.valueOf(terms.rate().tokens()));
    }

    private static Duration max(Duration one, Duration other) {
      return one.compareTo(other) > 0 ? one : other;
    }
  }
}
