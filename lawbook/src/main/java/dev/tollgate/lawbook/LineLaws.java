package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/** The laws of lines. */
public final class LineLaws {
  /** No interval admits more than capacity + rate × time. */
  public static final Law<Line.Maker> NEVER_MORE =
      new Law<>(
          "a line admits never more than the bucket",
          "In every interval, at most capacity + rate × time callers are admitted, plus the"
              + " stated slack.",
          runs -> check(runs, LineLaws::neverMore));

  /** A caller that comes back when it was told is admitted. */
  public static final Law<Line.Maker> TOLD_IS_ADMITTED =
      new Law<>(
          "whoever comes when told is admitted",
          "A caller that comes back at its retry time, or within the grace after it, is admitted,"
              + " unless the rate was lowered in the meantime. Each fault may delay each caller"
              + " once.",
          runs -> check(runs, LineLaws::toldIsAdmitted));

  /** No two callers are told the same slot. */
  public static final Law<Line.Maker> OWN_SLOTS =
      new Law<>(
          "no slot is given twice",
          "Two retry times are at least one token's time apart, unless the caller of the earlier"
              + " one may come back within two seconds, because tokens are due already. This is"
              + " checked in histories without faults.",
          runs -> check(runs, LineLaws::ownSlots));

  /** A caller passes others in line only with a token of somebody who did not come. */
  public static final Law<Line.Maker> NO_OVERTAKING =
      new Law<>(
          "nobody overtakes, except with the token of a no-show",
          "The callers that are admitted before others who wait, and before their own retry time,"
              + " are never more than the slots that passed unused, plus one for each fault, and"
              + " one for each time that nobody waited before.",
          runs -> check(runs, LineLaws::noOvertaking));

  /** Every caller that keeps coming when told is admitted. */
  public static final Law<Line.Maker> EVERYBODY_IN =
      new Law<>(
          "everybody who waits is admitted",
          "Every caller that comes back when told is admitted in the time in which the bucket"
              + " gets twice as many tokens as there are callers, plus ten minutes.",
          runs -> check(runs, LineLaws::everybodyIn));

  /** The tokens of callers that do not come back are used. */
  public static final Law<Line.Maker> NO_WASTE =
      new Law<>(
          "tokens of no-shows are used",
          "Under permanent demand, with three no-shows among ten callers, twenty minutes admit at"
              + " least 95 % of the tokens, less one for each fault.",
          runs -> noWaste(runs.subject(), runs.history()));

  /** All laws of lines. */
  public static final List<Law<Line.Maker>> ALL =
      List.of(NEVER_MORE, TOLD_IS_ADMITTED, OWN_SLOTS, NO_OVERTAKING, EVERYBODY_IN, NO_WASTE);

  /** One history in this many is followed by permanent demand, because that takes long to run. */
  private static final long DEMANDS = 4;

  private static final Duration DEMAND = Duration.ofMinutes(20);

  /** A refused caller may come back this soon if a token is due already. */
  private static final Duration AT_ONCE = Duration.ofSeconds(2);

  /** A caller may be admitted this long before its retry time, because clocks differ. */
  private static final Duration EARLY = Duration.ofMillis(250);

  /** Retry times are rounded to whole milliseconds. */
  private static final Duration ROUNDING = Duration.ofMillis(1);

  /** The run of all steps, after which all polite callers should have been admitted. */
  private static final BiFunction<Line.Maker, History, Run> WHOLE = Run::whole;

  private LineLaws() {}

  private static CheckResult check(Law.Runs<Line.Maker> runs, Consumer<Run> law) {
    Run run = runs.of(WHOLE);
    return run.played instanceof CheckResult.Kept ? run.checked(() -> law.accept(run)) : run.played;
  }

  private static void neverMore(Run run) {
    Allowance allowance = new Allowance(run.ideal(run.terms().rate()), Setting.START);
    for (Run.Event event : run.events()) {
      if (event instanceof Run.Retuned retuned) {
        allowance.retune(run.ideal(retuned.rate()), retuned.at());
      } else if (event instanceof Run.Asked asked && asked.answer() instanceof Line.Admitted) {
        allowance.spend(1, asked.at());
        Violation.unless(
            allowance.excess() == 0,
            "at most capacity + rate × time of " + run.terms(),
            allowance.excess() + " beyond at " + asked);
      }
    }
  }

  private static void toldIsAdmitted(Run run) {
    for (Run.Caller caller : run.callers()) {
      List<Run.Promise> broken =
          caller.promises().stream().filter(promise -> isBroken(run, promise)).toList();
      Violation.unless(
          broken.size() <= run.faults(),
          caller
              + " refused when told to come, at most once for each of "
              + run.faults()
              + " faults",
          broken);
    }
  }

