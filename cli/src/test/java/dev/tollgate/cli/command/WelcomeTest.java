package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.terminal.Shell;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WelcomeTest {
  @Test
  void addresses_are_lines_of_a_table_and_lists_of_names_are_left_out(@TempDir Path directory)
      throws IOException {
    Path file = directory.resolve("outputs.json");
    Files.writeString(
        file,
        """
        {"Tollgate": {
          "SessionURL": "http://127.0.0.1:8080/session",
          "WebSocketURL": "ws://127.0.0.1:8080/live",
          "LogGroups": "Authorizer=AuthorizerLog\\nConnect=ConnectLog"}}
        """);
    PrintWriter unused = new PrintWriter(new StringWriter());
    Shell shell =
        new Shell(
            InputStream.nullInputStream(),
            unused,
            unused,
            directory,
            Optional.empty(),
            Map.of(),
            Optional.empty(),
            () -> 0,
            time -> {});
    Outputs outputs = Outputs.read("--outputs", file, Optional.empty());

    List<String> lines =
        new Welcome(outputs, directory.resolve("up.log"), Optional.empty(), Optional.empty(), "")
            .lines(shell, Duration.ofMillis(1_500));

    assertThat(lines.get(0)).isEqualTo("Tollgate is up after 1.5 s. Press Ctrl-C to stop it.");
    assertThat(lines.subList(2, 5))
        .extracting(String::strip)
        .containsExactly(
            "SessionURL    http://127.0.0.1:8080/session",
            "WebSocketURL  ws://127.0.0.1:8080/live",
            "");
    assertThat(lines).noneMatch(line -> line.contains("AuthorizerLog"));
  }
}
