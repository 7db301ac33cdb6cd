package dev.tollgate.cli.command;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code tollgate help}: the same as {@code --help} after a command. */
@Command(name = "help", description = "Show the help of a command.")
final class HelpCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      paramLabel = "COMMAND",
      arity = "0..*",
      description = "The command, for example: tenants onboard. Default: all commands.")
  private List<String> names = List.of();

  @Override
  public Integer call() {
    String[] arguments = Stream.concat(names.stream(), Stream.of("--help")).toArray(String[]::new);
    return spec.parent().commandLine().execute(arguments);
  }
}
