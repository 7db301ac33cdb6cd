package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;

/** Runs a history against a line, with callers of all manners, and records what happens. */
final class LineRun {
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
  private long order;
  private int step;

  LineRun(Line.Maker maker, long seed) {
    this.setting = new Setting(seed);
    this.terms = maker.terms(History.terms(seed));
    this.line = maker.make(setting, terms);
    this.random = new Random(seed);
    this.rate = terms.rate();
    this.fastest = terms.rate();
  }

  /** What happened. */
  sealed interface Event {
    /** When it happened. */
    Instant at();
  }

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
    private Optional<Promise> promise = Optional.empty();

    Caller(String name, Step.Manners manners) {
      this.name = name;
      this.manners = manners;
    }

    List<Asked> asked() {
      return asked;
    }

    boolean isPolite() {
      return manners == Step.Manners.POLITE;
    }

    boolean wasAdmitted() {
      return asked.stream().anyMatch(one -> one.answer() instanceof Line.Admitted);
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
          && caller.asked.stream()
              .noneMatch(
                  asked -> asked.answer() instanceof Line.Admitted && !asked.at().isAfter(now));
    }

    @Override
    public String toString() {
      return caller + " at " + retryAt;
    }
  }

  /** Runs a check and returns its result. */
  CheckResult checked(Runnable check) {
    try {
      check.run();
      return new CheckResult.Kept();
    } catch (Violation broke) {
      return new CheckResult.Broken(step, sinceStart(), broke.expected(), broke.happened());
    } catch (RuntimeException thrown) {
      return new CheckResult.Broken(
          step, sinceStart(), "an answer despite faults", thrown.toString());
    }
  }

  private Duration sinceStart() {
    return Duration.between(Setting.START, setting.now());
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
    if (asked.answer() instanceof Line.Refused refused) {
      if (caller.promise.filter(known -> known.retryAt.equals(refused.retryAt())).isEmpty()) {
        Promise promise = new Promise(caller, now, refused.retryAt());
        caller.promise = Optional.of(promise);
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

  /** The grace at the fastest rate so far: a bucket that empties faster cannot wait as long. */
  Duration grace() {
    double faster = (double) fastest.timeOf(1).toNanos() / terms.rate().timeOf(1).toNanos();
    return Duration.ofMillis((long) (terms.grace().toMillis() * faster));
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

  long admitted() {
    return callers.stream().filter(Caller::wasAdmitted).count();
  }
}
