package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

/** The laws of token buckets. */
public final class LimiterLaws {
  /** Never more than capacity and rate × time. */
  public static final Law<Limiter.Maker> NEVER_MORE =
      new Law<>(
          "never more than capacity + rate × time",
          "In no time, however short or long, are more tokens spent than the capacity, what the rate"
              + " brings in that time, the stated slack, and one for each that an injected fault made.",
          (maker, history) -> Play.of(maker, history, new NeverMore()));

  /** Nothing is made, and nothing vanishes. */
  public static final Law<Limiter.Maker> CONSERVATION =
      new Law<>(
          "minted = spent + expired + held + in flight",
          "At every step the books balance, tell as spent what was spent and as in flight what is"
              + " held; what is given back can be had again at once, and a lease that has ended"
              + " cannot be spent.",
          LimiterLaws::conservation);

  /** A refusal costs nothing. */
  public static final Law<Limiter.Maker> REFUSAL_IS_FREE =
      new Law<>(
          "a refusal costs nothing",
          "A claim that is refused takes no token, and makes none come later: whoever insists, by"
              + " claiming again before it is time, gets then the same answers as if he had not.",
          LimiterLaws::refusal);

  /** Whoever waits alone as told is admitted. */
  public static final Law<Limiter.Maker> RETRY_AFTER =
      new Law<>(
          "whoever alone waits Retry-After is admitted",
          "A refusal tells a wait no longer than a token takes to come, and the stated grain; whoever"
              + " claims alone after just that wait, and no fault struck meanwhile, is admitted. When"
              + " nothing goes wrong any more, that is always so.",
          (maker, history) ->
              Play.of(maker, history, Play.Manner.PLAIN, new RetryAfter(), RetryAfter::close));

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
      List.of(NEVER_MORE, CONSERVATION, REFUSAL_IS_FREE, RETRY_AFTER, RETUNE_CONSERVES, NEIGHBOURS);

  private LimiterLaws() {}

  /** What is admitted, held against an ideal bucket. */
  private static final class NeverMore implements Witness {
    private Optional<Allowance> allowance = Optional.empty();
    private Optional<Terms> was = Optional.empty();

    @Override
    public void opened(Play play) {
      allowance = Optional.of(new Allowance(play.terms(), play.now()));
    }

    @Override
    public void retuned(Play play) {
      allowance.orElseThrow().retune(play.terms(), play.now(), play.holding(), play.lastEnd());
      was = Optional.of(play.terms());
    }

