package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.BiFunction;

/** The laws of token buckets. */
public final class LimiterLaws {
  /** No interval admits more than capacity + rate × time. */
  public static final Law<Limiter.Maker> NEVER_MORE =
      new Law<>(
          "never more than capacity + rate × time",
          "In every interval, the tokens spent are at most the capacity, plus rate × time,"
              + " plus the stated slack, plus the additional tokens of injected faults.",
          runs -> plain(runs).neverMore);

  /** Every token is accounted for. */
  public static final Law<Limiter.Maker> CONSERVATION =
      new Law<>(
          "minted = spent + expired + held + in flight",
          "After every step the limiter's counts balance; its spent count equals the tokens"
              + " spent, its in-flight count the tokens held. A lease that has ended cannot"
              + " be spent.",
          runs -> plain(runs).conservation);

  /** A refusal neither takes nor delays tokens. */
  public static final Law<Limiter.Maker> REFUSAL_IS_FREE =
      new Law<>(
          "a refusal costs nothing",
          "A refused claim takes no token and delays none: a caller that retries too early is"
              + " not refused for longer.",
          LimiterLaws::refusal);

  /** A lone caller that waits for the retry time is admitted. */
  public static final Law<Limiter.Maker> RETRY_AFTER =
      new Law<>(
          "a lone caller that waits for Retry-After is admitted",
          "The retry time is at most the time in which the missing tokens accrue, plus the"
              + " stated lateness. A caller that claims then is admitted, unless another"
              + " caller, a fault or a retune interfered.",
          runs -> plain(runs).retryAfter);

  /** Tokens arrive at most the stated lateness after those of an ideal bucket. */
  public static final Law<Limiter.Maker> NEVER_LATE =
      new Law<>(
          "a token comes no later than stated",
          "A claim is refused only if an ideal bucket, delayed by the stated lateness, has no"
              + " token either. A token that is given back, or whose lease ends, is available"
              + " again within a second. One grain after a fault, the bucket has at least the"
              + " tokens of one that was empty then.",
          runs -> plain(runs).neverLate);

  /** Permanent demand is admitted at the rate. */
  public static final Law<Limiter.Maker> THROUGHPUT =
      new Law<>(
          "permanent demand gets the rate",
          "Ten minutes of permanent demand get at least 99 % of rate × time, or the rate ×"
              + " (ten minutes less the stated lateness) if that is less. This is checked if"
              + " the capacity holds the tokens that accrue during twice the lateness.",
          LimiterLaws::throughput);

  /** A claim for several tokens gets all of them or none. */
  public static final Law<Limiter.Maker> ALL_OR_NONE =
      new Law<>(
          "several tokens: all or none",
          "A claim for several tokens holds all of them or none, and is refused only if an"
              + " ideal bucket has too few as well. Of several concurrent callers at least"
              + " one is admitted if the tokens suffice for one.",
          runs -> plain(runs).allOrNone);

  /** A retune neither adds nor loses tokens. */
  public static final Law<Limiter.Maker> RETUNE_CONSERVES =
      new Law<>(
          "a retune conserves",
          "A change of terms keeps the tokens, up to the new capacity, and adds none.",
          LimiterLaws::retune);

  /** One tenant cannot slow another. */
  public static final Law<Limiter.Maker> NEIGHBOURS =
      new Law<>(
          "one tenant cannot slow another",
          "A tenant gets the same answers, at the same cost, whether or not another tenant"
              + " claims as fast as it can.",
          LimiterLaws::neighbours);

  /** All laws of token buckets. */
  public static final List<Law<Limiter.Maker>> ALL =
      List.of(
          NEVER_MORE,
          NEVER_LATE,
          THROUGHPUT,
          ALL_OR_NONE,
          CONSERVATION,
          REFUSAL_IS_FREE,
          RETRY_AFTER,
          RETUNE_CONSERVES,
          NEIGHBOURS);

  /** One history in this many is followed by permanent demand, because that takes long to run. */
  private static final long DEMANDS = 4;

