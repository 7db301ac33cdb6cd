package dev.tollgate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * {@code docs/reference/commands.md} has each command as the command line declares it. {@code
 * -Dreference.write=true} writes the page anew.
 */
final class CommandReferenceTest {
  private static final Path PAGE = MarkdownFiles.ROOT.resolve("docs/reference/commands.md");

  private static final String START =
      """
      # Commands and options

      Look up each command of `./tollgate` and its options; `--help` prints the same. Every command also takes the options of `tollgate`.
      [Command line](command-line.md) explains contexts, confirmations and exit codes.
      """;

  @Test
  void page_has_each_command_and_option() throws IOException {
    CommandLine tollgate = DocumentedCommandsTest.commandLine();
    String page = START + sections(tollgate).collect(Collectors.joining());
    if (Boolean.getBoolean("reference.write")) {
      Files.writeString(PAGE, page);
    }
    assertThat(PAGE).as("-Dreference.write=true writes it").hasContent(page);
  }

  /** The section of a command, and of those below it. */
  private static Stream<String> sections(CommandLine command) {
    return Stream.concat(
        Stream.of(section(command.getCommandSpec())),
        command.getSubcommands().values().stream()
            .distinct() // it is there once for each alias
            .flatMap(CommandReferenceTest::sections));
  }

  private static String section(CommandSpec command) {
    List<ArgSpec> arguments =
        command.args().stream().filter(CommandReferenceTest::isItsOwn).toList();
    String rows = arguments.stream().map(CommandReferenceTest::row).collect(Collectors.joining());
    String synopsis =
        command.subcommands().isEmpty()
            ? "\n```sh\n"
                + command.qualifiedName()
                + arguments.stream().map(CommandReferenceTest::use).collect(Collectors.joining())
                + "\n```\n"
            : "";
    return "\n## "
        + command.qualifiedName()
        + "\n"
        + text(command.usageMessage().description())
        + (command.aliases().length == 0
            ? ""
            : " Alias: `" + String.join("`, `", command.aliases()) + "`.")
        + "\n"
        + synopsis
        + (rows.isEmpty() ? "" : "\n| | |\n| --- | --- |\n" + rows);
  }

  /** Whether an argument is shown by the usage, and is not one of those of all commands. */
  private static boolean isItsOwn(ArgSpec argument) {
    return !argument.hidden()
        && !argument.inherited()
        && !(argument instanceof OptionSpec option && (option.usageHelp() || option.versionHelp()));
  }

  private static String use(ArgSpec argument) {
    String use = name(argument, argument instanceof OptionSpec option ? option.longestName() : "");
    String repeated = use + (argument.isMultiValue() ? "..." : "");
    return argument.required() ? " " + repeated : " [" + repeated + "]";
  }

  private static String row(ArgSpec argument) {
    String description = text(argument.description());
    String names = argument instanceof OptionSpec option ? String.join(", ", option.names()) : "";
    return description.isEmpty()
        ? ""
        : "| `" + cell(name(argument, names)) + "` | " + cell(description) + " |\n";
  }

  private static String name(ArgSpec argument, String names) {
    String value = argument.arity().max() == 0 ? "" : argument.paramLabel();
    return (names + " " + value).strip();
  }

  private static String cell(String text) {
    return text.replace("|", "\\|");
  }

  private static String text(String[] lines) {
    return String.join(" ", lines).strip().replaceAll("\\s+", " ");
  }
}
