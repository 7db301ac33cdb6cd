package dev.tollgate.cli.http;

import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The version that a change is meant for, if it is meant for one only. */
public final class IfVersion {
  @Option(
      names = "--if-version",
      paramLabel = "VERSION",
      description = "Only if this version stands, as show and a dry run tell it.")
  private Optional<Long> version = Optional.empty();

  public boolean isSaid() {
    return version.isPresent();
  }

  /** The header of the request that says so. */
  public Map<String, String> headers() {
    return version.map(number -> Map.of("If-Match", "\"" + number + "\"")).orElse(Map.of());
  }
}
