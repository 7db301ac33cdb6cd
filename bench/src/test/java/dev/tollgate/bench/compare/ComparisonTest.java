package dev.tollgate.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.bench.contenders.Contenders;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line, its files, tables, goals and figures, without a cloud. */
class ComparisonTest {
  private static final int DECISIONS = 1_000;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir private Path directory;

  private int run(String... arguments) {
    return Comparison.commandLine(
            new PrintWriter(out, true), new PrintWriter(err, true), directory, () -> 0)
        .execute(arguments);
  }

  /** Figures of a run in which all goals are kept, to the limit. */
  private static List<Figure> kept() {
    List<Figure> figures = new ArrayList<>();
    for (Delay delay : Delay.values()) {
      for (String name : Contenders.NAMES) {
        if (!name.equals(Contenders.CHECK_THEN_ACT)) {
          Case.ADMITTED.forEach(of -> figures.add(admitted(delay, of, name)));
          Case.REFUSED.forEach(of -> figures.add(refused(delay, of, name)));
        }
      }
      figures.add(
          figure(delay, Case.HANDSHAKE, Handshakes.TOLLGATE, DECISIONS, 5 * DECISIONS, 12, 0));
      figures.add(
          figure(delay, Case.HANDSHAKE, Handshakes.SAMPLE, DECISIONS, 8 * DECISIONS, 48, 0));
    }
    for (String name : Contenders.NAMES) {
      long excess = name.equals(Contenders.CHECK_THEN_ACT) ? 10 : 0;
      figures.add(figure(Delay.FIXED, Case.DRAINED, name, 61, DECISIONS, 5, excess));
    }
    return figures;
  }

  private static Figure admitted(Delay delay, Case of, String name) {
    // In a second, a row is read at its start and at its end, by each caller of its key.
    long rows = 2L * of.callers();
    return switch (name) {
      case Contenders.QUIET -> figure(delay, of, name, DECISIONS, 2 * DECISIONS + rows, 12.5, 0);
      case Contenders.PREFETCHED -> rate(figure(delay, of, name, DECISIONS, 300, 0.001, 0), 3_001);
      case Contenders.BUCKET4J_DYNAMODB ->
          figure(delay, of, name, DECISIONS, 2 * DECISIONS, 12.5, 0);
      case Contenders.LUA -> rate(figure(delay, of, name, DECISIONS, DECISIONS, 5.3, 0), 3_000);
      default -> figure(delay, of, name, DECISIONS, DECISIONS, 6, 0);
    };
  }

  private static Figure refused(Delay delay, Case of, String name) {
    long requests = name.equals(Contenders.QUIET) ? 4L * of.keys() : DECISIONS;
    return figure(delay, of, name, 0, requests, 0.001, 0);
  }

  private static Figure figure(
      Delay delay, Case of, String name, long admitted, long requests, double millis, long excess) {
    return new Figure(
        delay,
        of,
        name,
        DECISIONS,
        admitted,
        0,
        1,
        1,
        requests,
        millis,
        2 * millis,
        DECISIONS,
        810,
        Contenders.ON_REDIS.contains(name) ? OptionalDouble.empty() : OptionalDouble.of(0.625),
        excess,
        0);
  }

  private static Figure rate(Figure figure, double perSecond) {
    return new Figure(
        figure.delay(),
        figure.of(),
        figure.contender(),
        figure.decisions(),
        figure.admitted(),
        figure.failures(),
        figure.seconds(),
        figure.rounds(),
        figure.requests(),
        figure.p50Millis(),
        figure.p99Millis(),
        perSecond,
        figure.cpuMicros(),
        figure.dollars(),
        figure.excess(),
        figure.slack());
  }

  private static Figure requests(Figure figure, long requests, double millis, long excess) {
    return new Figure(
        figure.delay(),
        figure.of(),
        figure.contender(),
        figure.decisions(),
        figure.admitted(),
        figure.failures(),
        figure.seconds(),
        figure.rounds(),
        requests,
        millis,
        figure.p99Millis(),
        figure.perSecond(),
        figure.cpuMicros(),
        figure.dollars(),
        excess,
        figure.slack());
  }

  private static List<Figure> but(Case of, String name, UnaryOperator<Figure> change) {
    return kept().stream()
        .map(
            figure ->
                figure.of().equals(of) && figure.contender().equals(name)
                    ? change.apply(figure)
                    : figure)
        .toList();
  }

  private static void assertMissed(String goal, List<Figure> figures) {
    assertThat(Goals.of(figures).isKept()).isFalse();
    assertThat(Goals.of(figures).lines().stream().filter(line -> line.contains("**missed**")))
        .singleElement()
        .asString()
        .contains(goal);
  }

  @Test
  void goals_are_kept_at_their_limits() {
    assertThat(Goals.of(kept()).lines()).noneMatch(line -> line.contains("missed"));
    assertThat(Goals.of(kept()).isKept()).isTrue();
  }