  private static boolean isBroken(Run run, Run.Promise promise) {
    Instant end = promise.retryAt().plus(run.terms().grace());
    Instant after = promise.told().plusNanos(1);
    Instant from = promise.retryAt().isAfter(after) ? promise.retryAt() : after;
    return !promise.isVoid()
        && Optional.ofNullable(promise.caller().refused.ceiling(from))
            .filter(refused -> !refused.isAfter(end))
            .isPresent();
  }

  private static void ownSlots(Run run) {
    if (run.faults() > 0) {
      return;
    }
    List<Run.Promise> slots =
        run.promises().stream()
            .filter(promise -> !promise.isVoid())
            .sorted(Comparator.comparing(Run.Promise::retryAt))
            .toList();
    Duration apart = run.fastest().timeOf(1).minus(ROUNDING);
    for (int i = 1; i < slots.size(); i++) {
      Run.Promise first = slots.get(i - 1);
      Run.Promise second = slots.get(i);
      Duration between = Duration.between(first.retryAt(), second.retryAt());
      Violation.unless(
          isAtOnce(first) || between.compareTo(apart) >= 0,
          "a slot " + apart + " after that of " + first + " or later",
          second);
    }
  }

  /** Whether this slot was told while nobody else had one. */
  private static boolean begins(Run run, Run.Promise first) {
    return run.promises().stream()
        .filter(other -> other.told().isBefore(first.told()))
        .noneMatch(other -> other.retryAt().plus(run.terms().grace()).isAfter(first.told()));
  }

  private static boolean isAtOnce(Run.Promise promise) {
    return !promise.told().plus(AT_ONCE).isBefore(promise.retryAt());
  }

  private static void noOvertaking(Run run) {
    if (run.wasRetuned()) {
      return;
    }
    Set<Run.Promise> unused = new HashSet<>(run.promises());
    List<Run.Promise> begun = run.promises().stream().filter(one -> begins(run, one)).toList();
    long early = 0;
    for (Run.Event event : run.events()) {
      if (!(event instanceof Run.Asked asked) || !(asked.answer() instanceof Line.Admitted)) {
        continue;
      }
      List<Run.Promise> come =
          asked.caller().promises().stream()
              .filter(promise -> !promise.retryAt().isAfter(asked.at().plus(EARLY)))
              .filter(promise -> !promise.retryAt().plus(run.terms().grace()).isBefore(asked.at()))
              .toList();
      boolean ownSlotHasCome = unused.removeAll(come);
      if (ownSlotHasCome
          || run.promises().stream()
              .noneMatch(promise -> promise.isOutstandingFor(asked.caller(), asked.at()))) {
        continue;
      }
      early++;
      long lapsed =
          unused.stream()
              .filter(promise -> promise.retryAt().plus(run.terms().grace()).isBefore(asked.at()))
              .count();
      long beginnings = begun.stream().filter(one -> one.told().isBefore(asked.at())).count();
      Violation.unless(
          early <= lapsed + beginnings + run.faults(),
          "at most "
              + (lapsed + beginnings + run.faults())
              + " callers admitted early, because as many slots passed unused",
          early + " at " + asked);
    }
  }

  private static void everybodyIn(Run run) {
    for (Run.Caller caller : run.callers()) {
      Violation.unless(
          !caller.isPolite() || caller.wasAdmitted(), caller + " admitted", caller.asked());
    }
  }

  private static CheckResult noWaste(Line.Maker maker, History history) {
    Run run = new Run(maker, history.seed());
    Line.Terms terms = run.terms();
    long expected = terms.rate().tokensIn(DEMAND.multipliedBy(95).dividedBy(100));
    if (history.seed() % DEMANDS > 0 || expected < 20) {
      return new CheckResult.NotJudged();
    }
    return run.checked(
        () -> {
          run.drain();
          long before = run.admitted();
          run.demand(new Random(history.seed()), DEMAND);
          long lost = run.faults();
          Violation.unless(
              run.admitted() - before >= expected - lost,
              "at least " + (expected - lost) + " admitted in " + DEMAND + ", " + terms,
              run.admitted() - before);
        });
  }

  /** Runs a history against a line, with callers of all manners, and records what happens. */
  private static final class Run {
    /** A client waits for whole seconds (RFC 9110, 10.2.3), and then its request takes a while. */
    private static final int LONGEST_REQUEST_MILLIS = 300;

    private static final int LONGEST_DELAY_MILLIS = 60_000;