  private static final Duration DEMAND = Duration.ofMinutes(10);
  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(250);

  private static final BiFunction<Limiter.Maker, History, Plain> PLAIN = Plain::new;

  private LimiterLaws() {}

  private static Plain plain(Law.Runs<Limiter.Maker> runs) {
    return runs.of(PLAIN);
  }

  private static LimiterRun run(
      Law.Runs<Limiter.Maker> runs, LimiterRun.Mode mode, LimiterRun.Observer... observers) {
    return new LimiterRun(runs.subject(), runs.history(), mode, observers);
  }

  /** What the laws find in one run in which callers do only what the history states. */
  private static final class Plain {
    private final CheckResult neverMore;
    private final CheckResult neverLate;
    private final CheckResult conservation;
    private final CheckResult refusals;
    private final CheckResult allOrNone;
    private final CheckResult retunes;
    private final CheckResult retryAfter;
    private final List<String> answers;
    private final CheckResult played;
    private long cost;

    Plain(Limiter.Maker maker, History history) {
      NeverMore most = new NeverMore();
      NeverLate least = new NeverLate(false);
      NeverLate leastOfSeveral = new NeverLate(true);
      Balance balance = new Balance();
      Refusals refused = new Refusals();
      Several several = new Several();
      Retunes retuned = new Retunes();
      RetryAfter waits = new RetryAfter();
      LimiterRun run =
          new LimiterRun(
              maker,
              history,
              LimiterRun.Mode.PLAIN,
              most,
              least,
              leastOfSeveral,
              balance,
              refused,
              several,
              retuned,
              waits);
      neverMore = run.result(most);
      neverLate = run.result(least);
      conservation = ifJudged(balance.judged, run.result(balance));
      refusals = run.result(refused);
      CheckResult all = ifJudged(several.judged, run.result(several));
      allOrNone = all instanceof CheckResult.Kept ? run.result(leastOfSeveral) : all;
      retunes = run.result(retuned);
      answers = List.copyOf(run.answers());
      played = run.then(end -> cost = end.cost());
      // At once, because a maker may have only one limiter at a time.
      if (run.result(waits) instanceof CheckResult.Kept) {
        run.then(RetryAfter::close);
      }
      retryAfter = run.result(waits);
    }
  }

  private static CheckResult ifJudged(boolean judged, CheckResult result) {
    return judged || result instanceof CheckResult.Broken ? result : new CheckResult.NotJudged();
  }

  /** Compares the spent tokens with {@link Allowance}. */
  private static final class NeverMore implements LimiterRun.Observer {
    private Optional<Allowance> allowance = Optional.empty();
    private Optional<Terms> current = Optional.empty();

    @Override
    public void opened(LimiterRun run) {
      allowance = Optional.of(new Allowance(run.terms(), run.now()));
    }

    @Override
    public void retuned(LimiterRun run) {
      allowance.orElseThrow().retune(run.terms(), run.now(), run.holding(), run.lastEnd());
      current = Optional.of(run.terms());
    }

    @Override
    public void spent(LimiterRun run, Lease.Spending spending, long tokens) {
      if (spending != Lease.Spending.SPENT) {
        return;
      }
      Allowance left = allowance.orElseThrow();
      left.spend(tokens, run.now());
      long explained = run.faultEffects().tokens();
      Violation.unless(
          left.excess() <= explained,
          "at most "
              + explained
              + " tokens, because of faults, beyond "
              + current.orElse(run.terms()),
          left.excess() + " beyond");
    }
  }

  /** Compares the limiter's counts with the events of the run. */
  private static final class Balance implements LimiterRun.Observer {
    private long spent;
    private long undecided;
    private FaultEffects faultEffects = FaultEffects.NONE;
    private long inFlight;
    private boolean judged;

    @Override
    public void spent(LimiterRun run, Lease.Spending spending, long tokens) {
      spent += spending == Lease.Spending.SPENT ? tokens : 0;
      undecided += spending == Lease.Spending.UNDECIDED ? tokens : 0;
    }

