package dev.tollgate.bench.line;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.client.AwsRequests;
import dev.tollgate.bench.line.Attempt.Result;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command line, its files and the figure, without a deployment. */
class LineExperimentTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir private Path directory;

  private int run(String... arguments) {
    return LineExperiment.commandLine(
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            new Stopwatch(InstantSource.fixed(Instant.EPOCH), () -> 0))
        .execute(arguments);
  }

  private static List<Attempt> attempts() {
    List<Attempt> attempts = new ArrayList<>();
    for (String run : Drawing.RUNS) {
      for (int client = 0; client < 3; client++) {
        attempts.add(attempt(run, client, client, Result.REFUSED));
        attempts.add(attempt(run, client, 10 + 2 * client, Result.ADMITTED));
      }
    }
    return attempts;
  }

  private static Attempt attempt(String run, int client, long seconds, Result result) {
    boolean refused = result == Result.REFUSED;
    return new Attempt(
        run,
        client,
        Manners.POLITE,
        Duration.ofSeconds(seconds),
        Duration.ofMillis(seconds * 1_000 + 25),
        result,
        refused ? Optional.of(Duration.ofSeconds(9)) : Optional.empty(),
        refused ? Optional.of(Duration.ofMillis(9_875)) : Optional.empty());
  }

  @Test
  void help_lists_the_scenarios() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("line-90", "no-shows", "tier-down", "--quick");
  }

  @Test
  void an_unknown_scenario_is_refused() {
    assertThat(run("line-90", "nonsense")).isEqualTo(2);
    assertThat(err.toString()).contains("SCENARIO: nonsense (expected: one of line-90,");
  }

  @Test
  void missing_outputs_are_refused() {
    assertThat(run("--outputs", directory.resolve("none.json").toString())).isEqualTo(2);
    assertThat(err.toString()).contains("--outputs: ", "none.json", "./tollgate up");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void every_scenario_has_clients_in_order_and_a_time_limit(boolean quick) {
    for (String name : Scenario.NAMES) {
      Scenario scenario = Scenario.of(name, quick);
      assertThat(scenario.arrivals()).hasSizeGreaterThan(Scenario.PER_MINUTE);
      assertThat(scenario.arrivals()).extracting(Scenario.Arrival::at).isSorted();
      assertThat(scenario.timeout()).isPositive();
      assertThat(scenario.hasLine()).isEqualTo(!name.startsWith("no-line"));
    }
    assertThat(Scenario.of("no-shows", quick).arrivals())
        .filteredOn(arrival -> arrival.manners() == Manners.NO_SHOW)
        .hasSizeGreaterThan(Scenario.of("no-shows", quick).arrivals().size() / 5);
  }

  @Test
  void attempts_are_read_as_they_were_written() {
    Path file = directory.resolve("new/attempts.csv");

    AttemptsFile.write(file, attempts());

    assertThat(AttemptsFile.read(file)).isEqualTo(attempts());
  }

  @Test
  void a_malformed_line_is_refused_by_its_number() throws IOException {
    Path file = directory.resolve("attempts.csv");
    AttemptsFile.write(file, attempts());
    List<String> lines = new ArrayList<>(Files.readAllLines(file));
    lines.set(2, lines.get(2).replace("polite", "rude"));
    Files.write(file, lines);

    assertThatThrownBy(() -> AttemptsFile.read(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("attempts.csv, line 3: line-90,0,rude");
    Files.writeString(file, "something else");
    assertThatThrownBy(() -> AttemptsFile.read(file))
        .hasMessageContaining("line 1 (expected: run,");
  }

  @Test
  void figure_is_drawn_from_a_file_and_the_same_data_gives_the_same_figure() throws IOException {
    Path data = directory.resolve("line.csv");
    Path figure = directory.resolve("line.svg");
    AttemptsFile.write(data, attempts());

    assertThat(run("--draw", data.toString(), "--figure", figure.toString())).isZero();

    assertThat(Files.readString(figure))
        .contains("<svg", "rgb(11,92,173)", "rgb(196,78,17)")
        .isEqualTo(Drawing.svg(AttemptsFile.read(data)));
  }

  @Test
  void figure_needs_both_runs() {
    Path data = directory.resolve("line.csv");
    AttemptsFile.write(data, attempts().subList(0, 6));

    assertThat(run("--draw", data.toString(), "--figure", directory.resolve("x.svg").toString()))
        .isEqualTo(2);
    assertThat(err.toString()).contains("--figure: run no-line-90: nobody admitted");
  }

  @Test
  void requests_are_counted_by_function_since_the_last_time() throws IOException {
    Path file = directory.resolve("requests.jsonl");
    Files.writeString(
        file,
        """
        {"caller":"Authorizer","operation":"BatchGetItem"}
        {"caller":"Authorizer","operation":"AssumeRole"}
        {"caller":"TokenProducer","operation":"SendMessageBatch"}
        """);
    AwsRequests requests = new AwsRequests(file);

    assertThat(requests.next(AwsRequests.HANDSHAKE)).containsExactly("BatchGetItem");
    assertThat(requests.next(AwsRequests.HANDSHAKE)).isEmpty();
    assertThat(AwsRequests.summary(List.of("UpdateItem", "BatchGetItem", "UpdateItem")))
        .isEqualTo("3: BatchGetItem, 2 × UpdateItem");
    assertThat(AwsRequests.summary(List.of())).isEqualTo("0");
  }

  @Test
  void trace_shows_who_came_back_in_vain() {
    List<Attempt> attempts =
        List.of(
            attempt("line-90", 7, 1, Result.REFUSED),
            attempt("line-90", 7, 11, Result.REFUSED),
            attempt("line-90", 8, 11, Result.REFUSED));

    assertThat(Trace.of(attempts))
        .containsExactly(
            "line-90, client 7: at 1.0 s refused, told to wait 9 s, slot 9.9 s; at 11.0 s refused, told to wait 9 s, slot 9.9 s");
  }
}