    private final Setting setting;
    private final Line line;
    private final Line.Terms terms;
    private final Random random;
    private final PriorityQueue<Return> returns = new PriorityQueue<>();
    private final List<Caller> callers = new ArrayList<>();
    private final List<Event> events = new ArrayList<>();
    private final List<Promise> promises = new ArrayList<>();
    private Instant disturbedUntil = Setting.START;
    private Rate rate;
    private Rate fastest;
    private CheckResult played = new CheckResult.NotJudged();
    private long order;
    private int step;

    Run(Line.Maker maker, long seed) {
      this.setting = new Setting(seed);
      this.terms = maker.terms(History.terms(seed));
      this.line = maker.make(setting, terms);
      this.random = new Random(seed);
      this.rate = terms.rate();
      this.fastest = terms.rate();
    }

    static Run whole(Line.Maker maker, History history) {
      Run run = new Run(maker, history.seed());
      run.played =
          run.checked(
              () -> {
                run.all(history.steps());
                run.finish();
              });
      return run;
    }

    /** What happened. */
    sealed interface Event {}

    /** A caller claimed a token. */
    record Asked(Instant at, Caller caller, Line.Answer answer) implements Event {}

    /** The rate was changed. */
    record Retuned(Instant at, Rate rate) implements Event {}

    /** A caller comes again. */
    private record Return(Instant at, long order, Caller caller) implements Comparable<Return> {
      @Override
      public int compareTo(Return other) {
        int byTime = at.compareTo(other.at);
        return byTime != 0 ? byTime : Long.compare(order, other.order);
      }
    }

    /** A caller that wants one token. */
    static final class Caller {
      private final String name;
      private final Step.Manners manners;
      private final List<Asked> asked = new ArrayList<>();
      private final TreeSet<Instant> refused = new TreeSet<>();
      private final List<Promise> promises = new ArrayList<>();
      private Optional<Instant> admittedAt = Optional.empty();

      Caller(String name, Step.Manners manners) {
        this.name = name;
        this.manners = manners;
      }

      List<Asked> asked() {
        return asked;
      }

      List<Promise> promises() {
        return promises;
      }

      private boolean isTold(Instant retryAt) {
        return !promises.isEmpty()
            && Duration.between(promises.get(promises.size() - 1).retryAt, retryAt)
                    .abs()
                    .compareTo(ROUNDING)
                <= 0;
      }

      boolean isPolite() {
        return manners == Step.Manners.POLITE;
      }

      boolean wasAdmitted() {
        return admittedAt.isPresent();
      }

      @Override
      public String toString() {
        return manners + " " + name;
      }
    }

    /** A retry time that a caller was told. */
    static final class Promise {
      private final Caller caller;
      private final Instant told;
      private final Instant retryAt;
      private boolean isVoid;

      Promise(Caller caller, Instant told, Instant retryAt) {
        this.caller = caller;
        this.told = told;
        this.retryAt = retryAt;
      }

      Caller caller() {
        return caller;
      }

      Instant told() {
        return told;
      }

      Instant retryAt() {
        return retryAt;
      }

      /** Whether the rate was lowered while it, or an earlier promise, was open. */
      boolean isVoid() {
        return isVoid;
      }

      /** Whether another caller than {@code one} waits for this time at {@code now}. */
      boolean isOutstandingFor(Caller one, Instant now) {
        return !caller.equals(one)
            && told.isBefore(now)
            && retryAt.isAfter(now)
            && caller.admittedAt.filter(at -> !at.isAfter(now)).isEmpty();
      }

      @Override
      public String toString() {
        return caller + " at " + retryAt;
      }
    }

    /** Runs a check and returns its result. */
    CheckResult checked(Runnable check) {
      return Violation.checked(check, () -> step, setting::now);
    }

    void all(List<Step> steps) {
      for (Step next : steps) {
        step++;
        if (next instanceof Step.Wait wait) {
          pass(wait.time());
        } else if (next instanceof Step.Arrive arrive) {
          for (int i = 0; i < arrive.count(); i++) {
            arrive(arrive.manners(), Duration.ofMillis(random.nextLong(arrive.within() + 1)));
          }
        } else if (next instanceof Step.RetuneLine retune) {
          retune(retune.rate());
        }
      }
      step++;
    }

    private void retune(Rate next) {
      line.retune(next);
      boolean isLower = next.timeOf(1).compareTo(rate.timeOf(1)) > 0;
      if (isLower) {
        promises.forEach(this::disturb);
      }
      fastest = next.timeOf(1).compareTo(fastest.timeOf(1)) < 0 ? next : fastest;
      rate = next;
      events.add(new Retuned(setting.now(), next));
    }

    /** Voids a promise. While its caller may still come, later promises are void as well. */
    private void disturb(Promise promise) {
      promise.isVoid = true;
      Instant end = promise.retryAt.plus(terms.grace());
      disturbedUntil = end.isAfter(disturbedUntil) ? end : disturbedUntil;
    }

