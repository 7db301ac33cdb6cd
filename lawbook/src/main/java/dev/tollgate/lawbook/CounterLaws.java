package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** The laws of counters. */
public final class CounterLaws {
  /** A count is never below zero. */
  public static final Law<Counter.Maker> NEVER_NEGATIVE =
      new Law<>(
          "counts are never negative",
          "The count is never below zero, even if the same close is reported several times.",
          runs -> play(runs, CounterLaws::neverNegative, run -> {}));

  /** The limit is never exceeded. */
  public static final Law<Counter.Maker> NEVER_MORE_OPEN =
      new Law<>(
          "never more open than allowed",
          "The number of open items never exceeds the limit.",
          runs -> play(runs, CounterLaws::neverMore, run -> {}));

  /** A wrong count is repaired. */
  public static final Law<Counter.Maker> HEALS =
      new Law<>(
          "counts heal",
          "The count is right again within the stated time after the last fault, provided"
              + " that clients have tried every place since.",
          runs -> play(runs, run -> {}, Run::healsAtRest));

  /** A wrong count is repaired while items open and close. */
  public static final Law<Counter.Maker> HEALS_UNDER_TRAFFIC =
      new Law<>(
          "counts heal under traffic",
          "While items open and close and clients try every place, the count is right within"
              + " the stated time after the last fault, and nothing is refused while a place"
              + " is free.",
          runs -> play(runs, run -> {}, Run::healsUnderTraffic));

  /** All laws of counters. */
  public static final List<Law<Counter.Maker>> ALL =
      List.of(NEVER_NEGATIVE, NEVER_MORE_OPEN, HEALS, HEALS_UNDER_TRAFFIC);

  /** The time between two changes. */
  private static final Duration BEAT = Duration.ofMillis(250);

  /** How long the count is observed after it has healed. */
  private static final Duration WATCHED = Duration.ofSeconds(20);

  private CounterLaws() {}

  private interface Check {
    void of(Run run);
  }

  private static void neverNegative(Run run) {
    long count = run.counter.count();
    Violation.unless(count >= 0, "0 or more counted", count);
  }

  private static void neverMore(Run run) {
    Violation.unless(
        run.open.size() <= run.terms.max(),
        "at most " + run.terms.max() + " open",
        run.open.size() + " open");
  }

  private static CheckResult play(Law.Runs<Counter.Maker> runs, Check check, Check end) {
    Run run = new Run(runs.subject(), runs.history().seed());
    return Violation.checked(
        () -> {
          for (Step next : runs.history().steps()) {
            run.step++;
            run.perform(next);
            check.of(run);
          }
          run.step++;
          end.of(run);
        },
        () -> run.step,
        run.setting::now);
  }

  /** A counter during a history, and the items that are really open. */
  private static final class Run {
    private final Setting setting;
    private final Counter.Terms terms;
    private final Counter counter;
    private final List<String> open = new ArrayList<>();
    private final List<String> closed = new ArrayList<>();
    private int opened;
    private int step;

    Run(Counter.Maker maker, long seed) {
      setting = new Setting(seed);
      terms = maker.terms(History.terms(seed));
      counter = maker.make(setting, terms);
    }

    private void perform(Step next) {
      if (next instanceof Step.Wait wait) {
        wait(wait.time());
      } else if (next instanceof Step.Open some) {
        for (int i = 0; i < some.count(); i++) {
          open("id-" + opened++);
        }
      } else if (next instanceof Step.Close close && !open.isEmpty()) {
        close(open.remove(close.which() % open.size()), close.reports());
      } else if (next instanceof Step.CloseUnknown unknown) {
        counter.closed(closed.isEmpty() ? "never" : closed.get(unknown.which() % closed.size()));
      } else if (next instanceof Step.CloseAll) {
        List.copyOf(open).forEach(id -> close(id, 0));
        open.clear();
      }
    }

    private void open(String id) {
      if (counter.open(id) == Counter.Opening.OPEN) {
        open.add(id);
      } else {
        counter.vanished(id);
      }
    }

    private void close(String id, int reports) {
      closed.add(id);
      counter.vanished(id);
      for (int i = 0; i < reports; i++) {
        counter.closed(id);
      }
    }

    private void healsAtRest() {
      setting.stopFaults();
      fill();
      wait(terms.heals());
      checkCount();
    }

    private void healsUnderTraffic() {
      setting.stopFaults();
      Random random = new Random(setting.seed());
      Instant healed = setting.now().plus(terms.heals());
      while (setting.now().isBefore(healed)) {
        change(random);
        wait(BEAT);
      }
      Instant watched = setting.now().plus(WATCHED);
      while (setting.now().isBefore(watched)) {
        change(random);
        Violation.unless(
            open.size() == terms.max(), "all " + terms.max() + " places taken", open.size());
        checkCount();
        wait(BEAT);
      }
    }

    /** Closes some items, and opens others in their places. */
    private void change(Random random) {
      for (int i = random.nextInt(3); i >= 0 && !open.isEmpty(); i--) {
        close(open.remove(random.nextInt(open.size())), 1);
      }
      fill();
    }

    /** Opens items until the limit is reached or one is refused. */
    private void fill() {
      int before = -1;
      while (open.size() < terms.max() && open.size() > before) {
        before = open.size();
        open("id-" + opened++);
      }
    }

    private void checkCount() {
      long count = counter.count();
      Violation.unless(
          count == open.size(),
          open.size() + " counted, " + terms.heals() + " after the last fault",
          count);
    }

    private void wait(Duration time) {
      Instant until = setting.now().plus(time);
      Optional<Instant> timer = counter.nextTimer();
      while (timer.isPresent() && !timer.get().isAfter(until)) {
        setting.set(timer.get().isAfter(setting.now()) ? timer.get() : setting.now());
        counter.passedTo(setting.now());
        timer = counter.nextTimer();
      }
      setting.set(until);
      counter.passedTo(until);
    }
  }
}