    @Override
    public void spent(Play play, Lease.Spending spending) {
      if (spending != Lease.Spending.SPENT) {
        return;
      }
      Allowance left = allowance.orElseThrow();
      left.spend(1, play.now());
      long excused = play.excuse().tokens();
      Broke.unless(
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
    Finding books = Play.of(maker, history, balance);
    if (books instanceof Finding.Broken) {
      return books;
    }
    Finding twins =
        twins(
            maker,
            history,
            play -> tryOne(play, Step.Use.SPENT),
            play -> tryOne(play, Step.Use.GIVEN_BACK),
            (drained, after, play, terms) ->
                Broke.unless(
                    after >= Math.min(drained + 1, terms.capacity()),
                    "one that is given back to be had again: "
                        + Math.min(drained + 1, terms.capacity())
                        + " claims admitted after",
                    after + " admitted"));
    return balance.judged && twins instanceof Finding.NotJudged ? books : twins;
  }

  private static boolean tryOne(Play play, Step.Use use) {
    return play.claim(use) instanceof Claim.Admitted admitted && admitted.lease().isPresent();
  }

  /** What the books say, held against what was done. */
  private static final class Balance implements Witness {
    private long spent;
    private long doubtful;
    private Excuse excuse = Excuse.NONE;
    private long inFlight;
    private boolean judged;

    @Override
    public void spent(Play play, Lease.Spending spending) {
      spent += spending == Lease.Spending.SPENT ? 1 : 0;
      doubtful += spending == Lease.Spending.UNDECIDED ? 1 : 0;
    }

    @Override
    public void spentLease(Play play, Lease.Spending spending, boolean ended) {
      Broke.unless(
          !ended || spending != Lease.Spending.SPENT,
          "a token whose lease has ended not to be spent",
          spending);
    }

    @Override
    public void claimed(Play play, Claim claim) {
      check(play);
    }

    @Override
    public void givingBack(Play play) {
      excuse = play.excuse();
      inFlight = play.books().map(Books::inFlight).orElse(0L);
    }

    @Override
    public void gaveBack(Play play, boolean ended) {
      check(play);
      play.books()
          .ifPresent(
              books ->
                  Broke.unless(
                      ended
                          || !excuse.equals(play.excuse())
                          || books.inFlight() == inFlight - 1
                          || (books.expired() > 0 && books.inFlight() <= inFlight),
                      "a token that is given back to be in flight no more: " + (inFlight - 1),
                      books));
    }

    @Override
    public void stepped(Play play) {
      check(play);
      play.books()
          .ifPresent(
              books -> {
                Broke.unless(
                    books.spent() >= spent && books.spent() <= spent + doubtful,
                    "spent: " + spent + (doubtful > 0 ? " to " + (spent + doubtful) : ""),
                    books);
                Broke.unless(
                    !play.excuse().isNone()
                        || (books.inFlight() <= play.holding()
                            && books.inFlight() >= play.holding() - books.expired()),
                    "in flight: "
                        + play.holding()
                        + ", for so many leases have not ended, but for expired ones",
                    books);
              });
    }

    private void check(Play play) {
      play.books()
          .ifPresent(
              books -> {
                judged = true;
                Broke.unless(books.balance(), "books that balance", "not so: " + books);
              });
    }
  }

  private static Finding refusal(Limiter.Maker maker, History history) {
    Finding books = Play.of(maker, history, new Refusals());
    if (books instanceof Finding.Broken) {
      return books;
    }
    return compare(maker, history, Play.Manner.INSISTENT, "insisting", false, books);
  }

  /** The books before and after a refusal. */
  private static final class Refusals implements Witness {
    private Optional<Books> before = Optional.empty();
    private Excuse excuse = Excuse.NONE;

    @Override
    public void claiming(Play play) {
      before = play.books();
      excuse = play.excuse();
    }

    @Override
    public void claimed(Play play, Claim claim) {
      Optional<Books> after = play.books();
      if (!(claim instanceof Claim.Refused)
          || before.isEmpty()
          || after.isEmpty()
          || !excuse.equals(play.excuse())) {
        return;
      }
      Books then = before.get();
      Books now = after.get();
      Broke.unless(
          now.spent() == then.spent()
              && now.inFlight() == then.inFlight()
              && now.held() - then.held()
                  == now.minted() - then.minted() - now.expired() + then.expired(),
          "a refusal to take nothing from " + then,
          now);
    }
  }

  private static Finding neighbours(Limiter.Maker maker, History history) {
    return compare(
        maker, history, Play.Manner.BESIDE_A_STORM, "beside a storm", true, new Finding.Kept());
  }

  /** Plays a history in two manners, and compares what each claim came to. */
  private static Finding compare(
      Limiter.Maker maker,
      History history,
      Play.Manner manner,
      String name,
      boolean inAllWeather,
      Finding otherwise) {
    Play[] plays = new Play[2];
    Finding plain =
        Play.of(maker, history, Play.Manner.PLAIN, new Witness() {}, play -> plays[0] = play);
    AtomicBoolean judged = new AtomicBoolean(true);
    Finding other =
        Play.of(
            maker,
            history,
            manner,
            new Witness() {},
            play -> {
              plays[1] = play;
              Play alone = plays[0];
              boolean fair = alone.excuse().isNone() && play.excuse().isNone();
              if (play.gotMore() || !(fair || inAllWeather)) {
                judged.set(false);
                return;
              }
              List<String> expected = alone.answers();
              for (int i = 0; i < expected.size(); i++) {
                if (alone.isGift(i) && !inAllWeather) {
                  return;
                }
                String answer = i < play.answers().size() ? play.answers().get(i) : "nothing more";
                Broke.unless(
                    expected.get(i).equals(answer),
                    "answer " + (i + 1) + " to be the same " + name + ": " + expected.get(i),
                    answer);
              }
              Broke.unless(
                  !inAllWeather || alone.cost() == play.cost(),
                  "the same cost " + name + ": " + alone.cost(),
                  play.cost());
            });
    if (plain instanceof Finding.Broken || !judged.get()) {
      return otherwise;
    }
    return other;
  }

  /** Refusals tell a time that is not too long, and hold it. */
  private static final class RetryAfter implements Witness {
    private boolean alone;

    @Override
    public void claimed(Play play, Claim claim) {
      if (claim instanceof Claim.Refused refused) {
        Duration most = play.terms().rate().timeOf(1).plus(play.terms().grain());
        Broke.unless(
            !refused.retryAfter().isNegative() && refused.retryAfter().compareTo(most) <= 0,
            "a wait of at most " + most,
            refused);
        alone = play.holding() == 0;
      }
    }

    @Override
    public void waited(Play play, Claim.Refused refused, Instant at, Claim then) {
      Instant struck = play.excuse().struckAt();
      boolean isFair = struck.equals(Instant.MIN) || struck.plus(play.terms().grain()).isBefore(at);
      Broke.unless(
          then instanceof Claim.Admitted || !alone || !isFair,
          "whoever was "
              + refused
              + ", at "
              + Duration.between(Setting.START, at)
              + ", to be admitted then",
          then);
    }

    static void close(Play play) {
      play.calm();
      for (int i = 0; i < 2; i++) {
        play.vigil();
        Claim last = play.claim(Step.Use.SPENT);
        Broke.unless(
            !(last instanceof Claim.Undecided),
            "an answer, when nothing goes wrong any more",
            last);
      }
    }
  }

  private static Finding retune(Limiter.Maker maker, History history) {
    Finding books = Play.of(maker, history, new Retunes());
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
          Broke.unless(
              after >= least && after <= most,
              "of " + drained + " tokens, " + least + " to " + most + " after a retune to " + next,
              after + " tokens");
        });
  }