    @Override
    public void spentLease(LimiterRun run, Lease lease, Lease.Spending spending, boolean ended) {
      Violation.unless(
          !ended || spending != Lease.Spending.SPENT,
          "no spending after the lease has ended",
          spending);
    }

    @Override
    public void claimed(LimiterRun run, long tokens, List<Claim> answers) {
      check(run);
    }

    @Override
    public void givingBack(LimiterRun run) {
      faultEffects = run.faultEffects();
      inFlight = run.tokenCounts().map(TokenCounts::inFlight).orElse(0L);
    }

    @Override
    public void gaveBack(LimiterRun run, Lease lease, boolean ended) {
      check(run);
      run.tokenCounts()
          .ifPresent(
              counts ->
                  Violation.unless(
                      ended
                          || !faultEffects.equals(run.faultEffects())
                          || counts.inFlight() == inFlight - lease.tokens()
                          || (counts.expired() > 0 && counts.inFlight() <= inFlight),
                      "in flight after tokens were given back: " + (inFlight - lease.tokens()),
                      counts));
    }

    @Override
    public void stepped(LimiterRun run) {
      check(run);
      run.tokenCounts()
          .ifPresent(
              counts -> {
                Violation.unless(
                    counts.spent() >= spent && counts.spent() <= spent + undecided,
                    "spent: " + spent + (undecided > 0 ? " to " + (spent + undecided) : ""),
                    counts);
                Violation.unless(
                    !run.faultEffects().isNone()
                        || (counts.inFlight() <= run.holding()
                            && counts.inFlight() >= run.holding() - counts.expired()),
                    "in flight: " + run.holding() + " (tokens of open leases), less expired tokens",
                    counts);
              });
    }

    private void check(LimiterRun run) {
      run.tokenCounts()
          .ifPresent(
              counts -> {
                judged = true;
                Violation.unless(counts.balances(), "counts that balance", counts);
              });
    }
  }

  private static CheckResult refusal(Law.Runs<Limiter.Maker> runs) {
    CheckResult refusals = plain(runs).refusals;
    if (refusals instanceof CheckResult.Broken
        || plain(runs).neverLate instanceof CheckResult.Broken) {
      return refusals;
    }
    NeverLate least = new NeverLate(false);
    return run(runs, LimiterRun.Mode.EARLY_RETRIES, least).result(least);
  }

  private static CheckResult throughput(Law.Runs<Limiter.Maker> runs) {
    if (runs.history().seed() % DEMANDS > 0) {
      return new CheckResult.NotJudged();
    }
    boolean[] judged = {false};
    CheckResult result =
        run(runs, LimiterRun.Mode.PLAIN).then(run -> judged[0] = hasThroughput(run));
    return ifJudged(judged[0], result);
  }

  /** Checks the throughput. Returns false if the terms do not allow that. */
  private static boolean hasThroughput(LimiterRun run) {
    Terms terms = run.terms();
    Duration pause = clamp(terms.rate().timeOf(1).dividedBy(4));
    Duration late = terms.lateness().multipliedBy(2).plus(pause);
    Duration sure = least(DEMAND.multipliedBy(99).dividedBy(100), DEMAND.minus(terms.lateness()));
    long expected = terms.rate().tokensIn(sure) - 1;
    if (terms.capacity() <= terms.rate().tokensIn(late) || expected < 1) {
      return false;
    }
    run.stopFaults();
    run.drain();
    long admitted = run.demand(DEMAND, pause);
    Violation.unless(
        admitted >= expected,
        "at least " + expected + " tokens in " + DEMAND + " of permanent demand",
        admitted + " tokens");
    return true;
  }

  private static Duration clamp(Duration pause) {
    Duration max = least(pause, Duration.ofSeconds(5));
    return max.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : max;
  }

  private static Duration least(Duration first, Duration second) {
    return first.compareTo(second) < 0 ? first : second;
  }

  /** Compares the limiter's counts before and after a claim for several tokens. */
  private static final class Several implements LimiterRun.Observer {
    private Optional<TokenCounts> before = Optional.empty();
    private boolean judged;

