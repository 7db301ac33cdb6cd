package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Predicate;

/** The laws of token buckets. */
public final class LimiterLaws {
  /** Never more than capacity and rate × time. */
  public static final Law<Limiter.Maker> NEVER_MORE =
      new Law<>(
          "never more than capacity + rate × time",
          "In no time, however short or long, are more tokens spent than the capacity, what the rate"
              + " brings in that time, the stated slack, and one for each that an injected fault made.",
          (maker, history) -> LimiterRun.of(maker, history, new NeverMore()));

  /** Nothing is made, and nothing vanishes. */
  public static final Law<Limiter.Maker> CONSERVATION =
      new Law<>(
          "minted = spent + expired + held + in flight",
          "At every step the books balance, tell as spent what was spent and as in flight what is"
              + " held; a lease that has ended cannot be spent.",
          LimiterLaws::conservation);

  /** A refusal costs nothing. */
  public static final Law<Limiter.Maker> REFUSAL_IS_FREE =
      new Law<>(
          "a refusal costs nothing",
          "A claim that is refused takes no token, and makes none come later: a caller that insists,"
              + " by claiming again before it is time, is not refused for longer.",
          LimiterLaws::refusal);

  /** Whoever waits alone as told is admitted. */
  public static final Law<Limiter.Maker> RETRY_AFTER =
      new Law<>(
          "whoever alone waits Retry-After is admitted",
          "A refusal tells a wait no longer than the tokens take to come, and the stated lateness;"
              + " whoever claims alone after just that wait, and no fault struck nor the terms"
              + " changed meanwhile, is admitted.",
          (maker, history) ->
              LimiterRun.of(
                  maker, history, LimiterRun.Mode.PLAIN, new RetryAfter(), RetryAfter::close));

  /** Never later than an ideal bucket and the stated lateness. */
  public static final Law<Limiter.Maker> NEVER_LATE =
      new Law<>(
          "a token comes no later than stated",
          "A claim is refused only while an ideal bucket, whose tokens come as late as the terms"
              + " state, has no token either. A token that is given back, or whose lease ends, can be"
              + " had again within a second. Once the grain has passed after a fault, the bucket is"
              + " as good as one that was drained then.",
          (maker, history) -> LimiterRun.of(maker, history, new NeverLate(false)));

  /** Demand gets the rate. */
  public static final Law<Limiter.Maker> THROUGHPUT =
      new Law<>(
          "permanent demand gets the rate",
          "Ten minutes of permanent demand are given at least 99 % of what the rate brings, or what"
              + " it brings in ten minutes less the stated lateness; whatever the capacity, if that"
              + " holds what comes while a token is late.",
          LimiterLaws::throughput);

  /** Several tokens at once. */
  public static final Law<Limiter.Maker> ALL_OR_NONE =
      new Law<>(
          "several tokens: all or none",
          "A claim for several tokens holds all of them or none, and is refused only while an ideal"
              + " bucket lacks them too. If it fits, one of several callers at least is granted.",
          LimiterLaws::allOrNone);

  /** A retune conserves. */
  public static final Law<Limiter.Maker> RETUNE_CONSERVES =
      new Law<>(
          "a retune conserves",
          "After a change of terms there is what there was before, as far as the new capacity holds"
              + " that: nothing is forgotten and nothing made.",
          LimiterLaws::retune);

  /** One tenant cannot slow another. */
  public static final Law<Limiter.Maker> NEIGHBOURS =
      new Law<>(
          "one tenant cannot slow another",
          "A tenant gets the same answers, at the same cost, whether or not another claims beside it"
              + " as fast as can be.",
          LimiterLaws::neighbours);

  /** All of them. */
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

  /** One of so many histories is followed by permanent demand, which takes long to play. */
  private static final long DEMANDS = 4;

  private static final Duration DEMAND = Duration.ofMinutes(10);
  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(250);

  private LimiterLaws() {}

  /** What is admitted, held against an ideal bucket. */
  private static final class NeverMore implements RunObserver {
    private Optional<Allowance> allowance = Optional.empty();
    private Optional<Terms> was = Optional.empty();

    @Override
    public void opened(LimiterRun play) {
      allowance = Optional.of(new Allowance(play.terms(), play.now()));
    }

    @Override
    public void retuned(LimiterRun play) {
      allowance.orElseThrow().retune(play.terms(), play.now(), play.holding(), play.lastEnd());
      was = Optional.of(play.terms());
    }

