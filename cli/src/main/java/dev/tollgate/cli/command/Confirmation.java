package dev.tollgate.cli.command;

import picocli.CommandLine.Option;

/** The option that confirms a change in advance. */
final class Confirmation {
  @Option(
      names = "--yes",
      description =
          "Do not ask for confirmation. If the deployment is marked as production, --context must be"
              + " given as well.")
  private boolean yes;

  boolean isGiven() {
    return yes;
  }
}