  /** The books before and after a retune. */
  private static final class Retunes implements Witness {
    private Optional<Books> before = Optional.empty();
    private Excuse excuse = Excuse.NONE;

    @Override
    public void retuning(Play play) {
      before = play.books();
      excuse = play.excuse();
    }

    @Override
    public void retuned(Play play) {
      Optional<Books> after = play.books();
      if (before.isEmpty() || after.isEmpty() || !excuse.equals(play.excuse())) {
        return;
      }
      Books then = before.get();
      Books now = after.get();
      long least = Math.min(then.held(), Math.max(0, play.terms().capacity() - then.inFlight()));
      Broke.unless(
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
    void check(long drained, long after, Play play, Terms before);
  }

  /**
   * Plays a history twice, does something else after each, and compares how many tokens there are
   * then. A bucket that has none at first may only be thought to be empty, and tells nothing.
   */
  private static Finding twins(
      Limiter.Maker maker,
      History history,
      Predicate<Play> one,
      Predicate<Play> other,
      Comparison comparison) {
    long[] drained = {0};
    boolean[] judged = {false};
    Finding first =
        Play.of(
            maker,
            history,
            Play.Manner.PLAIN,
            new Witness() {},
            play -> {
              judged[0] = one.test(play);
              drained[0] = play.drain();
              judged[0] &= drained[0] > 0 && play.excuse().isNone();
            });
    if (first instanceof Finding.Broken || !judged[0]) {
      return new Finding.NotJudged();
    }
    Finding second =
        Play.of(
            maker,
            history,
            Play.Manner.PLAIN,
            new Witness() {},
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
