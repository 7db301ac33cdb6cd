package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The laws of message processors whose senders may send a message again. */
public final class ProcessorLaws {
  /** A repeated message is not processed again. */
  public static final Law<Processor.Maker> NEVER_TWICE =
      new Law<>(
          "no message is processed twice",
          "A message that was processed is not processed again within the next five minutes, "
              + "however often it is sent.",
          runs -> play(runs, true, run -> {}));

  /** A message that its sender repeats is processed in the end. */
  public static final Law<Processor.Maker> NEVER_LOST =
      new Law<>(
          "no message is lost",
          "After the last fault, a message that its sender repeats at the retry time is"
              + " processed within a minute.",
          runs -> play(runs, false, Run::checkAllProcessed));

  /** All laws of message processors. */
  public static final List<Law<Processor.Maker>> ALL = List.of(NEVER_TWICE, NEVER_LOST);

  /** The time limit for processing a message that is not throttled. */
  private static final Duration SOON = Duration.ofMinutes(1);

  /** How long after the last fault redeliveries may still arrive. */
  private static final Duration CALM = Duration.ofMinutes(2);

  /** How often a sender that waits for the retry time may be throttled. */
  private static final int REFUSALS = 3;

  private ProcessorLaws() {}

  private interface End {
    void of(Run run);
  }

  private static CheckResult play(Law.Runs<Processor.Maker> runs, boolean once, End end) {
    Run run = new Run(runs.subject(), runs.history().seed(), once);
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

  /** A processor during a history, and what was sent to it. */
  private static final class Run {
    private final Setting setting;
    private final Processor processor;
    private final boolean once;
    private final List<String> sent = new ArrayList<>();
    private final Map<String, Long> processed = new HashMap<>();
    private final Map<String, Instant> lastProcessed = new HashMap<>();
    private int step;

    Run(Processor.Maker maker, long seed, boolean once) {
      setting = new Setting(seed);
      processor = maker.make(setting);
      this.once = once;
    }

    void perform(Step next) {
      if (next instanceof Step.Wait wait) {
        wait(wait.time());
      } else if (next instanceof Step.Send some) {
        for (int i = 0; i < some.count(); i++) {
          sent.add("m" + sent.size());
          send(sent.get(sent.size() - 1));
        }
      } else if (next instanceof Step.SendAgain again && !sent.isEmpty()) {
        send(sent.get(again.which() % sent.size()));
      }
    }

    private Processor.Answer send(String name) {
      Processor.Answer answer = processor.send(name);
      recordProcessed();
      return answer;
    }

    /** Records what was processed since the last call. */
    private void recordProcessed() {
      for (String name : sent) {
        long times = processor.processed(name) - processed.getOrDefault(name, 0L);
        if (times > 0) {
          Optional<Instant> last = Optional.ofNullable(lastProcessed.put(name, setting.now()));
          processed.merge(name, times, Long::sum);
          boolean known = last.filter(this::isKnown).isPresent();
          Violation.unless(
              !(once && (known || times > 1)), name + " processed once", "it was processed again");
        }
      }
    }

    /** Whether a message that was processed at that time must not be processed again yet. */
    private boolean isKnown(Instant processedAt) {
      return setting.now().isBefore(processedAt.plus(Processor.KNOWN_FOR));
    }

    private void checkAllProcessed() {
      setting.stopFaults();
      wait(CALM);
      sent.forEach(this::checkProcessed);
    }

    private void checkProcessed(String name) {
      for (int refusals = 0; processor.processed(name) == 0; refusals++) {
        Violation.unless(
            refusals <= REFUSALS, name + " processed after its retry times", "throttled again");
        if (send(name) instanceof Processor.Throttled refused) {
          wait(refused.retryAfter());
        } else {
          wait(SOON);
          Violation.unless(
              processor.processed(name) > 0, name + " processed within " + SOON, "it was lost");
        }
      }
    }

    private void wait(Duration time) {
      Instant until = setting.now().plus(time);
      Optional<Instant> timer = processor.nextTimer();
      while (timer.isPresent() && !timer.get().isAfter(until)) {
        setting.set(timer.get().isAfter(setting.now()) ? timer.get() : setting.now());
        processor.passedTo(setting.now());
        recordProcessed();
        timer = processor.nextTimer();
      }
      setting.set(until);
      processor.passedTo(until);
      recordProcessed();
    }
  }
}
