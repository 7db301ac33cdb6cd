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

/** Tells how a file differs from what runs. */
@Command(
    name = "plan",
    description = "Tell what `apply` would do to make tiers and tenants as a file says.",
    exitCodeOnInvalidInput = Failure.FAILED,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done, and with --detailed-exit-code: nothing differs",
      "1:the file is not valid, or a request was refused or failed",
      "2:with --detailed-exit-code: something differs"
    })
final class Plan implements Callable<Integer> {
  /** As {@code terraform plan -detailed-exitcode} has it; errors are therefore 1 here. */
  private static final int DIFFERS = 2;

  private final Tollgate tollgate;
  private final Shell shell;

  @Mixin private FileToCompare file = new FileToCompare();
  @Mixin private Throughput throughput = new Throughput();

  @Option(names = "--detailed-exit-code", description = "Exit code 2 if anything differs.")
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
