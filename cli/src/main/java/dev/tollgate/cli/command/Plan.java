package dev.tollgate.cli.command;

import dev.tollgate.cli.apply.Differences;
import dev.tollgate.cli.http.Failure;
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
    description = "Show the changes that `tollgate apply` would make, without making them.",
    exitCodeOnInvalidInput = Failure.FAILED,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:success; with --detailed-exit-code: no changes",
      "1:the file is invalid, or a request was rejected or failed",
      "2:with --detailed-exit-code: changes found"
    })
final class Plan implements Callable<Integer> {
  /** The same code as {@code terraform plan -detailed-exitcode}; errors therefore exit with 1. */
  private static final int DIFFERS = 2;

  private final Tollgate tollgate;
  private final Shell shell;

  @Mixin private FileOptions file = new FileOptions();
  @Mixin private Throughput throughput = new Throughput();

  @Option(names = "--detailed-exit-code", description = "Exit with code 2 if there are changes.")
  private boolean detailedExitCode;

  Plan(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    try {
      Sender api = throughput.paced(tollgate.controlPlane(), shell);
      Differences differences = file.compare(api, shell).differences();
      tollgate.print(differences.document(), differences.lines());
      return detailedExitCode && !differences.isEmpty() ? DIFFERS : 0;
    } catch (Failure failure) {
      throw failure.withExitCode(Failure.FAILED);
    }
  }
}
