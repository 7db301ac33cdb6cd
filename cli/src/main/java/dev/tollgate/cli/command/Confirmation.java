package dev.tollgate.cli.command;

import picocli.CommandLine.Option;

/** The option that confirms a change in advance. */
final class Confirmation {
  @Option(
      names = "--yes",
      description =
          "Do not ask for confirmation. If the deployment is marked as production, name its context"
              + " as well, with --context.")
  private boolean yes;

  boolean isGiven() {
    return yes;
  }
}
