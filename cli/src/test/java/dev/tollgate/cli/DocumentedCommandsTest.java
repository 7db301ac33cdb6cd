package dev.tollgate.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.tollgate.cli.command.Main;
import dev.tollgate.cli.terminal.Shell;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** The commands in all Markdown files are valid as written. */
class DocumentedCommandsTest {
  /** A word of a command, which quotes may hold together. */
  private static final Pattern WORD =
      Pattern.compile("(?:'[^'\n]*'|\"[^\"\n]*\"|[^\\s`|&;()#'\"])+");

  /** A command in a code block, or between backquotes. */
  private static final Pattern COMMAND =
      Pattern.compile("(?:^|[`$(]) *\\./tollgate((?: +" + WORD + ")+)", Pattern.MULTILINE);

  /** A jar of a module, or its class path. */
  private static final Pattern BUILT =
      Pattern.compile("(?<![\\w/.-])([a-z][a-z/-]*)/target/(?:tollgate-|classpath)");

  static List<String> documentedCommands() throws IOException {
    return MarkdownFiles.all().stream()
        .flatMap(DocumentedCommandsTest::commands)
        .distinct()
        .toList();
  }

  private static Stream<String> commands(Path file) {
    return COMMAND
        .matcher(MarkdownFiles.read(file))
        .results()
        .map(result -> MarkdownFiles.ROOT.relativize(file) + ":" + result.group(1));
  }

  @ParameterizedTest
  @MethodSource("documentedCommands")
  void a_documented_command_is_valid(String documented) {
    String[] arguments =
        WORD.matcher(documented.substring(documented.indexOf(':') + 1))
            .results()
            .map(word -> word.group().replaceAll("^(['\"])(.*)\\1$", "$2"))
            .toArray(String[]::new);
    CommandLine command = commandLine(arguments);

    assertThatCode(() -> command.parseArgs(arguments)).doesNotThrowAnyException();
    assertThat(command.getParseResult().hasSubcommand() || arguments[0].startsWith("-")).isTrue();
  }

  @Test
  void modules_whose_jars_are_documented_exist() throws IOException {
    List<String> modules =
        MarkdownFiles.all().stream()
            .flatMap(file -> BUILT.matcher(MarkdownFiles.read(file)).results())
            .map(result -> result.group(1))
            .distinct()
            .toList();

    assertThat(modules)
        .contains("clients/claims", "clients/socket")
        .allSatisfy(module -> assertThat(MarkdownFiles.ROOT.resolve(module + "/pom.xml")).exists());
  }

  /** The command line, which only parses arguments. */
  static CommandLine commandLine(String... arguments) {
    PrintWriter nowhere = new PrintWriter(new StringWriter());
    Shell shell =
        new Shell(
            InputStream.nullInputStream(),
            nowhere,
            nowhere,
            Path.of(""),
            Optional.empty(),
            Map.of(),
            Optional.empty(),
            () -> 0,
            time -> {});
    return Main.commandLine(
        shell,
        settings -> {
          throw new AssertionError("nothing is run");
        },
        arguments);
  }
}
