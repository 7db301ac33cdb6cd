package dev.tollgate.lawbook;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;

/** The laws of lines. */
public final class LineLaws {
  /** No interval admits more than capacity + rate × time. */
  public static final Law<Line.Maker> NEVER_MORE =
      new Law<>(
          "a line admits never more than the bucket",
          "In every interval, at most capacity + rate × time callers are admitted, plus the"
              + " stated slack.",
          (maker, history) -> check(maker, history, LineLaws::neverMore));

  /** A caller that comes back when it was told is admitted. */
  public static final Law<Line.Maker> TOLD_IS_ADMITTED =
      new Law<>(
          "whoever comes when told is admitted",
          "A caller that comes back at its retry time, or within the grace after it, is admitted,"
              + " unless the rate was lowered in the meantime.",
          (maker, history) -> check(maker, history, LineLaws::toldIsAdmitted));

  /** No two callers are told the same slot. */
  public static final Law<Line.Maker> OWN_SLOTS =
      new Law<>(
          "no slot is given twice",
          "Two retry times are at least one token's time apart, unless the caller of the earlier"
              + " one may come back within two seconds, because tokens are due already.",
          (maker, history) -> check(maker, history, LineLaws::ownSlots));

  /** A caller passes others in line only with a token of somebody who did not come. */
  public static final Law<Line.Maker> NO_OVERTAKING =
      new Law<>(
          "nobody overtakes, except with the token of a no-show",
          "The callers that are admitted before others who wait, and before their own retry time,"
              + " are never more than the slots that passed unused, plus one for each time that"
              + " nobody waited before.",
          (maker, history) -> check(maker, history, LineLaws::noOvertaking));

  /** Every caller that keeps coming when told is admitted. */
  public static final Law<Line.Maker> EVERYBODY_IN =
      new Law<>(
          "everybody who waits is admitted",
          "Every caller that comes back when told is admitted in the time in which the bucket"
              + " gets twice as many tokens as there are callers, plus ten minutes.",
          (maker, history) -> check(maker, history, LineLaws::everybodyIn));

  /** The tokens of callers that do not come back are used. */
  public static final Law<Line.Maker> NO_WASTE =
      new Law<>(
          "tokens of no-shows are used",
          "Under permanent demand, with three no-shows among ten callers, twenty minutes admit at"
              + " least 95 % of the tokens. This is checked if the bucket holds the tokens of a"
              + " minute and of twice the grace.",
          LineLaws::noWaste);

  /** All laws of lines. */
  public static final List<Law<Line.Maker>> ALL =
      List.of(NEVER_MORE, TOLD_IS_ADMITTED, OWN_SLOTS, NO_OVERTAKING, EVERYBODY_IN, NO_WASTE);

  /** One history in this many is followed by permanent demand, because that takes long to run. */
  private static final long DEMANDS = 4;

  private static final Duration DEMAND = Duration.ofMinutes(20);

  /** A refused caller may come back this soon if a token is due already. */
  private static final Duration AT_ONCE = Duration.ofSeconds(2);

  /** Retry times are rounded to whole milliseconds. */
  private static final Duration ROUNDING = Duration.ofMillis(1);

  private LineLaws() {}

  private static CheckResult check(Line.Maker maker, History history, Consumer<LineRun> law) {
    LineRun run = new LineRun(maker, history.seed());
    return run.checked(
        () -> {
          run.all(history.steps());
          run.finish();
          law.accept(run);
        });
  }

  private static void neverMore(LineRun run) {
    Allowance allowance = new Allowance(run.ideal(run.terms().rate()), Setting.START);
    for (LineRun.Event event : run.events()) {
      if (event instanceof LineRun.Retuned retuned) {
        allowance.retune(run.ideal(retuned.rate()), retuned.at());
      } else if (event instanceof LineRun.Asked asked && asked.answer() instanceof Line.Admitted) {
        allowance.spend(1, asked.at());
        Violation.unless(
            allowance.excess() == 0,
            "at most capacity + rate × time of " + run.terms(),
            allowance.excess() + " beyond at " + asked);
      }
    }
  }

