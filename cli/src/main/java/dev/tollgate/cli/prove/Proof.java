package dev.tollgate.cli.prove;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.prove.account.AwsAccount;
import dev.tollgate.cli.terminal.Shell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Does the steps of a run, one after another. */
final class Proof {
  /** All attempts at all steps together cost no more. Teardowns are excepted. */
  private static final int MOST_CENTS = 200;

  private final Run run;
  private final Shell shell;

  Proof(Run run) {
    this.run = run;
    this.shell = run.shell();
  }

  /** The steps that will begin, with what they do and cost. */
  List<String> plan() {
    List<String> lines = new ArrayList<>();
    int cents = 0;
    Duration time = Duration.ZERO;
    for (Step step : pending()) {
      if (!canBegin(step)) {
        continue;
      }
      lines.add(announcement(step));
      cents += step.cents(run.settings());
      time = time.plus(step.usual(run.settings()));
      if (step instanceof Deploying && !run.stacks().areLocal() && Deploying.setsLogRole(run)) {
        lines.add(
            "           The account has no role with which API Gateway writes logs. The stack sets"
                + " one, which stays: the whole account uses it, and it costs nothing.");
      }
    }
    if (run.cents() > 0) {
      lines.add("The steps so far cost at most %s.".formatted(dollars(run.cents())));
    }
    lines.add(
        "Together at most %s, and usually %d minutes on AWS."
            .formatted(dollars(cents), time.toMinutes()));
    return lines;
  }

  private String announcement(Step step) {
    return "%-10s at most %s: %s"
        .formatted(step.name(), dollars(step.cents(run.settings())), step.description());
  }

  private List<Step> pending() {
    return Step.all().stream().filter(step -> run.findings(step.name()).isEmpty()).toList();
  }

  static String dollars(int cents) {
    return "$%d.%02d".formatted(cents / 100, cents % 100);
  }

  /**
   * Does what is pending. If a step cannot go on, the stacks stay, and the next call begins with
   * it; if the command is interrupted, the teardown follows at once.
   *
   * @throws Failure if a step cannot go on
   */
  Report all() {
    for (Step step : pending()) {
      if (canBegin(step)) {
        one(step);
      } else {
        shell.printError(
            "%-10s is not tried: the stacks are deleted before it could end"
                .formatted(step.name()));
      }
    }
    return finished();
  }

  /**
   * Whether there is time for the pending steps up to this one, and for the teardown, before the
   * stacks are deleted by themselves. Once a teardown has begun, nothing else can begin.
   */
  private boolean canBegin(Step step) {
    if (step instanceof Teardown) {
      return true;
    }
    Duration needed = new Teardown().usual(run.settings()).plus(step.usual(run.settings()));
    for (Step earlier : pending()) {
      if (earlier.name().equals(step.name())) {
        break;
      }
      needed = needed.plus(earlier.usual(run.settings()));
    }
    return !run.isTearingDown() && run.hasTimeFor(needed);
  }

  /** Does the teardown unless it has left nothing, and leaves the other steps pending. */
  Report teardown() {
    boolean done =
        run.findings(Teardown.NAME).stream()
            .anyMatch(
                findings ->
                    findings.stream()
                        .allMatch(finding -> finding.result() == Finding.Result.HOLDS));
    if (!done) {
      one(new Teardown());
    }
    return finished();
  }

  private void one(Step step) {
    shell.printError(announcement(step));
    int cents = step.cents(run.settings());
    if (!(step instanceof Teardown) && run.cents() + cents > MOST_CENTS) {
      throw Failure.of(
          "Step %s costs at most %s, and the attempts so far at most %s: together more than %s. Use"
                  .formatted(step.name(), dollars(cents), dollars(run.cents()), dollars(MOST_CENTS))
              + " fewer --tenants and --handshakes.");
    }
    run.begins(step.name(), cents);
    List<Finding> findings;
    try {
      findings = step.run(run);
    } catch (Failure failure) {
      if (!hasLostItsStacks(step)) {
        throw failure;
      }
      shell.printError("  " + failure.reason());
      findings = List.of();
    }
    if (hasLostItsStacks(step)) {
      shell.printError(
          "%-10s does not count: the stacks were deleted while it ran".formatted(step.name()));
      return;
    }
    if (!run.stacks().areLocal()
        && !(step instanceof Teardown)
        && findings.stream().anyMatch(it -> it.result() == Finding.Result.UNKNOWN)) {
      // With credentials that have expired, all the rest would be unknown, too.
      AwsAccount.number(run.stacks().account());
    }
    run.ended(step.name(), findings);
    findings.stream()
        .filter(finding -> finding.result() != Finding.Result.HOLDS)
        .forEach(
            finding ->
                shell.printError(
                    "  %s %s: %s".formatted(finding.result(), finding.promise(), finding.seen())));
  }

  /** As when the machine sleeps while a step runs. What is missing then says nothing about AWS. */
  private boolean hasLostItsStacks(Step step) {
    return !(step instanceof Teardown)
        && !run.stacks().areLocal()
        && !run.hasTimeFor(Duration.ZERO);
  }

  private Report finished() {
    Report report = Report.of(run);
    run.write("report.md", String.join("\n", report.lines()) + "\n");
    run.write("report.json", Json.writePretty(report.document()) + "\n");
    return report;
  }

  /** What a person should do after a step could not go on. */
  Failure notFinished(Failure cause, Optional<String> options) {
    if (run.stacks().areLocal()) {
      return Failure.of(
          cause.reason()
              + "\nNothing is left: the local clouds ended with this command. Run it again to begin"
              + " again.",
          cause);
    }
    String command = "tollgate prove" + options.map(it -> " " + it).orElse("");
    boolean deletedByItself =
        run.deployed().containsKey(run.probeName()) && run.hasTimeFor(Duration.ZERO);
    String stacks =
        run.deployed().isEmpty()
            ? "The run has no stack now."
            : deletedByItself
                ? "The stacks stay, and are deleted by themselves two hours after the run began."
                : "Stacks may still exist, and are not deleted by themselves any more.";
    return Failure.of(
        "%s%n%s Run `%s` again to go on, or with --teardown to delete all of it now."
            .formatted(cause.reason(), stacks, command),
        cause);
  }
}
