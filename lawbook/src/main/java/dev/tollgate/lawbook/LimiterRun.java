package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** Runs a history against a limiter and reports every event to an observer. */
final class LimiterRun {
  private static final String TENANT = "tenant";
  private static final String NEIGHBOUR = "neighbour";
  private static final int NEIGHBOUR_CLAIMS = 12;

  private final Setting setting;
  private final Limiter limiter;
  private final List<Observer> observers;
  private final Map<Observer, CheckResult> broken = new HashMap<>();
  private final List<Lease> leases = new ArrayList<>();
  private final List<String> answers = new ArrayList<>();
  private final Mode mode;
  private Terms terms;
  private Instant refusedUntil = Instant.MIN;
  private boolean canRetune = true;
  private CheckResult played = new CheckResult.NotJudged();
  private int step;

  /** How callers behave during a history. */
  enum Mode {
    /** Callers do only what the history states. */
    PLAIN,
    /** A refused caller claims again at once, and again before its retry time. */
    EARLY_RETRIES,
    /** Another tenant claims as fast as it can. */
    BUSY_NEIGHBOUR
  }

  /** Runs a history; a violation that one observer finds does not end the run. */
  LimiterRun(Limiter.Maker maker, History history, Mode mode, Observer... observers) {
    this.setting = new Setting(history.seed());
    this.limiter = maker.make(setting);
    this.mode = mode;
    this.observers = List.of(observers);
    this.terms = maker.terms(History.terms(history.seed()));
    this.played = checked(() -> all(history.steps()));
  }

  /** The first violation that the observer found, or the failure of the limiter, if any. */
  CheckResult result(Observer observer) {
    return broken.getOrDefault(observer, played);
  }

  /** Continues the run after the history unless the limiter failed. */
  CheckResult then(Consumer<LimiterRun> afterwards) {
    if (played instanceof CheckResult.Kept) {
      played = checked(() -> afterwards.accept(this));
    }
    return played;
  }

  private CheckResult checked(Runnable part) {
    return Violation.checked(part, () -> step, this::now);
  }

  /** Reports an event to every observer that has found no violation. */
  private void report(Consumer<Observer> event) {
    for (Observer observer : observers) {
      if (!broken.containsKey(observer)
          && checked(() -> event.accept(observer)) instanceof CheckResult.Broken first) {
        broken.put(observer, first);
      }
    }
  }

  private void all(List<Step> steps) {
    limiter.open(TENANT, terms);
    if (mode == Mode.BUSY_NEIGHBOUR) {
      limiter.open(NEIGHBOUR, terms);
    }
    report(observer -> observer.opened(this));
    for (Step next : steps) {
      step++;
      perform(next);
      report(observer -> observer.stepped(this));
    }
    step++;
  }

  private void perform(Step next) {
    if (mode == Mode.BUSY_NEIGHBOUR) {
      claimAsNeighbour();
    }
    if (next instanceof Step.Wait wait) {
      wait(wait.time());
    } else if (next instanceof Step.Claims claims) {
      for (int i = 0; i < claims.count(); i++) {
        claim(claims.use());
      }
    } else if (next instanceof Step.ClaimOf claim) {
      claimAll(claim.tokens(), claim.use());
    } else if (next instanceof Step.Together together) {
      claimTogether(together.callers(), together.tokens());
    } else if (next instanceof Step.IdleThenBurst burst) {
      wait(burst.idle());
      for (int i = 0; i < burst.count(); i++) {
        claim(Step.Use.SPENT);
      }
    } else if (next instanceof Step.Spend spend && !leases.isEmpty()) {
      spend(leases.remove(spend.which() % leases.size()));
    } else if (next instanceof Step.GiveBack back && !leases.isEmpty()) {
      giveBack(leases.remove(back.which() % leases.size()));
    } else if (next instanceof Step.Retune retune) {
      retune(retune.terms());
    } else if (next instanceof Step.AwaitRetry) {
      awaitRetry();
    }
  }

