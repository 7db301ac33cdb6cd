package dev.tollgate.cli.command;

import dev.tollgate.cli.apply.Comparison;
import dev.tollgate.cli.apply.FileSummary;
import dev.tollgate.cli.apply.YamlFile;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Shell;
import java.nio.file.Path;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The file and options that {@code plan} and {@code apply} share. */
final class FileOptions {
  @Parameters(
      paramLabel = "FILE",
      description = {
        "YAML file with a section tiers, a section tenants, or both. Sections that are missing are"
            + " ignored.",
        "A tier has the fields of PUT /tiers/{tier}; fields that are missing get the control plane's"
            + " defaults. A tenant has a tier and, optionally, overrides and status. Without overrides"
            + " it has none; without status its status is not changed."
      })
  private Path file = Path.of("tollgate.yaml");

  @Option(
      names = "--prune",
      description =
          "Remove tenants that are not in the section tenants, and tiers that are not in the section"
              + " tiers, including the default tiers bronze, silver and gold.")
  private boolean prune;

  Comparison.Result compare(Sender api, Shell shell) {
    return Comparison.of(api, read(shell), prune);
  }

  /** Checks the file without a deployment. */
  FileSummary check(Shell shell) {
    return FileSummary.of(read(shell));
  }

  private YamlFile read(Shell shell) {
    Path path = shell.file(file);
    return YamlFile.read(path, shell.shown(path).toString());
  }
}
