package dev.tollgate.cli.command;

import dev.tollgate.cli.apply.Comparison;
import dev.tollgate.cli.apply.Differences;
import dev.tollgate.cli.apply.Execution;
import dev.tollgate.cli.apply.Outcome;
import dev.tollgate.cli.http.ExitCode;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.pacing.Throughput;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The command {@code tollgate apply}. */
@Command(
    name = "apply",
    description = {
      "Apply the tiers and tenants in a file to the deployment. Shows the plan first and asks for"
          + " confirmation.",
      "Changes that someone else makes after the plan is shown are kept and reported as conflicts. If"
          + " the command is interrupted, run it again."
    })
final class Apply implements Callable<Integer> {
  private final Tollgate tollgate;
  private final Shell shell;

  @Mixin private FileOptions file = new FileOptions();
  @Mixin private Throughput throughput = new Throughput();
  @Mixin private Confirmation confirmation = new Confirmation();

  Apply(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    Sender api = throughput.paced(tollgate.controlPlane(), shell);
    Comparison.Result comparison = file.compare(api, shell);
    Differences differences = comparison.differences();
    if (differences.isEmpty()) {
      List<String> lines = new ArrayList<>(differences.lines());
      lines.add("Nothing to do.");
      tollgate.print(differences.document(), lines);
      return 0;
    }
    Runnable confirm =
        () -> tollgate.confirm(confirmation.isGiven(), "Apply this plan?", "apply the plan");
    // Without a question, this shows the target only.
    if (confirmation.isGiven()) {
      confirm.run();
    }
    if (tollgate.format().isForPeople()) {
      tollgate.print(differences.document(), differences.lines());
    }
    if (!confirmation.isGiven()) {
      confirm.run();
    }
    Outcome outcome = applied(api, comparison);
    tollgate.print(outcome.document(), outcome.lines());
    outcome.failures().forEach(failure -> shell.printError("  " + failure.line()));
    return outcome.failures().isEmpty() ? 0 : ExitCode.FAILED;
  }

  private Outcome applied(Sender api, Comparison.Result comparison) {
    try (Progress progress = tollgate.progress()) {
      return new Execution(api, throughput, progress, comparison).run();
    }
  }
}
