package dev.tollgate.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.cli.http.Failure;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShellTest {
  @TempDir private Path directory;

  @Test
  void settings_are_never_read_below_the_current_directory() {
    Path ofAccount = Path.of(System.getProperty("user.home"), ".config", "tollgate");

    assertThat(shell(Map.of("HOME", "")).configuration()).isEqualTo(ofAccount);
    assertThat(shell(Map.of()).configuration()).isEqualTo(ofAccount);
    assertThat(shell(Map.of("HOME", "/h", "XDG_CONFIG_HOME", "rel")).configuration())
        .isEqualTo(Path.of("/h/.config/tollgate"));
    assertThatThrownBy(shell(Map.of("HOME", "rel"))::configuration)
        .isInstanceOf(Failure.class)
        .hasMessage("HOME: rel (expected: an absolute path)");
  }

  @ParameterizedTest
  @CsvSource({
    "file.json, file.json",
    "./file.json, file.json",
    "a/./file.json, a/file.json",
    "link/file.json, link/file.json",
    "link/../file.json, elsewhere/file.json",
    "link/../new/file.json, elsewhere/new/file.json",
    "missing/../file.json, missing/../file.json"
  })
  void a_file_name_means_what_it_means_to_the_operating_system(String named, String expected)
      throws IOException {
    Path real = directory.toRealPath();
    Files.createDirectories(real.resolve("elsewhere/target"));
    Files.createSymbolicLink(real.resolve("link"), real.resolve("elsewhere/target"));
    Shell shell = shell(Map.of());

    Path file = shell.file(Path.of(named));

    assertThat(file).isEqualTo(real.resolve(expected));
    assertThat(shell.shown(file)).isEqualTo(Path.of(expected));
  }

  private Shell shell(Map<String, String> environment) {
    PrintWriter nowhere = new PrintWriter(new StringWriter());
    try {
      return new Shell(
          InputStream.nullInputStream(),
          nowhere,
          nowhere,
          directory.toRealPath(),
          Optional.empty(),
          environment,
          Optional.empty(),
          () -> 0,
          time -> {});
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
