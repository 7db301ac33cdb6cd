package dev.tollgate.cli.command;

import dev.tollgate.cli.http.ExitCode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.importing.ImportOutcome;
import dev.tollgate.cli.importing.TenantImport;
import dev.tollgate.cli.pacing.Throughput;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The command {@code tollgate tenants import}. */
@Command(
    name = "import",
    description = {
      "Onboard the tenants in a CSV file. The header is tenantId,tier, followed by the names of any"
          + " limits to override. A blank cell means no override.",
      "Tenants that already exist with the same settings are skipped, so an import can be run again."
          + " Tenants that exist with different settings are reported and not changed."
    })
final class Import implements Callable<Integer> {
  private static final String STDIN = "-";

  private final Tollgate tollgate;
  private final Shell shell;

  @Parameters(paramLabel = "FILE", description = "The CSV file, or - for standard input.")
  private String file = STDIN;

  @Mixin private Throughput throughput = new Throughput();
  @Mixin private Confirmation confirmation = new Confirmation();

  Import(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    final long start = shell.nanoTime().getAsLong();
    String csv = text();
    Sender api = throughput.paced(tollgate.controlPlane(), shell);
    ImportOutcome outcome = imported(api, csv);
    Duration took = Duration.ofNanos(shell.nanoTime().getAsLong() - start);
    tollgate.print(outcome.document(), List.of(outcome.summary(Tollgate.seconds(took))));
    if (tollgate.format().isForPeople()) {
      outcome.failures().forEach(failure -> shell.printError("  " + failure.line()));
    }
    return outcome.isComplete() ? 0 : ExitCode.FAILED;
  }

  private ImportOutcome imported(Sender api, String csv) {
    try (Progress progress = tollgate.progress()) {
      return new TenantImport(api, throughput, progress).run(name(), csv, this::confirm);
    }
  }

  private void confirm(int tenants) {
    String number = tenants == 1 ? "1 tenant" : String.format(Locale.ROOT, "%,d tenants", tenants);
    tollgate.confirmInProduction(
        confirmation.isGiven(), "Onboard " + number + "?", "onboard " + number);
  }

  private String name() {
    return file.equals(STDIN)
        ? "standard input"
        : shell.shown(shell.file(Path.of(file))).toString();
  }

  private String text() {
    try {
      return file.equals(STDIN)
          ? new String(shell.in().readAllBytes(), StandardCharsets.UTF_8)
          : Files.readString(shell.file(Path.of(file)));
    } catch (IOException e) {
      throw Failure.unreadable(name(), e);
    }
  }
}
