package dev.tollgate.cli.command;

import dev.tollgate.cli.apply.Differences;
import dev.tollgate.cli.apply.FileSummary;
import dev.tollgate.cli.http.ExitCode;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.pacing.Throughput;
import dev.tollgate.cli.terminal.Shell;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code tollgate plan}. */
@Command(
    name = "plan",
    description =
        "Show the changes that `tollgate apply` would make, without making them. Exit code 3 if there"
            + " are any.")
final class Plan implements Callable<Integer> {
  private final Tollgate tollgate;
  private final Shell shell;

  @Mixin private FileOptions file = new FileOptions();
  @Mixin private Throughput throughput = new Throughput();

  @Option(
      names = "--check",
      description =
          "Only check the file, without a deployment: its syntax, names, types and the ranges of"
              + " limits.")
  private boolean check;

  Plan(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if (check) {
      FileSummary summary = file.check(shell);
      tollgate.print(summary.document(), summary.lines());
      return 0;
    }
    Sender api = throughput.paced(tollgate.controlPlane(), shell);
    Differences differences = file.compare(api, shell).differences();
    tollgate.print(differences.document(), differences.lines());
    return differences.isEmpty() ? 0 : ExitCode.DIFFERS;
  }
}
