package dev.tollgate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.command.Main;
import dev.tollgate.cli.terminal.Shell;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of tenants and tiers in the documentation are valid as written. */
class DocumentedFilesTest {
  private static final Pattern BLOCK = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL);

  @Test
  void files_of_the_documentation_are_valid(@TempDir Path directory) throws IOException {
    List<String> files =
        MarkdownFiles.all().stream()
            .flatMap(page -> BLOCK.matcher(MarkdownFiles.read(page)).results())
            .map(block -> block.group(1))
            .filter(block -> block.contains("tiers:"))
            .toList();

    assertThat(files).hasSizeGreaterThanOrEqualTo(2);
    for (String file : files) {
      Files.writeString(directory.resolve("saas.yaml"), file);
      StringWriter output = new StringWriter();
      PrintWriter writer = new PrintWriter(output);
      Shell shell =
          new Shell(
              InputStream.nullInputStream(),
              writer,
              writer,
              directory,
              Optional.empty(),
              Map.of(),
              Optional.empty(),
              () -> 0,
              time -> {});

      int exitCode =
          Main.commandLine(
                  shell,
                  settings -> {
                    throw new AssertionError("no cloud is started");
                  },
                  "plan")
              .execute("plan", directory.resolve("saas.yaml").toString(), "--check");

      assertThat(exitCode).as("%s%n%s", file, output).isZero();
    }
  }
}
