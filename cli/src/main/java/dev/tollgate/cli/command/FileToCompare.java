package dev.tollgate.cli.command;

import dev.tollgate.cli.apply.Comparison;
import dev.tollgate.cli.apply.YamlFile;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Shell;
import java.nio.file.Path;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The file that {@code plan} and {@code apply} compare with what runs. */
final class FileToCompare {
  @Parameters(
      paramLabel = "FILE",
      description = {
        "YAML with tiers: and tenants:, or one of them; of what it does not name, nothing is"
            + " compared. A tier is as PUT /tiers/{tier} takes it; what it does not say has the"
            + " control plane's defaults. A tenant has tier, and if you like overrides and status."
            + " Without overrides it has none; without status it keeps what it has.",
      })
  private Path file = Path.of("tollgate.yaml");

  @Option(
      names = "--prune",
      description =
          "Remove what is not in the file: tenants if it has tenants:, and tiers if it has tiers:,"
              + " the default tiers bronze, silver and gold among them.")
  private boolean prune;

  Comparison.Result compare(Sender api, Shell shell) {
    Path path = shell.file(file);
    return Comparison.of(api, YamlFile.read(path, shell.shown(path).toString()), prune);
  }
}
