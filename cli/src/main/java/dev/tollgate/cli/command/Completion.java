package dev.tollgate.cli.command;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.terminal.Shell;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code tollgate completion}: prints a script that completes commands and options. */
@Command(
    name = "completion",
    description = {
      "Print a script with which bash and zsh complete commands and options.",
      "For this terminal: source <(./tollgate completion)"
    })
final class Completion implements Callable<Integer> {
  private final Shell shell;

  @Parameters(
      paramLabel = "SHELL",
      arity = "0..1",
      description = "bash or zsh; the script is the same.")
  private Optional<String> named = Optional.empty();

  @Spec private CommandSpec spec = CommandSpec.create();

  Completion(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    named
        .filter(name -> !Set.of("bash", "zsh").contains(name))
        .ifPresent(
            name -> {
              throw Failure.usage("SHELL: " + name + " (expected: bash or zsh)");
            });
    shell.out().print(AutoComplete.bash("tollgate", spec.parent().commandLine()));
    shell.out().flush();
    return 0;
  }
}
