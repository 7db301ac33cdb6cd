package dev.tollgate.lawbook;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Compares refusals with {@link GuaranteedTokens}. */
final class NeverLate implements RunObserver {
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
}