    @Override
    public void claiming(LimiterRun run) {
      before = run.tokenCounts();
    }

    @Override
    public void claimed(LimiterRun run, long tokens, List<Claim> answers) {
      if (tokens == 1) {
        return;
      }
      judged = true;
      Optional<TokenCounts> after = run.tokenCounts();
      if (before.isEmpty() || after.isEmpty()) {
        return;
      }
      long leases =
          answers.stream()
              .filter(Claim.Admitted.class::isInstance)
              .filter(answer -> ((Claim.Admitted) answer).lease().isPresent())
              .count();
      long held = after.get().inFlight() - before.get().inFlight();
      Violation.unless(
          held == leases * tokens || !run.faultEffects().isNone(),
          leases + " claims for " + tokens + " tokens each to hold " + leases * tokens,
          held + " held");
    }
  }

  /** Compares the limiter's counts before and after a refusal. */
  private static final class Refusals implements LimiterRun.Observer {
    private Optional<TokenCounts> before = Optional.empty();
    private FaultEffects faultEffects = FaultEffects.NONE;

    @Override
    public void claiming(LimiterRun run) {
      before = run.tokenCounts();
      faultEffects = run.faultEffects();
    }

    @Override
    public void claimed(LimiterRun run, long tokens, List<Claim> answers) {
      Optional<TokenCounts> after = run.tokenCounts();
      if (!answers.stream().allMatch(Claim.Refused.class::isInstance)
          || before.isEmpty()
          || after.isEmpty()
          || !faultEffects.equals(run.faultEffects())) {
        return;
      }
      TokenCounts then = before.get();
      TokenCounts now = after.get();
      Violation.unless(
          now.spent() == then.spent()
              && now.inFlight() == then.inFlight()
              && now.held() - then.held()
                  == now.minted() - then.minted() - now.expired() + then.expired(),
          "a refusal that takes nothing from " + then,
          now);
    }
  }

  /** Compares the answers with those of a run with a busy neighbour. */
  private static CheckResult neighbours(Law.Runs<Limiter.Maker> runs) {
    Plain alone = plain(runs);
    if (alone.played instanceof CheckResult.Broken) {
      return new CheckResult.NotJudged();
    }
    return run(runs, LimiterRun.Mode.BUSY_NEIGHBOUR)
        .then(
            run -> {
              List<String> expected = alone.answers;
              for (int i = 0; i < expected.size(); i++) {
                String answer = i < run.answers().size() ? run.answers().get(i) : "no answer";
                Violation.unless(
                    expected.get(i).equals(answer),
                    "answer " + (i + 1) + ", as without a busy neighbour: " + expected.get(i),
                    answer);
              }
              Violation.unless(
                  alone.cost == run.cost(),
                  "cost " + alone.cost + ", as without a busy neighbour",
                  run.cost());
            });
  }

  /** Checks that retry times are short enough, and that a caller is admitted after them. */
  private static final class RetryAfter implements LimiterRun.Observer {
    private Instant settledAt = Instant.MIN;
    private long slack;

    @Override
    public void opened(LimiterRun run) {
      slack = run.terms().slack();
    }

    /** Tokens given in advance at the old rate are deducted at the new rate. */
    @Override
    public void retuned(LimiterRun run) {
      Terms terms = run.terms();
      Instant deducted = run.now().plus(terms.grain()).plus(terms.rate().timeOf(2 * slack + 1));
      settledAt = deducted.isAfter(settledAt) ? deducted : settledAt;
      slack = Math.max(slack, terms.slack());
    }

    @Override
    public void claimed(LimiterRun run, long tokens, List<Claim> answers) {
      Terms terms = run.terms();
      Instant lastFault = run.faultEffects().lastFaultAt();
      boolean isFair =
          lastFault.equals(Instant.MIN) || lastFault.plus(terms.grain()).isBefore(run.now());
      boolean isSettled = !run.now().isBefore(settledAt);
      Duration max =
          terms
              .rate()
              .timeOf(isSettled ? tokens : tokens + 2 * slack)
              .plus(isSettled && isFair ? terms.lateness() : terms.grain());
      for (Claim answer : answers) {
        if (answer instanceof Claim.Refused refused) {
          Violation.unless(
              !refused.retryAfter().isNegative() && refused.retryAfter().compareTo(max) <= 0,
              "a wait of at most " + max,
              refused);
        }
      }
    }

