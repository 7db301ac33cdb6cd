package dev.tollgate.cli.command;

import dev.tollgate.cli.apply.Comparison;
import dev.tollgate.cli.apply.Differences;
import dev.tollgate.cli.apply.Execution;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.pacing.Throughput;
import dev.tollgate.cli.terminal.Shell;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Makes what runs as a file says. */
@Command(
    name = "apply",
    description = {
      "Make tiers and tenants as a file says, after showing what is to be done.",
      "Nobody else's change is undone unseen: what was changed after it was shown is left and told."
          + " If it is interrupted, run it again; what is done already is not done twice."
    })
final class Apply implements Callable<Integer> {
  private final Tollgate tollgate;
  private final Shell shell;

  @Mixin private FileToCompare file = new FileToCompare();
  @Mixin private Throughput throughput = new Throughput();

  @Option(names = "--yes", description = "Do not ask.")
  private boolean yes;

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
    if (!tollgate.printsJson()) {
      tollgate.print(differences.document(), differences.lines());
    }
    if (!yes) {
      ask();
    }
    Execution.Outcome outcome = new Execution(api, throughput, shell, comparison).run();
    tollgate.print(outcome.document(), outcome.lines());
    outcome.failures().forEach(failure -> shell.complain("  " + failure.line()));
    return outcome.failures().isEmpty() ? 0 : Failure.FAILED;
  }

  private void ask() {
    Shell.Terminal terminal =
        shell
            .terminal()
            .filter(somebody -> !tollgate.printsJson())
            .orElseThrow(
                () ->
                    Failure.usage(
                        "Nothing was done: nobody can be asked here. To apply this without asking:"
                            + " --yes"));
    if (!terminal.confirm().test("Apply?")) {
      throw Failure.of("Nothing was done");
    }
  }
}
