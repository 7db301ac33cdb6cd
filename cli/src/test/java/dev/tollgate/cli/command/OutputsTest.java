package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.terminal.Shell;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputsTest {
  @TempDir private Path root;

  @Test
  void find_searches_the_parents_and_then_the_launchers_directory() throws IOException {
    Path home = root.resolve("home");
    Path beside = touch(home);
    Path deep = Files.createDirectories(root.resolve("work/deep/er"));

    assertThat(Outputs.find(in(deep, home))).isEqualTo(beside);

    Path near = touch(root.resolve("work"));
    assertThat(Outputs.find(in(deep, home))).isEqualTo(near);
  }

  private static Path touch(Path directory) throws IOException {
    Path file = directory.resolve(Outputs.DEFAULT);
    Files.createDirectories(directory.resolve(".tollgate"));
    return Files.writeString(file, "{}");
  }

  private static Shell in(Path directory, Path home) {
    PrintWriter nowhere = new PrintWriter(new StringWriter());
    return new Shell(
        InputStream.nullInputStream(),
        nowhere,
        nowhere,
        directory,
        Optional.of(home),
        Optional.empty(),
        () -> 0,
        time -> {});
  }
}