    @Override
    public void waited(
        LimiterRun run, Claim.Refused refused, Instant at, boolean alone, Claim then) {
      Instant lastFault = run.faultEffects().lastFaultAt();
      boolean isFair =
          !at.isBefore(settledAt)
              && (lastFault.equals(Instant.MIN)
                  || lastFault.plus(run.terms().grain()).isBefore(at));
      Violation.unless(
          then instanceof Claim.Admitted || !alone || !isFair,
          "admission after that time of the caller "
              + refused
              + " at "
              + Duration.between(Setting.START, at),
          then);
    }

    static void close(LimiterRun run) {
      run.stopFaults();
      for (int i = 0; i < 2; i++) {
        run.awaitRetry();
        Claim last = run.claim(Step.Use.SPENT);
        Violation.unless(
            !(last instanceof Claim.Undecided), "an answer after the last fault", last);
      }
    }
  }

  /**
   * Compares the tokens left after two runs, one of which ends with a retune. If the other leaves
   * none, nothing is compared: the bucket may have been mistaken for empty.
   */
  private static CheckResult retune(Law.Runs<Limiter.Maker> runs) {
    CheckResult result = plain(runs).retunes;
    if (result instanceof CheckResult.Broken) {
      return result;
    }
    long[] drained = {0};
    boolean[] judged = {false};
    CheckResult control =
        run(runs, LimiterRun.Mode.PLAIN)
            .then(
                run -> {
                  drained[0] = run.drain();
                  judged[0] = drained[0] > 0 && run.faultEffects().isNone();
                });
    if (control instanceof CheckResult.Broken || !judged[0]) {
      return new CheckResult.NotJudged();
    }
    Terms next = runs.subject().terms(new Random(~runs.history().seed()));
    CheckResult compared =
        run(runs, LimiterRun.Mode.PLAIN)
            .then(
                run -> {
                  Terms before = run.terms();
                  judged[0] = run.retune(next);
                  if (judged[0]) {
                    checkDrained(drained[0], run.drain(), run, before);
                  }
                });
    return judged[0] ? compared : new CheckResult.NotJudged();
  }

  private static void checkDrained(long before, long after, LimiterRun run, Terms earlier) {
    Terms next = run.terms();
    long least = Math.min(before, Math.max(0, next.capacity() - run.holding()));
    boolean atOnce = earlier.grain().isZero() && next.grain().isZero();
    long max = atOnce ? least : before;
    Violation.unless(
        after >= least && after <= max,
        "of " + before + " tokens, " + least + " to " + max + " after a retune to " + next,
        after + " tokens");
  }

  /** Compares the limiter's counts before and after a retune. */
  private static final class Retunes implements LimiterRun.Observer {
    private Optional<TokenCounts> before = Optional.empty();
    private FaultEffects faultEffects = FaultEffects.NONE;

    @Override
    public void retuning(LimiterRun run) {
      before = run.tokenCounts();
      faultEffects = run.faultEffects();
    }

    @Override
    public void retuned(LimiterRun run) {
      Optional<TokenCounts> after = run.tokenCounts();
      if (before.isEmpty() || after.isEmpty() || !faultEffects.equals(run.faultEffects())) {
        return;
      }
      TokenCounts then = before.get();
      TokenCounts now = after.get();
      long least = Math.min(then.held(), Math.max(0, run.terms().capacity() - then.inFlight()));
      Violation.unless(
          now.minted() == then.minted()
              && now.spent() == then.spent()
              && now.inFlight() == then.inFlight()
              && now.held() >= least,
          "a retune to " + run.terms() + " that leaves at least " + least + " held of " + then,
          now);
    }
  }
}