    @Override
    public void spent(LimiterRun play, Lease.Spending spending, long tokens) {
      if (spending != Lease.Spending.SPENT) {
        return;
      }
      Allowance left = allowance.orElseThrow();
      left.spend(tokens, play.now());
      long excused = play.excuse().tokens();
      Violation.unless(
          left.excess() <= excused,
          "at most "
              + excused
              + " more than "
              + was.orElse(play.terms())
              + " allow: "
              + excused
              + " for faults",
          left.excess() + " more");
    }
  }

  private static Finding conservation(Limiter.Maker maker, History history) {
    Balance balance = new Balance();
    Finding books = LimiterRun.of(maker, history, balance);
    return books instanceof Finding.Broken || balance.judged ? books : new Finding.NotJudged();
  }

  /** What the books say, held against what was done. */
  private static final class Balance implements RunObserver {
    private long spent;
    private long doubtful;
    private Excuse excuse = Excuse.NONE;
    private long inFlight;
    private boolean judged;

    @Override
    public void spent(LimiterRun play, Lease.Spending spending, long tokens) {
      spent += spending == Lease.Spending.SPENT ? tokens : 0;
      doubtful += spending == Lease.Spending.UNDECIDED ? tokens : 0;
    }

    @Override
    public void spentLease(LimiterRun play, Lease lease, Lease.Spending spending, boolean ended) {
      Violation.unless(
          !ended || spending != Lease.Spending.SPENT,
          "a token whose lease has ended not to be spent",
          spending);
    }

    @Override
    public void claimed(LimiterRun play, long tokens, List<Claim> answers) {
      check(play);
    }

    @Override
    public void givingBack(LimiterRun play) {
      excuse = play.excuse();
      inFlight = play.tokenCounts().map(TokenCounts::inFlight).orElse(0L);
    }

    @Override
    public void gaveBack(LimiterRun play, Lease lease, boolean ended) {
      check(play);
      play.tokenCounts()
          .ifPresent(
              books ->
                  Violation.unless(
                      ended
                          || !excuse.equals(play.excuse())
                          || books.inFlight() == inFlight - lease.tokens()
                          || (books.expired() > 0 && books.inFlight() <= inFlight),
                      "tokens that are given back to be in flight no more: "
                          + (inFlight - lease.tokens()),
                      books));
    }

    @Override
    public void stepped(LimiterRun play) {
      check(play);
      play.tokenCounts()
          .ifPresent(
              books -> {
                Violation.unless(
                    books.spent() >= spent && books.spent() <= spent + doubtful,
                    "spent: " + spent + (doubtful > 0 ? " to " + (spent + doubtful) : ""),
                    books);
                Violation.unless(
                    !play.excuse().isNone()
                        || (books.inFlight() <= play.holding()
                            && books.inFlight() >= play.holding() - books.expired()),
                    "in flight: "
                        + play.holding()
                        + ", for so many leases have not ended, but for expired ones",
                    books);
              });
    }

    private void check(LimiterRun play) {
      play.tokenCounts()
          .ifPresent(
              books -> {
                judged = true;
                Violation.unless(books.balances(), "books that balance", "not so: " + books);
              });
    }
  }

  private static Finding refusal(Limiter.Maker maker, History history) {
    Finding books = LimiterRun.of(maker, history, new Refusals());
    if (books instanceof Finding.Broken) {
      return books;
    }
    Finding plain = LimiterRun.of(maker, history, new NeverLate(false));
    return plain instanceof Finding.Broken
        ? books
        : LimiterRun.of(
            maker, history, LimiterRun.Mode.EARLY_RETRIES, new NeverLate(false), play -> {});
  }

  private static Finding throughput(Limiter.Maker maker, History history) {
    boolean[] judged = {false};
    Finding finding =
        history.seed() % DEMANDS > 0
            ? new Finding.NotJudged()
            : LimiterRun.of(
                maker,
                history,
                LimiterRun.Mode.PLAIN,
                new RunObserver() {},
                play -> judged[0] = hasThroughput(play));
    return finding instanceof Finding.Broken || judged[0] ? finding : new Finding.NotJudged();
  }

  /** Returns whether that can be judged. */
  private static boolean hasThroughput(LimiterRun play) {
    Terms terms = play.terms();
    Duration pause = clamp(terms.rate().timeOf(1).dividedBy(4));
    Duration late = terms.lateness().multipliedBy(2).plus(pause);
    Duration sure = least(DEMAND.multipliedBy(99).dividedBy(100), DEMAND.minus(terms.lateness()));
    long expected = terms.rate().tokensIn(sure) - 1;
    if (terms.capacity() <= terms.rate().tokensIn(late) || expected < 1) {
      return false;
    }
    play.stopFaults();
    play.drain();
    long admitted = play.demand(DEMAND, pause);
    Violation.unless(
        admitted >= expected,
        "at least " + expected + " tokens in " + DEMAND + " of permanent demand",
        admitted + " tokens");
    return true;
  }

