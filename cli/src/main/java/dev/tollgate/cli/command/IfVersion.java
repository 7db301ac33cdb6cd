package dev.tollgate.cli.command;

import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The option that makes a change conditional on the current version. */
final class IfVersion {
  @Option(
      names = "--if-version",
      paramLabel = "VERSION",
      description =
          "Change it only if its current version is VERSION. `show` and --dry-run print the version.")
  private Optional<Long> version = Optional.empty();

  boolean isPresent() {
    return version.isPresent();
  }

  /** The request header that states the condition. */
  Map<String, String> headers() {
    return version.map(number -> Map.of("If-Match", "\"" + number + "\"")).orElse(Map.of());
  }
}