  private void claimAsNeighbour() {
    for (int i = 0; i < NEIGHBOUR_CLAIMS; i++) {
      if (limiter.claim(NEIGHBOUR) instanceof Claim.Admitted admitted) {
        admitted.lease().ifPresent(Lease::spend);
      }
    }
  }

  void wait(Duration time) {
    Instant until = now().plus(time);
    if (mode == Mode.EARLY_RETRIES && now().isBefore(refusedUntil)) {
      Duration early = Duration.between(now(), refusedUntil).dividedBy(2);
      advance(early.compareTo(time) < 0 ? now().plus(early) : until);
      retryEarly();
    }
    advance(until);
  }

  private void advance(Instant until) {
    Optional<Instant> timer = limiter.nextTimer();
    while (timer.isPresent() && !timer.get().isAfter(until)) {
      setting.set(timer.get().isAfter(now()) ? timer.get() : now());
      limiter.passedTo(now());
      timer = limiter.nextTimer();
    }
    setting.set(until);
    limiter.passedTo(until);
  }

  Claim claim(Step.Use use) {
    Claim claim = ask();
    if (claim instanceof Claim.Refused refused) {
      refusedUntil = now().plus(refused.retryAfter());
      if (mode == Mode.EARLY_RETRIES) {
        retryEarly();
      }
    }
    use(claim, 1, use);
    return claim;
  }

  private Claim ask() {
    report(observer -> observer.claiming(this));
    return answered(1, List.of(limiter.claim(TENANT))).get(0);
  }

  private List<Claim> answered(long tokens, List<Claim> claims) {
    claims.forEach(claim -> answers.add(claim.toString()));
    report(observer -> observer.claimed(this, tokens, claims));
    return claims;
  }

  private void use(Claim claim, long tokens, Step.Use use) {
    if (claim instanceof Claim.Admitted admitted) {
      if (admitted.lease().isEmpty()) {
        report(observer -> observer.spent(this, Lease.Spending.SPENT, tokens));
      } else {
        use(admitted.lease().get(), use);
      }
    }
  }

  /** Claims before the retry time of a refusal. */
  private void retryEarly() {
    for (int i = 0; i < 3; i++) {
      use(ask(), 1, Step.Use.SPENT);
    }
  }

  private void claimAll(long wanted, Step.Use use) {
    long tokens = Math.min(wanted, terms.capacity());
    if (tokens > 1) {
      report(observer -> observer.claiming(this));
      limiter
          .claim(TENANT, tokens)
          .ifPresent(claim -> use(answered(tokens, List.of(claim)).get(0), tokens, use));
    }
  }

  private void claimTogether(int callers, long wanted) {
    long tokens = Math.min(wanted, terms.capacity());
    report(observer -> observer.claiming(this));
    limiter
        .claimTogether(TENANT, callers, tokens)
        .ifPresent(
            claims ->
                answered(tokens, claims).forEach(claim -> use(claim, tokens, Step.Use.GIVEN_BACK)));
  }

  private void use(Lease lease, Step.Use use) {
    switch (use) {
      case SPENT -> spend(lease);
      case HELD -> leases.add(lease);
      case GIVEN_BACK -> giveBack(lease);
    }
  }

  private void spend(Lease lease) {
    boolean ended = !now().isBefore(lease.endsAt());
    Lease.Spending spending = lease.spend();
    answers.add(spending.toString());
    report(observer -> observer.spentLease(this, lease, spending, ended));
    report(observer -> observer.spent(this, spending, lease.tokens()));
  }

  private void giveBack(Lease lease) {
    boolean ended = !now().isBefore(lease.endsAt());
    report(observer -> observer.givingBack(this));
    lease.giveBack();
    report(observer -> observer.gaveBack(this, lease, ended));
  }

  /** Changes the terms. Returns false if the limiter cannot. */
  boolean retune(Terms next) {
    report(observer -> observer.retuning(this));
    canRetune = canRetune && limiter.retune(TENANT, next);
    if (canRetune) {
      terms = next;
      report(observer -> observer.retuned(this));
    }
    return canRetune;
  }

