package dev.tollgate.bench.storm;

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

/** The command line, without a deployment. */
class StormTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir private Path directory;

  @Test
  void help_lists_the_rows() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("next-token", "lost-disconnects");
  }

  @Test
  void an_unknown_row_is_refused_before_any_measurement() {
    assertThat(run("next-token", "nonsense")).isEqualTo(2);
    assertThat(err.toString()).contains("ROW: nonsense (expected: one of hibernating-bucket,");
  }

  @Test
  void missing_outputs_are_refused() {
    assertThat(run("--outputs", directory.resolve("none.json").toString())).isEqualTo(2);
    assertThat(err.toString()).contains("--outputs: ", "none.json", "./tollgate up");
  }

  @Test
  void outputs_of_another_stack_are_refused() throws IOException {
    Path outputs = directory.resolve("outputs.json");
    Files.writeString(outputs, "{\"Other\": {\"URL\": \"http://127.0.0.1\"}}", UTF_8);

    assertThat(run("--outputs", outputs.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("(expected: outputs of a Tollgate stack)");
  }

  private int run(String... arguments) {
    return Benchmark.commandLine(
            "storm",
            "Measure.",
            Storm.ROWS,
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            new Stopwatch(InstantSource.fixed(Instant.EPOCH), () -> 0))
        .execute(arguments);
  }
}