  private static void toldIsAdmitted(LineRun run) {
    for (LineRun.Promise promise : run.promises()) {
      for (LineRun.Asked asked : promise.caller().asked()) {
        boolean isInTime =
            asked.at().isAfter(promise.told())
                && !asked.at().isBefore(promise.retryAt())
                && !asked.at().isAfter(promise.retryAt().plus(run.grace()));
        Violation.unless(
            !isInTime || promise.isVoid() || !(asked.answer() instanceof Line.Refused),
            promise.caller() + " admitted at " + asked.at() + ", told " + promise.retryAt(),
            asked.answer());
      }
    }
  }

  private static void ownSlots(LineRun run) {
    List<LineRun.Promise> slots =
        run.promises().stream()
            .filter(promise -> !promise.isVoid())
            .sorted(Comparator.comparing(LineRun.Promise::retryAt))
            .toList();
    Duration apart = run.fastest().timeOf(1).minus(ROUNDING);
    for (int i = 1; i < slots.size(); i++) {
      LineRun.Promise first = slots.get(i - 1);
      LineRun.Promise second = slots.get(i);
      Duration between = Duration.between(first.retryAt(), second.retryAt());
      Violation.unless(
          isAtOnce(first) || between.compareTo(apart) >= 0,
          "a slot " + apart + " after that of " + first + " or later",
          second);
    }
  }

  /** Whether this slot was told before {@code asked}, while nobody else had one. */
  private static boolean begins(LineRun run, LineRun.Promise first, LineRun.Asked asked) {
    return first.told().isBefore(asked.at())
        && run.promises().stream()
            .filter(other -> other.told().isBefore(first.told()))
            .noneMatch(other -> other.retryAt().plus(run.terms().grace()).isAfter(first.told()));
  }

  private static boolean isAtOnce(LineRun.Promise promise) {
    return !promise.told().plus(AT_ONCE).isBefore(promise.retryAt());
  }

  private static void noOvertaking(LineRun run) {
    if (run.wasRetuned()) {
      return;
    }
    Set<LineRun.Promise> unused = new HashSet<>(run.promises());
    long early = 0;
    for (LineRun.Event event : run.events()) {
      if (!(event instanceof LineRun.Asked asked) || !(asked.answer() instanceof Line.Admitted)) {
        continue;
      }
      boolean passes =
          run.promises().stream()
              .anyMatch(promise -> promise.isOutstandingFor(asked.caller(), asked.at()));
      boolean ownSlotHasCome =
          unused.removeIf(
              promise ->
                  promise.caller().equals(asked.caller())
                      && !promise.retryAt().isAfter(asked.at())
                      && !promise.retryAt().plus(run.terms().grace()).isBefore(asked.at()));
      if (!passes || ownSlotHasCome) {
        continue;
      }
      early++;
      long lapsed =
          unused.stream()
              .filter(promise -> promise.retryAt().plus(run.terms().grace()).isBefore(asked.at()))
              .count();
      long beginnings = run.promises().stream().filter(first -> begins(run, first, asked)).count();
      Violation.unless(
          early <= lapsed + beginnings,
          "at most "
              + (lapsed + beginnings)
              + " callers admitted early, because as many slots passed unused",
          early + " at " + asked);
    }
  }

  private static void everybodyIn(LineRun run) {
    for (LineRun.Caller caller : run.callers()) {
      Violation.unless(
          !caller.isPolite() || caller.wasAdmitted(), caller + " admitted", caller.asked());
    }
  }

  private static CheckResult noWaste(Line.Maker maker, History history) {
    LineRun run = new LineRun(maker, history.seed());
    Line.Terms terms = run.terms();
    long needed = terms.rate().tokensIn(Duration.ofMinutes(1).plus(terms.grace().multipliedBy(2)));
    long expected = terms.rate().tokensIn(DEMAND.multipliedBy(95).dividedBy(100));
    if (history.seed() % DEMANDS > 0 || terms.capacity() < needed || expected < 20) {
      return new CheckResult.NotJudged();
    }
    return run.checked(
        () -> {
          run.drain();
          long before = run.admitted();
          run.demand(new Random(history.seed()), DEMAND);
          Violation.unless(
              run.admitted() - before >= expected,
              "at least " + expected + " admitted in " + DEMAND + ", " + terms,
              run.admitted() - before);
        });
  }
}
