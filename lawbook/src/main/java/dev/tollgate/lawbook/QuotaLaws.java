package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The laws of quotas. */
public final class QuotaLaws {
  /** A period never admits more than its capacity. */
  public static final Law<Quota.Maker> NEVER_MORE =
      new Law<>(
          "never more in a period",
          "The claims that begin in a period take at most its capacity, whatever was left of the"
              + " period before. If the capacity changes, they take no more in all than the new"
              + " one, or than they had taken already.",
          runs -> play(runs, true, run -> {}));

  /** A period gives its whole capacity. */
  public static final Law<Quota.Maker> AVAILABLE =
      new Law<>(
          "the whole capacity is available",
          "Once the lateness has passed since a period began, without faults, its whole capacity"
              + " can be claimed.",
          runs -> play(runs, false, Run::takeAll));

  /** A refusal tells when the next period begins. */
  public static final Law<Quota.Maker> RETRY =
      new Law<>(
          "a refusal tells the next period",
          "Once a period's tokens are taken, without faults, a claim is refused until the next"
              + " period begins, and one that comes back after the lateness is admitted.",
          runs -> play(runs, false, Run::awaitNext));

  /** All laws of quotas. */
  public static final List<Law<Quota.Maker>> ALL = List.of(NEVER_MORE, AVAILABLE, RETRY);

  /** How long a caller waits at most, in all, that comes back as it is told. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private QuotaLaws() {}

  private interface End {
    void of(Run run);
  }

  private static CheckResult play(Law.Runs<Quota.Maker> runs, boolean counts, End end) {
    Run run = new Run(runs.subject(), runs.history().seed(), counts);
    return Violation.checked(
        () -> {
          for (Step next : runs.history().steps()) {
            run.step++;
            run.perform(next);
          }
          run.step++;
          end.of(run);
        },
        () -> run.step,
        run.setting::now);
  }

  /** A quota during a history, and the tokens that were taken in the present period. */
  private static final class Run {
    private final Setting setting;
    private final Quota quota;
    private final boolean counts;
    private final List<Held> leases = new ArrayList<>();
    private Quota.Terms terms;
    private Instant period;
    private long taken;
    private long allowed;
    private long explained;
    private int step;

    private record Held(Lease lease, Instant period) {}

    Run(Quota.Maker maker, long seed, boolean counts) {
      this.counts = counts;
      setting = new Setting(seed);
      terms = maker.terms(History.terms(seed));
      quota = maker.make(setting, terms);
      period = Instant.MIN;
      turn();
    }

    /** Begins to count another period, if one has begun. */
    private void turn() {
      Instant start = terms.start(setting.now());
      if (!start.equals(period)) {
        period = start;
        taken = 0;
        allowed = terms.capacity();
        explained = quota.faultEffects().tokens();
      }
    }

    private void perform(Step next) {
      if (next instanceof Step.Wait wait) {
        wait(wait.time());
      } else if (next instanceof Step.AwaitPeriod await) {
        Instant then = terms.next(setting.now()).plus(await.offset());
        wait(positive(Duration.between(setting.now(), then)));
      } else if (next instanceof Step.Claims claims) {
        for (int i = 0; i < claims.count(); i++) {
          claim(claims.use());
        }
      } else if (next instanceof Step.Spend spend && !leases.isEmpty()) {
        spend(leases.remove(spend.which() % leases.size()));
      } else if (next instanceof Step.GiveBack back && !leases.isEmpty()) {
        giveBack(leases.remove(back.which() % leases.size()));
      } else if (next instanceof Step.RetuneQuota retune) {
        retune(retune.capacity());
      }
    }

    /**
     * Under a lower capacity, the limiter removes tokens. It may fail to do so during faults, so
     * then the highest capacity of the period counts.
     */
    private void retune(long capacity) {
      turn();
      quota.retune(capacity);
      terms = terms.with(capacity);
      long lowest = Math.max(capacity, taken);
      allowed = quota.faultEffects().isNone() ? lowest : Math.max(allowed, lowest);
    }