  private static Duration clamp(Duration pause) {
    Duration most = least(pause, Duration.ofSeconds(5));
    return most.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : most;
  }

  private static Duration least(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  private static Finding allOrNone(Limiter.Maker maker, History history) {
    Several several = new Several();
    Finding books = LimiterRun.of(maker, history, several);
    if (books instanceof Finding.Broken || !several.judged) {
      return books instanceof Finding.Broken ? books : new Finding.NotJudged();
    }
    return LimiterRun.of(maker, history, new NeverLate(true));
  }

  /** The books before and after a claim for several tokens. */
  private static final class Several implements RunObserver {
    private Optional<TokenCounts> before = Optional.empty();
    private boolean judged;

    @Override
    public void claiming(LimiterRun play) {
      before = play.tokenCounts();
    }

    @Override
    public void claimed(LimiterRun play, long tokens, List<Claim> answers) {
      if (tokens == 1) {
        return;
      }
      judged = true;
      Optional<TokenCounts> after = play.tokenCounts();
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
          held == leases * tokens || !play.excuse().isNone(),
          leases + " claims for " + tokens + " tokens each to hold " + leases * tokens,
          held + " held");
    }
  }

  /** The books before and after a refusal. */
  private static final class Refusals implements RunObserver {
    private Optional<TokenCounts> before = Optional.empty();
    private Excuse excuse = Excuse.NONE;

    @Override
    public void claiming(LimiterRun play) {
      before = play.tokenCounts();
      excuse = play.excuse();
    }

    @Override
    public void claimed(LimiterRun play, long tokens, List<Claim> answers) {
      Optional<TokenCounts> after = play.tokenCounts();
      if (!answers.stream().allMatch(Claim.Refused.class::isInstance)
          || before.isEmpty()
          || after.isEmpty()
          || !excuse.equals(play.excuse())) {
        return;
      }
      TokenCounts then = before.get();
      TokenCounts now = after.get();
      Violation.unless(
          now.spent() == then.spent()
              && now.inFlight() == then.inFlight()
              && now.held() - then.held()
                  == now.minted() - then.minted() - now.expired() + then.expired(),
          "a refusal to take nothing from " + then,
          now);
    }
  }

  /** Plays a history alone and beside a storm, and compares what each claim came to. */
  private static Finding neighbours(Limiter.Maker maker, History history) {
    LimiterRun[] plays = new LimiterRun[1];
    Finding plain =
        LimiterRun.of(
            maker, history, LimiterRun.Mode.PLAIN, new RunObserver() {}, play -> plays[0] = play);
    if (plain instanceof Finding.Broken) {
      return new Finding.NotJudged();
    }
    LimiterRun alone = plays[0];
    return LimiterRun.of(
        maker,
        history,
        LimiterRun.Mode.BUSY_NEIGHBOUR,
        new RunObserver() {},
        play -> {
          List<String> expected = alone.answers();
          for (int i = 0; i < expected.size(); i++) {
            String answer = i < play.answers().size() ? play.answers().get(i) : "nothing more";
            Violation.unless(
                expected.get(i).equals(answer),
                "answer " + (i + 1) + " to be the same beside a storm: " + expected.get(i),
                answer);
          }
          Violation.unless(
              alone.cost() == play.cost(),
              "the same cost beside a storm: " + alone.cost(),
              play.cost());
        });
  }

  /** Refusals tell a time that is not too long, and hold it. */
  private static final class RetryAfter implements RunObserver {
    private Instant settledAt = Instant.MIN;
    private long slack;

    @Override
    public void opened(LimiterRun play) {
      slack = play.terms().slack();
    }

    /** What was given ahead at the old rate is set off against the new one. */
    @Override
    public void retuned(LimiterRun play) {
      Terms terms = play.terms();
      Instant setOff = play.now().plus(terms.grain()).plus(terms.rate().timeOf(2 * slack + 1));
      settledAt = setOff.isAfter(settledAt) ? setOff : settledAt;
      slack = Math.max(slack, terms.slack());
    }