  /** Claims until refused, waits for {@code retryAfter}, and claims again. */
  void awaitRetry() {
    long claims = 2 * terms.capacity() + 1_000;
    for (long i = 0; i < claims; i++) {
      Claim claim = claim(Step.Use.SPENT);
      if (claim instanceof Claim.Refused refused) {
        Instant at = now();
        boolean alone = holding() == 0;
        Duration max = terms.rate().timeOf(1 + 2 * terms.slack()).plus(terms.grain());
        wait(refused.retryAfter().compareTo(max) < 0 ? refused.retryAfter() : max);
        Claim then = claim(Step.Use.SPENT);
        report(observer -> observer.waited(this, refused, at, alone, then));
        return;
      } else if (claim instanceof Claim.Undecided) {
        return;
      }
    }
  }

  /** Claims and spends until a claim is not admitted; returns the number of admitted claims. */
  long drain() {
    long max = 2 * terms.capacity() + 1_000;
    long drained = 0;
    while (drained < max && claim(Step.Use.SPENT) instanceof Claim.Admitted) {
      drained++;
    }
    return drained;
  }

  /**
   * Claims and spends all available tokens after every {@code pause} during {@code time}; returns
   * how many.
   */
  long demand(Duration time, Duration pause) {
    Instant until = now().plus(time);
    long admitted = 0;
    while (now().isBefore(until)) {
      wait(pause);
      admitted += drain();
    }
    return admitted;
  }

  /** Stops faults, and waits until all leases have ended and late tokens have arrived. */
  void stopFaults() {
    setting.stopFaults();
    Instant last = lastEnd();
    leases.clear();
    wait(Duration.between(now(), last).plus(terms.grain().multipliedBy(2)).plusMillis(1));
  }

  Instant now() {
    return setting.now();
  }

  Terms terms() {
    return terms;
  }

  Optional<TokenCounts> tokenCounts() {
    return limiter.tokenCounts(TENANT);
  }

  FaultEffects faultEffects() {
    return limiter.faultEffects(TENANT);
  }

  long cost() {
    return limiter.cost(TENANT);
  }

  /** The number of tokens that expired by age, if known. */
  OptionalLong expiredByAge() {
    return limiter.expiredByAge(TENANT);
  }

  /** The number of tokens held by leases that have not ended. */
  long holding() {
    return leases.stream()
        .filter(lease -> now().isBefore(lease.endsAt()))
        .mapToLong(Lease::tokens)
        .sum();
  }

  /** When the last open lease ends; now if there is none. */
  Instant lastEnd() {
    return leases.stream()
        .map(Lease::endsAt)
        .filter(end -> end.isAfter(now()))
        .max(Instant::compareTo)
        .orElse(now());
  }

  /** The results of all claims and spendings, in order. */
  List<String> answers() {
    return answers;
  }

  /** Observes a {@link LimiterRun} and throws {@link Violation} if a law is broken. */
  interface Observer {
    default void opened(LimiterRun run) {}

    default void claiming(LimiterRun run) {}

    /**
     * Called after a claim.
     *
     * @param tokens the number that each caller claimed
     * @param answers one per caller; several callers claimed at the same time
     */
    default void claimed(LimiterRun run, long tokens, List<Claim> answers) {}

    default void spent(LimiterRun run, Lease.Spending spending, long tokens) {}

    /**
     * Called after an attempt to spend a lease.
     *
     * @param ended whether its lease had ended
     */
    default void spentLease(LimiterRun run, Lease lease, Lease.Spending spending, boolean ended) {}

    default void givingBack(LimiterRun run) {}

    default void gaveBack(LimiterRun run, Lease lease, boolean ended) {}

    default void retuning(LimiterRun run) {}

    default void retuned(LimiterRun run) {}

    /**
     * Called after a refused caller has waited for its retry time and claimed again.
     *
     * @param at the time of the refusal
     * @param alone whether no lease was open then
     * @param then the answer to its claim after the wait
     */
    default void waited(
        LimiterRun run, Claim.Refused refused, Instant at, boolean alone, Claim then) {}

    default void stepped(LimiterRun run) {}
  }
}