    private Claim claim(Step.Use use) {
      turn();
      expire();
      Claim claim = quota.claim();
      if (!(claim instanceof Claim.Admitted admitted)) {
        return claim;
      }
      taken++;
      long most = allowed + quota.faultEffects().tokens() - explained;
      Violation.unless(
          !counts || taken <= most,
          "at most " + most + " tokens in the period of " + period,
          taken);
      admitted.lease().ifPresent(lease -> use(new Held(lease, period), use));
      return claim;
    }

    private void use(Held held, Step.Use use) {
      switch (use) {
        case SPENT -> spend(held);
        case GIVEN_BACK -> giveBack(held);
        case HELD -> leases.add(held);
      }
    }

    /** A holder is admitted only if its token was certainly spent. */
    private void spend(Held held) {
      if (held.lease().spend() != Lease.Spending.SPENT) {
        returned(held);
      }
    }

    private void giveBack(Held held) {
      held.lease().giveBack();
      returned(held);
    }

    /** Tokens return when their lease ends. */
    private void expire() {
      List<Held> ended =
          leases.stream().filter(held -> !setting.now().isBefore(held.lease().endsAt())).toList();
      leases.removeAll(ended);
      ended.forEach(this::returned);
    }

    private void returned(Held held) {
      turn();
      if (held.period().equals(period)) {
        taken--;
      }
    }

    /** Waits for a new period without faults and takes all its tokens. */
    private void takeAll() {
      setting.stopFaults();
      giveUpLeases();
      wait(positive(Duration.between(setting.now(), terms.next(setting.now()))));
      wait(terms.lateness());
      turn();
      Duration waited = Duration.ZERO;
      while (taken < terms.capacity()) {
        Claim claim = claim(Step.Use.SPENT);
        Violation.unless(!(claim instanceof Claim.Undecided), "an answer without faults", claim);
        if (claim instanceof Claim.Refused refused) {
          waited = waited.plus(refused.retryAfter());
          Violation.unless(
              waited.compareTo(PATIENCE) <= 0,
              terms.capacity() + " tokens " + terms.lateness() + " after the period began",
              taken + " tokens, then " + refused);
          wait(positive(refused.retryAfter()));
        }
      }
    }

    private void awaitNext() {
      takeAll();
      Claim claim = claim(Step.Use.SPENT);
      Instant next = terms.next(setting.now());
      Duration left = Duration.between(setting.now(), next);
      Duration told = claim instanceof Claim.Refused refused ? refused.retryAfter() : Duration.ZERO;
      Violation.unless(
          told.compareTo(left) >= 0 && told.compareTo(left.plus(terms.lateness())) <= 0,
          "a refusal for " + left + ", until the next period",
          claim);
      wait(left.plus(terms.lateness()));
      Duration waited = Duration.ZERO;
      Claim again = claim(Step.Use.SPENT);
      while (again instanceof Claim.Refused refused && waited.compareTo(PATIENCE) < 0) {
        waited = waited.plus(refused.retryAfter());
        wait(positive(refused.retryAfter()));
        again = claim(Step.Use.SPENT);
      }
      Violation.unless(again instanceof Claim.Admitted, "admitted in the next period", again);
    }

    private void giveUpLeases() {
      leases.forEach(this::giveBack);
      leases.clear();
    }

    private static Duration positive(Duration time) {
      return time.isNegative() ? Duration.ZERO : time;
    }

    private void wait(Duration time) {
      Instant until = setting.now().plus(time);
      Optional<Instant> timer = quota.nextTimer();
      while (timer.isPresent() && !timer.get().isAfter(until)) {
        passTo(timer.get().isAfter(setting.now()) ? timer.get() : setting.now());
        timer = quota.nextTimer();
      }
      passTo(until);
    }

    private void passTo(Instant instant) {
      setting.set(instant);
      turn();
      quota.passedTo(instant);
    }
  }
}