    /** A caller that comes after {@code time}. */
    private void arrive(Step.Manners manners, Duration time) {
      Caller caller = new Caller("caller " + callers.size(), manners);
      callers.add(caller);
      comeAfter(caller, time);
    }

    private void comeAfter(Caller caller, Duration time) {
      returns.add(new Return(setting.now().plus(time), order++, caller));
    }

    /** Stops the faults and lets time pass until all polite callers should have been admitted. */
    void finish() {
      setting.stopFaults();
      Rate slowest =
          events.stream()
              .filter(Retuned.class::isInstance)
              .map(event -> ((Retuned) event).rate())
              .reduce(terms.rate(), (one, two) -> slower(one, two));
      pass(slowest.timeOf(2L * callers.size()).plus(Duration.ofMinutes(10)));
    }

    private static Rate slower(Rate one, Rate two) {
      return one.timeOf(1).compareTo(two.timeOf(1)) > 0 ? one : two;
    }

    /** Takes all tokens of the bucket. */
    void drain() {
      for (int i = 0; i <= 2 * terms.capacity(); i++) {
        Caller caller = new Caller("drain " + i, Step.Manners.NO_SHOW);
        callers.add(caller);
        ask(caller);
        if (!caller.wasAdmitted()) {
          return;
        }
      }
    }

    /** Lets new callers come at twice the rate, three of ten of which never come back. */
    void demand(Random any, Duration time) {
      Instant end = setting.now().plus(time);
      Duration pause = terms.rate().timeOf(1).dividedBy(2);
      while (setting.now().isBefore(end)) {
        arrive(any.nextInt(10) < 3 ? Step.Manners.NO_SHOW : Step.Manners.POLITE, Duration.ZERO);
        pass(pause);
      }
    }

    private void pass(Duration time) {
      Instant end = setting.now().plus(time);
      while (!returns.isEmpty() && !returns.peek().at().isAfter(end)) {
        Return next = returns.remove();
        passTo(next.at());
        ask(next.caller());
      }
      passTo(end);
    }

    private void passTo(Instant until) {
      Optional<Instant> timer = line.nextTimer();
      while (timer.isPresent() && !timer.get().isAfter(until)) {
        setting.set(timer.get().isAfter(setting.now()) ? timer.get() : setting.now());
        line.passedTo(setting.now());
        timer = line.nextTimer();
      }
      setting.set(until);
      line.passedTo(until);
    }

    private void ask(Caller caller) {
      Instant now = setting.now();
      Asked asked = new Asked(now, caller, line.claim(caller.name));
      caller.asked.add(asked);
      events.add(asked);
      if (asked.answer() instanceof Line.Admitted) {
        caller.admittedAt = Optional.of(now);
      }
      if (asked.answer() instanceof Line.Refused refused) {
        caller.refused.add(now);
        if (!caller.isTold(refused.retryAt())) {
          Promise promise = new Promise(caller, now, refused.retryAt());
          caller.promises.add(promise);
          promise.isVoid = now.isBefore(disturbedUntil);
          promises.add(promise);
        }
        comeBack(caller, Duration.between(now, refused.retryAt()));
      } else if (asked.answer() instanceof Line.Unanswered) {
        comeBack(caller, Duration.ofSeconds(1));
      }
    }

    private void comeBack(Caller caller, Duration told) {
      long seconds = Math.max(1, told.plusMillis(999).toSeconds());
      Duration polite =
          Duration.ofSeconds(seconds).plusMillis(random.nextInt(LONGEST_REQUEST_MILLIS));
      switch (caller.manners) {
        case POLITE -> comeAfter(caller, polite);
        case LATE -> comeAfter(caller, polite.plusMillis(random.nextInt(LONGEST_DELAY_MILLIS)));
        case IMPOLITE -> comeAfter(caller, Duration.ofMillis(500 + random.nextInt(1_500)));
        case NO_SHOW -> {}
      }
    }

    Line.Terms terms() {
      return terms;
    }

    /** Terms of an ideal bucket with this rate. */
    Terms ideal(Rate some) {
      return new Terms(some, terms.capacity(), terms.slack(), Duration.ofMinutes(1));
    }

    /** The fastest rate so far. */
    Rate fastest() {
      return fastest;
    }

    boolean wasRetuned() {
      return events.stream().anyMatch(Retuned.class::isInstance);
    }

    List<Event> events() {
      return events;
    }

    List<Promise> promises() {
      return promises;
    }

    List<Caller> callers() {
      return callers;
    }

    /** How many faults have struck so far. */
    long faults() {
      return line.faults();
    }

    long admitted() {
      return callers.stream().filter(Caller::wasAdmitted).count();
    }
  }
}