  @Test
  void each_goal_is_missed_one_step_beyond_its_limit() {
    for (Case of : Case.ADMITTED) {
      assertMissed(
          "requests a decision, quiet: " + of.title(),
          but(of, Contenders.QUIET, one -> requests(one, one.requests() + 1, 12.5, 0)));
      assertMissed(
          "median time, quiet: " + of.title(),
          but(of, Contenders.QUIET, one -> requests(one, one.requests(), 12.6, 0)));
      assertMissed(
          "requests a decision, prefetched: " + of.title(),
          but(of, Contenders.PREFETCHED, one -> requests(one, 301, 1, 0)));
    }
    assertMissed(
        "decisions a second, prefetched",
        but(Case.ADMITTED.get(2), Contenders.PREFETCHED, one -> rate(one, 3_000)));
    for (Case of : Case.REFUSED) {
      assertMissed(
          "requests a refusal while the bucket is known to be empty: " + of.title(),
          but(of, Contenders.QUIET, one -> requests(one, one.requests() + 1, 1, 0)));
    }
  }

  @Test
  void excess_is_missed_for_any_contender_and_for_a_control_without_one() {
    for (String name : Contenders.NAMES) {
      boolean control = name.equals(Contenders.CHECK_THEN_ACT);
      assertMissed(
          control ? "the control" : "tokens admitted beyond the bucket's",
          but(Case.DRAINED, name, one -> requests(one, one.requests(), 5, control ? 0 : 1)));
    }
  }

  @Test
  void wrong_decisions_are_reported() {
    List<Figure> figures =
        but(
            Case.REFUSED.get(0),
            Contenders.LUA,
            one -> figure(one.delay(), one.of(), one.contender(), 1, one.requests(), 1, 0));

    assertMissed("Lua GCRA on Redis, 5 ms, 1 caller, refused: 1 of 1000 admitted", figures);
  }

  @Test
  void contender_that_was_not_measured_is_named_and_has_no_figures() {
    List<Figure> figures =
        kept().stream()
            .filter(figure -> !Contenders.ON_REDIS.contains(figure.contender()))
            .toList();

    assertThat(Report.lines(figures))
        .contains(
            "| Lua GCRA on Redis | not measured | not measured | not measured | not measured | not measured |");
    assertThat(Goals.of(figures).isKept()).isTrue();
    assertThat(Goals.of(List.of()).isKept()).isFalse();
  }

  @Test
  void cell_has_requests_times_rate_and_ratio() {
    assertThat(Report.lines(kept()))
        .anyMatch(
            line ->
                line.startsWith("| Lua GCRA on Redis | 1.00; 5.3, 10.6; 3,000 (3.00 ×)")
                    && line.endsWith("| 0.810 | by the hour |"));
  }

  @Test
  void figures_are_read_as_they_were_written() {
    Path file = directory.resolve("new/comparison.csv");

    FiguresFile.write(file, kept());

    assertThat(FiguresFile.read(file)).isEqualTo(kept());
  }

  @Test
  void malformed_line_is_refused_by_its_number() throws IOException {
    Path file = directory.resolve("comparison.csv");
    FiguresFile.write(file, kept());
    List<String> lines = new ArrayList<>(Files.readAllLines(file));
    lines.set(2, lines.get(2).replace("5 ms", "6 ms"));
    Files.write(file, lines);

    assertThatThrownBy(() -> FiguresFile.read(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("comparison.csv, line 3: 6 ms;");
    assertThat(run("--draw", file.toString())).isEqualTo(2);
  }

  @Test
  void draw_prints_tables_replaces_those_of_the_document_and_draws_figures() throws IOException {
    Path data = directory.resolve("comparison.csv");
    Path document = directory.resolve("comparison.md");
    FiguresFile.write(data, kept());
    Files.writeString(
        document, "before\n" + Document.BEGIN + "\nold\n" + Document.END + "\nafter\n");

    assertThat(run("--draw", data.toString(), "--into", directory.toString())).isZero();

    assertThat(Files.readString(document))
        .startsWith("before\n" + Document.BEGIN)
        .endsWith(Document.END + "\nafter\n")
        .contains(out.toString().lines().toList())
        .doesNotContain("old");
    for (Delay delay : Delay.values()) {
      String name = delay == Delay.FIXED ? "comparison.svg" : "comparison-tail.svg";
      assertThat(Files.readString(directory.resolve(name)))
          .contains("<svg", "rgb(11,92,173)")
          .isEqualTo(Drawing.svg(delay, kept()));
    }
  }

  @Test
  void missed_goal_is_the_exit_code() {
    Path data = directory.resolve("comparison.csv");
    FiguresFile.write(data, but(Case.DRAINED, Contenders.LUA, one -> requests(one, 1, 5, 1)));

    assertThat(run("--draw", data.toString(), "--into", directory.toString())).isEqualTo(1);
  }

  @Test
  void document_without_markers_is_refused() throws IOException {
    Path file = directory.resolve("comparison.md");
    Files.writeString(file, Document.END + Document.BEGIN);

    assertThatThrownBy(() -> Document.replace(file, List.of())).hasMessageContaining("no markers");
  }
}
