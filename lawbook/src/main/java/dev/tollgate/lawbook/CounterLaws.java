package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The laws of what is counted absolutely. */
public final class CounterLaws {
  /** Never below zero. */
  public static final Law<Counter.Maker> NEVER_NEGATIVE =
      new Law<>(
          "counts are never negative",
          "Whatever closes, and however often that is told, no less than none is counted.",
          (maker, history) -> play(maker, history, CounterLaws::neverNegative, false));

  /** Never more open than may be. */
  public static final Law<Counter.Maker> NEVER_MORE_OPEN =
      new Law<>(
          "never more open than may be",
          "At no time are more open than the terms say.",
          (maker, history) -> play(maker, history, CounterLaws::neverMore, false));

  /** Counts heal. */
  public static final Law<Counter.Maker> HEALS =
      new Law<>(
          "counts heal",
          "When nothing has gone wrong for as long as the terms say, the count is how many are open.",
          (maker, history) -> play(maker, history, run -> {}, true));

  /** All of them. */
  public static final List<Law<Counter.Maker>> ALL =
      List.of(NEVER_NEGATIVE, NEVER_MORE_OPEN, HEALS);

  private CounterLaws() {}

  private interface Check {
    void of(Run run);
  }

  private static void neverNegative(Run run) {
    long count = run.counter.count();
    Broke.unless(count >= 0, "0 or more counted", count);
  }

  private static void neverMore(Run run) {
    Broke.unless(
        run.open.size() <= run.terms.most(),
        "at most " + run.terms.most() + " open",
        run.open.size() + " open");
  }

  private static Finding play(Counter.Maker maker, History history, Check check, boolean mustHeal) {
    Run run = new Run(maker, history.seed());
    try {
      for (Step next : history.steps()) {
        run.step++;
        run.perform(next);
        check.of(run);
      }
      run.step++;
      if (mustHeal) {
        run.setting.calm();
        run.wait(run.terms.heals());
        long count = run.counter.count();
        Broke.unless(
            count == run.open.size(),
            run.open.size() + " counted, " + run.terms.heals() + " after anything went wrong",
            count);
      }
      return new Finding.Kept();
    } catch (Broke broke) {
      return new Finding.Broken(
          run.step,
          Duration.between(Setting.START, run.setting.now()),
          broke.expected(),
          broke.happened());
    } catch (RuntimeException thrown) {
      return new Finding.Broken(
          run.step,
          Duration.between(Setting.START, run.setting.now()),
          "an answer, whatever goes wrong",
          thrown.toString());
    }
  }

  /** What counts, going through a history, and what is truly open. */
  private static final class Run {
    private final Setting setting;
    private final Counter.Terms terms;
    private final Counter counter;
    private final List<String> open = new ArrayList<>();
    private final List<String> gone = new ArrayList<>();
    private int made;
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
          open("id-" + made++);
        }
      } else if (next instanceof Step.Close close && !open.isEmpty()) {
        close(open.remove(close.which() % open.size()), close.told());
      } else if (next instanceof Step.CloseUnknown unknown) {
        counter.closed(gone.isEmpty() ? "never" : gone.get(unknown.which() % gone.size()));
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

    private void close(String id, int told) {
      gone.add(id);
      counter.vanished(id);
      for (int i = 0; i < told; i++) {
        counter.closed(id);
      }
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
