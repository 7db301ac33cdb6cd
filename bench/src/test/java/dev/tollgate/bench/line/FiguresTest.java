package dev.tollgate.bench.line;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.bench.line.Attempt.Result;
import dev.tollgate.bench.line.Scenario.Arrival;
import dev.tollgate.bench.line.Scenario.Window;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Figures and the report of runs of 33 clients, three of which find no token. */
class FiguresTest {
  private static final int FULL = Scenario.PER_MINUTE;

  private final List<Attempt> attempts = new ArrayList<>();

  private static Scenario scenario(Manners last, Optional<Window> window) {
    List<Arrival> arrivals =
        IntStream.range(0, FULL + 3)
            .mapToObj(
                client ->
                    new Arrival(
                        client == FULL + 2 ? last : Manners.POLITE,
                        seconds(client >= FULL ? client - FULL : 0)))
            .toList();
    return new Scenario("test", "three wait", true, arrivals, Optional.empty(), window);
  }

  private static Duration seconds(double seconds) {
    return Duration.ofMillis(Math.round(seconds * 1_000));
  }

  private void attempt(int client, double sent, Result result) {
    attempts.add(
        new Attempt(
            "test",
            client,
            Manners.POLITE,
            seconds(sent),
            seconds(sent + 0.1),
            result,
            Optional.empty(),
            Optional.empty()));
  }

  private void fullBucket() {
    IntStream.range(0, FULL).forEach(client -> attempt(client, 0, Result.ADMITTED));
  }

  private static String report(Scenario scenario, List<Attempt> attempts) {
    Report report = new Report();
    report.add(scenario, attempts);
    return String.join("\n", report.lines());
  }

  @Test
  void figures_count_refusals_waits_and_order() {
    Scenario scenario = scenario(Manners.POLITE, Optional.empty());
    fullBucket();
    attempt(FULL, 0, Result.REFUSED);
    attempt(FULL + 1, 1, Result.REFUSED);
    attempt(FULL + 2, 2, Result.REFUSED);
    attempt(FULL + 1, 3, Result.ADMITTED);
    attempt(FULL, 3.5, Result.REFUSED);
    attempt(FULL, 5, Result.ADMITTED);
    attempt(FULL + 2, 6, Result.ADMITTED);

    Figures figures = Figures.of(scenario, attempts, any -> true);

    assertThat(figures.clients()).isEqualTo(33);
    assertThat(figures.attempts()).isEqualTo(37);
    assertThat(figures.refusals()).isEqualTo(4);
    assertThat(figures.leastRefusals()).isEqualTo(3);
    assertThat(figures.mostRefusals()).isEqualTo(2);
    assertThat(figures.absent()).isZero();
    assertThat(figures.lastAdmitted()).isEqualTo(seconds(6.1));
    assertThat(figures.idealLast()).isEqualTo(seconds(6));
    assertThat(figures.waits().quantile(1)).isEqualTo(seconds(5.1));
    assertThat(figures.overtaken()).as("only the first of those who wait").isEqualTo(1);
    assertThat(report(scenario, attempts)).contains("missed: at most 3 refusals |");
  }

  @Test
  void a_second_between_admissions_is_rounding() {
    fullBucket();
    attempt(FULL, 3, Result.ADMITTED);
    attempt(FULL + 1, 2.1, Result.ADMITTED);
    attempt(FULL + 2, 6, Result.ADMITTED);

    assertThat(
            Figures.of(scenario(Manners.POLITE, Optional.empty()), attempts, any -> true)
                .overtaken())
        .isZero();
  }

  @Test
  void report_names_missed_goals() {
    Scenario scenario = scenario(Manners.POLITE, Optional.empty());
    fullBucket();
    attempt(FULL, 0, Result.REFUSED);
    attempt(FULL, 2, Result.REFUSED);
    attempt(FULL, 4, Result.REFUSED);
    attempt(FULL, 6, Result.ADMITTED);
    attempt(FULL + 1, 1, Result.FAILED);
    attempt(FULL + 1, 21, Result.ADMITTED);

    assertThat(report(scenario, attempts))
        .contains(
            "missed: nobody refused more than twice, no failed attempt (1), all in within 21 s |")
        .contains("| 1 still wait |");
    attempt(FULL + 2, 2, Result.ADMITTED);
    assertThat(report(scenario, attempts)).contains("| 21.1 s (6.0 s) |");
  }

  @Test
  void report_counts_tokens_used_in_the_window() {
    Scenario scenario = scenario(Manners.NO_SHOW, Optional.of(new Window(seconds(2), seconds(6))));
    fullBucket();
    attempt(FULL, 2, Result.ADMITTED);

    assertThat(report(scenario, attempts))
        .contains("1 of 2 tokens used in 4 s", "missed: 95 % of the tokens used");
    attempt(FULL + 1, 5, Result.ADMITTED);
    assertThat(report(scenario, attempts)).contains("2 of 2 tokens used in 4 s", "| kept |");
  }

  @Test
  void report_escapes_failures() {
    Report report = new Report();
    report.addFailure(scenario(Manners.POLITE, Optional.empty()), "a|b\nc");

    assertThat(report.isKept()).isFalse();
    assertThat(report.lines().get(2)).contains("not measured: a\\|b c");
  }
}
