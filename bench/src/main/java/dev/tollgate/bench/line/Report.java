package dev.tollgate.bench.line;

import dev.tollgate.bench.Times;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** A Markdown table of the figures of runs, and whether they keep their goals. */
final class Report {
  /** How many more refusals than the least are within the goal: 72 of 60. */
  private static final int REFUSALS_PERCENT = 120;

  private static final int MOST_REFUSALS = 2;
  private static final Duration LATENESS = Duration.ofSeconds(15);
  private static final int USED_PERCENT = 95;

  private static final List<String> HEADER =
      List.of(
          "| run | clients | attempts | refusals (least) | most for one | all in after (ideal) | wait: median, 95 %, longest | overtaken | goals |",
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- |");

  private final List<String> lines = new ArrayList<>(HEADER);
  private boolean isKept = true;

  /** Adds the rows of a run. */
  void add(Scenario scenario, List<Attempt> attempts) {
    if (scenario.window().isPresent()) {
      Figures figures = Figures.of(scenario, attempts, manners -> manners == Manners.POLITE);
      List<String> missed = new ArrayList<>();
      String used = used(scenario, attempts, scenario.window().get(), missed);
      requireFew(figures, missed);
      row(scenario.title() + ": those who come back; " + used, figures, missed, true);
      return;
    }
    boolean mixed = scenario.arrivals().stream().anyMatch(a -> a.manners() == Manners.IMPOLITE);
    Predicate<Manners> polite = manners -> manners == Manners.POLITE;
    Figures figures = Figures.of(scenario, attempts, polite);
    List<String> missed = scenario.hasLine() ? missed(scenario, figures) : List.of();
    row(scenario.title() + (mixed ? ": the polite" : ""), figures, missed, scenario.hasLine());
    if (mixed) {
      row(
          scenario.title() + ": the impolite",
          Figures.of(scenario, attempts, polite.negate()),
          List.of(),
          false);
    }
  }

  /** Adds a row for a run that failed. */
  void addFailure(Scenario scenario, String reason) {
    isKept = false;
    lines.add(
        "| %s | %d | not measured: %s | | | | | | |"
            .formatted(
                scenario.title(),
                scenario.arrivals().size(),
                reason.replace("|", "\\|").replaceAll("\\s*\\R\\s*", " ")));
  }

  private static String used(
      Scenario scenario, List<Attempt> attempts, Scenario.Window window, List<String> missed) {
    Map<Integer, Duration> admissions = Figures.admissions(attempts);
    long used =
        admissions.values().stream()
            .filter(at -> at.compareTo(window.from()) >= 0 && at.compareTo(window.to()) < 0)
            .count();
    long minted = Math.round(scenario.ideal().minted(window.from(), window.to()));
    if (used * 100 < minted * USED_PERCENT) {
      missed.add("%d %% of the tokens used".formatted(USED_PERCENT));
    }
    return "%d of %d tokens used in %d s"
        .formatted(used, minted, window.to().minus(window.from()).toSeconds());
  }

  private static List<String> missed(Scenario scenario, Figures figures) {
    List<String> missed = new ArrayList<>();
    // A lower rate moves slots, so those who were told a slot may be refused once more for it.
    boolean slower = scenario.change().filter(c -> c.perMinute() < Scenario.PER_MINUTE).isPresent();
    int refusals = figures.leastRefusals() * REFUSALS_PERCENT / 100;
    if (!slower && figures.refusals() > refusals) {
      missed.add("at most %d refusals".formatted(refusals));
    }
    requireFew(figures, missed);
    // A higher rate leaves the slots of those who wait.
    boolean faster = scenario.change().filter(c -> c.perMinute() > Scenario.PER_MINUTE).isPresent();
    Duration promised = faster ? unchanged(scenario) : figures.idealLast();
    Duration latest = promised.plus(LATENESS);
    if (figures.absent() > 0 || figures.lastAdmitted().compareTo(latest) > 0) {
      missed.add("all in within %d s".formatted(latest.toSeconds()));
    }
    return missed;
  }

  private static Duration unchanged(Scenario scenario) {
    List<Duration> arrivals = scenario.arrivals().stream().map(Scenario.Arrival::at).toList();
    List<Duration> admissions =
        new Ideal(Scenario.PER_MINUTE, Scenario.PER_MINUTE, Optional.empty()).admissions(arrivals);
    return admissions.get(admissions.size() - 1);
  }

  private static void requireFew(Figures figures, List<String> missed) {
    if (figures.mostRefusals() > MOST_REFUSALS) {
      missed.add("nobody refused more than twice");
    }
    if (figures.failures() > 0) {
      missed.add("no failed attempt (%d)".formatted(figures.failures()));
    }
  }

  private void row(String title, Figures figures, List<String> missed, boolean hasGoals) {
    isKept &= missed.isEmpty();
    lines.add(
        String.format(
            Locale.ROOT,
            "| %s | %d | %,d | %,d (%d) | %d | %s | %s | %d | %s |",
            title,
            figures.clients(),
            figures.attempts(),
            figures.refusals(),
            figures.leastRefusals(),
            figures.mostRefusals(),
            arrival(figures),
            waits(figures.waits()),
            figures.overtaken(),
            missed.isEmpty() ? (hasGoals ? "kept" : "") : "missed: " + String.join(", ", missed)));
  }

  private static String arrival(Figures figures) {
    String ideal = " s (%s s)".formatted(Times.seconds(figures.idealLast()));
    return figures.absent() == 0
        ? Times.seconds(figures.lastAdmitted()) + ideal
        : figures.absent() + " still wait";
  }

  private static String waits(Times waits) {
    return waits.sorted().isEmpty()
        ? "none"
        : "%s, %s, %s s"
            .formatted(
                Times.seconds(waits.quantile(0.5)),
                Times.seconds(waits.quantile(0.95)),
                Times.seconds(waits.quantile(1)));
  }

  /** Whether all runs were measured and kept their goals. */
  boolean isKept() {
    return isKept;
  }

  /** The table. */
  List<String> lines() {
    return List.copyOf(lines);
  }
}