    @Override
    public void claimed(LimiterRun play, long tokens, List<Claim> answers) {
      Terms terms = play.terms();
      Instant struck = play.excuse().struckAt();
      boolean isFair =
          struck.equals(Instant.MIN) || struck.plus(terms.grain()).isBefore(play.now());
      boolean isSettled = !play.now().isBefore(settledAt);
      Duration most =
          terms
              .rate()
              .timeOf(isSettled ? tokens : tokens + 2 * slack)
              .plus(isSettled && isFair ? terms.lateness() : terms.grain());
      for (Claim answer : answers) {
        if (answer instanceof Claim.Refused refused) {
          Violation.unless(
              !refused.retryAfter().isNegative() && refused.retryAfter().compareTo(most) <= 0,
              "a wait of at most " + most,
              refused);
        }
      }
    }

    @Override
    public void waited(
        LimiterRun play, Claim.Refused refused, Instant at, boolean alone, Claim then) {
      Instant struck = play.excuse().struckAt();
      boolean isFair =
          !at.isBefore(settledAt)
              && (struck.equals(Instant.MIN) || struck.plus(play.terms().grain()).isBefore(at));
      Violation.unless(
          then instanceof Claim.Admitted || !alone || !isFair,
          "whoever was "
              + refused
              + ", at "
              + Duration.between(Setting.START, at)
              + ", to be admitted then",
          then);
    }

    static void close(LimiterRun play) {
      play.stopFaults();
      for (int i = 0; i < 2; i++) {
        play.awaitRetry();
        Claim last = play.claim(Step.Use.SPENT);
        Violation.unless(
            !(last instanceof Claim.Undecided),
            "an answer, when nothing goes wrong any more",
            last);
      }
    }
  }

  private static Finding retune(Limiter.Maker maker, History history) {
    Finding books = LimiterRun.of(maker, history, new Retunes());
    if (books instanceof Finding.Broken) {
      return books;
    }
    Terms next = maker.terms(new Random(~history.seed()));
    return twins(
        maker,
        history,
        play -> true,
        play -> play.retune(next),
        (drained, after, play, before) -> {
          long least = Math.min(drained, Math.max(0, next.capacity() - play.holding()));
          boolean atOnce = before.grain().isZero() && next.grain().isZero();
          long most = atOnce ? least : drained;
          Violation.unless(
              after >= least && after <= most,
              "of " + drained + " tokens, " + least + " to " + most + " after a retune to " + next,
              after + " tokens");
        });
  }

  /** The books before and after a retune. */
  private static final class Retunes implements RunObserver {
    private Optional<TokenCounts> before = Optional.empty();
    private Excuse excuse = Excuse.NONE;

    @Override
    public void retuning(LimiterRun play) {
      before = play.tokenCounts();
      excuse = play.excuse();
    }

    @Override
    public void retuned(LimiterRun play) {
      Optional<TokenCounts> after = play.tokenCounts();
      if (before.isEmpty() || after.isEmpty() || !excuse.equals(play.excuse())) {
        return;
      }
      TokenCounts then = before.get();
      TokenCounts now = after.get();
      long least = Math.min(then.held(), Math.max(0, play.terms().capacity() - then.inFlight()));
      Violation.unless(
          now.minted() == then.minted()
              && now.spent() == then.spent()
              && now.inFlight() == then.inFlight()
              && now.held() >= least,
          "a retune to " + play.terms() + " to leave at least " + least + " held of " + then,
          now);
    }
  }

  /** What is compared of two plays. */
  private interface Comparison {
    void check(long drained, long after, LimiterRun play, Terms before);
  }

  /**
   * Plays a history twice, does something else after each, and compares how many tokens there are
   * then. A bucket that has none at first may only be thought to be empty, and tells nothing.
   */
  private static Finding twins(
      Limiter.Maker maker,
      History history,
      Predicate<LimiterRun> one,
      Predicate<LimiterRun> other,
      Comparison comparison) {
    long[] drained = {0};
    boolean[] judged = {false};
    Finding first =
        LimiterRun.of(
            maker,
            history,
            LimiterRun.Mode.PLAIN,
            new RunObserver() {},
            play -> {
              judged[0] = one.test(play);
              drained[0] = play.drain();
              judged[0] &= drained[0] > 0 && play.excuse().isNone();
            });
    if (first instanceof Finding.Broken || !judged[0]) {
      return new Finding.NotJudged();
    }
    Finding second =
        LimiterRun.of(
            maker,
            history,
            LimiterRun.Mode.PLAIN,
            new RunObserver() {},
            play -> {
              Terms before = play.terms();
              judged[0] = other.test(play);
              if (judged[0]) {
                comparison.check(drained[0], play.drain(), play, before);
              }
            });
    return judged[0] ? second : new Finding.NotJudged();
  }
}
