package dev.tollgate.bench.attacks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.bench.Benchmark;
import dev.tollgate.bench.Stopwatch;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line, without a deployment, and the script {@code attacks}. */
class AttacksTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir private Path directory;

  @Test
  void help_lists_the_attacks() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("Usage: attacks", "unpaid-frames", "foreign-pages");
  }

  @Test
  void an_unknown_attack_is_refused() {
    assertThat(run("nonsense")).isEqualTo(2);
    assertThat(err.toString()).contains("ROW: nonsense (expected: one of unpaid-frames,");
  }

  @Test
  void an_attack_that_cannot_run_is_reported_in_the_table() throws IOException {
    Path outputs = directory.resolve("outputs.json");
    Files.writeString(
        outputs,
        """
        {"Tollgate": {"ControlPlaneURL": "http://127.0.0.1:1", "SessionURL": "http://127.0.0.1:1",
                      "WebSocketURL": "ws://127.0.0.1:1"}}""",
        UTF_8);

    assertThat(run("--outputs", outputs.toString(), "one-token-holder", "chart-library"))
        .isEqualTo(1);
    assertThat(out.toString())
        .contains(
            "| one-token-holder | not measured: no issuer of tokens: ",
            "| chart-library | not measured: output OperatorPage: none (expected: an address)");
  }

  @Test
  void the_script_runs_every_attack() throws IOException {
    String script = Files.readString(Path.of("attacks"));

    assertThat(Attacks.ROWS.keySet()).allMatch(script::contains);
  }

  private int run(String... arguments) {
    return Benchmark.commandLine(
            "attacks",
            "Attack.",
            Attacks.ROWS,
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            new Stopwatch(InstantSource.fixed(Instant.EPOCH), () -> 0))
        .execute(arguments);
  }
}
