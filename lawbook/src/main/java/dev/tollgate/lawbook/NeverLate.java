package dev.tollgate.lawbook;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** What is refused, held against an ideal bucket whose tokens come as late as the terms state. */
final class NeverLate implements RunObserver {
  private final boolean several;
  private Optional<GuaranteedTokens> floor = Optional.empty();
  private long strikes;
  private long aged;
  private Optional<Instant> demandedAt = Optional.empty();
  private long taken;

  /**
   * Watches claims.
   *
   * @param several whether it judges claims for several tokens or by several callers, or all others
   */
  NeverLate(boolean several) {
    this.several = several;
  }

  @Override
  public void opened(LimiterRun play) {
    floor = Optional.of(new GuaranteedTokens(play.terms(), play.now()));
  }

  @Override
  public void claimed(LimiterRun play, long tokens, List<Claim> answers) {
    GuaranteedTokens least = floor(play);
    Instant now = play.now();
    boolean isMine = several == (tokens > 1 || answers.size() > 1);
    boolean isAdmitted = answers.stream().anyMatch(Claim.Admitted.class::isInstance);
    Violation.unless(
        isAdmitted
            || play.expiredByAge().isEmpty()
            || !least.has(tokens, now)
            || isDemand(play)
            || !isMine,
        "a claim for "
            + tokens
            + " to be admitted, as by a bucket whose tokens come "
            + play.terms().lateness()
            + " later than an ideal one's",
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

  /** Whether a refusal makes tokens come that are due, as the terms allow. */
  private boolean isDemand(LimiterRun play) {
    Terms terms = play.terms();
    if (!terms.onDemand()) {
      return false;
    }
    if (demandedAt.isEmpty() || taken >= terms.capacity()) {
      demandedAt = Optional.of(play.now());
      taken = 0;
    }
    return !play.now().isAfter(demandedAt.get().plus(terms.lateness()));
  }

  @Override
  public void spentLease(LimiterRun play, Lease lease, Lease.Spending spending, boolean ended) {
    if (spending != Lease.Spending.REFUSED) {
      floor(play).spend(lease, play.now());
    }
  }

  @Override
  public void gaveBack(LimiterRun play, Lease lease, boolean ended) {
    floor(play).giveBack(lease, play.now());
  }

  @Override
  public void retuned(LimiterRun play) {
    floor(play).retune(play.terms(), play.now());
    demandedAt = Optional.empty();
  }

  /** The floor after what has happened since it was last looked at. */
  private GuaranteedTokens floor(LimiterRun play) {
    GuaranteedTokens least = floor.orElseThrow();
    OptionalLong gone = play.expiredByAge();
    if (gone.isPresent() && gone.getAsLong() > aged) {
      least.expire(gone.getAsLong() - aged, play.now());
      aged = gone.getAsLong();
    }
    Excuse excuse = play.excuse();
    if (excuse.strikes() > strikes) {
      strikes = excuse.strikes();
      demandedAt = Optional.empty();
      least.reset(excuse.struckAt().plus(play.terms().grain()));
    }
    return least;
  }
}
