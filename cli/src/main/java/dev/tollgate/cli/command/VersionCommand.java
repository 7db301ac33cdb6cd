package dev.tollgate.cli.command;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command {@code tollgate version}: the same as {@code --version}. */
@Command(name = "version", description = "Print the version.")
final class VersionCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    return spec.parent().commandLine().execute("--version");
  }
}
