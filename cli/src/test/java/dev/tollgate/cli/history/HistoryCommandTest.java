package dev.tollgate.cli.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Documents;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Request;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HistoryCommandTest {
  private static final String NOW = "GET /control/fleet/tenants?window=1m&limit=1";
  private static final String HOUR =
      "?from=2026-03-12T14%3A00%3A00Z&to=2026-03-12T15%3A00%3A00Z&step=1m";
  private static final String QUARTER =
      "?from=2026-03-12T14%3A03%3A00Z&to=2026-03-12T14%3A16%3A00Z&step=5m";
  private static final String STEPS =
      "{\"from\":\"2026-03-12T14:00:00Z\",\"to\":\"2026-03-12T15:00:00Z\",\"stepSeconds\":60,"
          + "\"steps\":[{\"at\":\"2026-03-12T14:05:00Z\",\"admitted\":60,\"refused\":33,"
          + "\"refusedFor\":{\"SESSION_RATE\":2,\"TENANT_RATE\":31},\"wouldRefuse\":0,\"wouldRefuseFor\":{},\"peakConnections\":118,"
          + "\"tokens\":[{\"action\":\"connect\",\"minted\":60,\"taken\":60},"
          + "{\"action\":\"send-email\",\"minted\":9,\"taken\":7},{\"action\":\"message\",\"minted\":1,\"taken\":0}]},"
          + "{\"at\":\"2026-03-12T14:10:00Z\",\"admitted\":-1,\"refused\":0,\"refusedFor\":{},"
          + "\"wouldRefuse\":0,\"wouldRefuseFor\":{},\"peakConnections\":9,\"tokens\":[]}]}";

  private StubDeployment deployment;

  @BeforeEach
  void open(@TempDir Path directory) throws IOException {
    deployment =
        new StubDeployment(directory)
            .answers(
                NOW,
                200,
                "{\"from\":\"2026-03-12T14:59:00Z\",\"to\":\"2026-03-12T15:00:00Z\","
                    + "\"activeTenants\":0,\"tenants\":[]}");
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  @Test
  void the_last_hour_of_a_tenant_is_a_table_of_minutes() {
    deployment.answers("GET /control/tenants/acme/history" + HOUR, 200, STEPS);

    Run run = deployment.run("history", "acme");

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .isEqualTo(
            """
            acme, 2026-03-12T14:00:00Z to 2026-03-12T15:00:00Z, in steps of 1m.
            Steps in which nothing happened are left out. The last two minutes are still incomplete.

            TIME                  ADMITTED  REFUSED  PEAK  REFUSED FOR                     TOKENS TAKEN              TOKENS MINTED
            2026-03-12T14:05:00Z        60       33   118  SESSION_RATE 2, TENANT_RATE 31  connect 60, send-email 7  connect 60, message 1, send-email 9
            2026-03-12T14:10:00Z        -1        0     9
            """);
  }

  @Test
  void without_a_tenant_all_are_shown() {
    deployment.answers("GET /control/fleet" + HOUR, 200, STEPS.replaceAll("\\{\"at.*", "]}"));

    assertThat(deployment.run("history").out())
        .isEqualTo(
            "All tenants, 2026-03-12T14:00:00Z to 2026-03-12T15:00:00Z, in steps of 1m: nothing"
                + " happened. The last two minutes are still incomplete.\n");
  }

  @ParameterizedTest
  @CsvSource({
    "14:57, ''",
    "14:58, ' The last two minutes are still incomplete.'",
  })
  void nothing_may_become_something(String to, String more) {
    deployment.answers(
        "GET /control/fleet?from=2026-03-12T14%3A00%3A00Z&to=2026-03-12T"
            + to.replace(":", "%3A")
            + "%3A00Z&step=1m",
        200,
        "{\"steps\":[]}");

    assertThat(
            deployment
                .run("history", "--from=2026-03-12T14:00:00Z", "--to=2026-03-12T" + to + ":00Z")
                .out())
        .endsWith(": nothing happened." + more + "\n");
  }

  @Test
  void a_time_and_a_step_of_ones_own_need_no_clock() {
    deployment.answers("GET /control/fleet" + QUARTER, 200, STEPS);

    assertThat(
            deployment.run(
                "history",
                "--from",
                "2026-03-12T14:03:00Z",
                "--to",
                "2026-03-12T14:16:00Z",
                "--step=5m"))
        .returns(0, Run::exitCode);
    assertThat(deployment.requests())
        .containsExactly(new Request("GET", "/control/fleet" + QUARTER, ""));
  }

  @Test
  void a_short_time_of_last_year_has_hours() {
    String query = "?from=2025-03-12T14%3A00%3A00Z&to=2025-03-12T16%3A00%3A00Z&step=1h";
    deployment.answers("GET /control/fleet" + query, 200, STEPS);

    assertThat(
            deployment.run("history", "--from=2025-03-12T14:00:00Z", "--to=2025-03-12T16:00:00Z"))
        .returns(0, Run::exitCode);
  }

  @ParameterizedTest
  @CsvSource({
    "2024-12-31T00:00:00Z, 2025-01-31T00:00:00Z, ' What happened before 2025-02-05T15:00:00Z is no longer kept.'",
    "2025-02-01T00:00:00Z, 2025-02-08T00:00:00Z, ': nothing happened. What happened before 2025-02-05T15:00:00Z is no longer kept.'",
    "2025-12-01T10:10:00Z, 2025-12-01T10:40:00Z, ' Its minutes are no longer kept: ask for whole hours, with --from and --to at full hours.'",
    "2025-12-01T10:00:00Z, 2025-12-01T10:40:00Z, ': nothing happened.'",
  })
  void a_time_that_is_no_longer_kept_is_no_time_in_which_nothing_happened(
      String from, String to, String said) {
    String step = from.contains("10:") ? "1h" : to.contains("31T") ? "1d" : "6h";
    deployment.answers(
        "GET /control/fleet?from=%s&to=%s&step=%s"
            .formatted(from.replace(":", "%3A"), to.replace(":", "%3A"), step),
        200,
        "{\"steps\":[]}");

    Run run = deployment.run("history", "--from", from, "--to", to);

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .isEqualTo(
            "All tenants, %s to %s, in steps of %s%s%s\n"
                .formatted(from, to, step, said.startsWith(":") ? "" : ".", said));
  }

  @Test
  void a_chart_has_a_line_for_each_step() {
    deployment.answers("GET /control/fleet" + QUARTER, 200, STEPS);

    assertThat(
            deployment
                .run(
                    "history",
                    "--from=2026-03-12T14:03:00Z",
                    "--to=2026-03-12T14:16:00Z",
                    "--step=5m",
                    "--chart")
                .out())
        .endsWith(
            """

                                  ADMITTED                      REFUSED
            2026-03-12T14:00:00Z  0                             0
            2026-03-12T14:05:00Z  █████████████████████████ 60  █████████████▊ 33
            2026-03-12T14:10:00Z  -1                            0
            2026-03-12T14:15:00Z  0                             0
            """);
  }

  @Test
  void a_terminal_gets_the_chart() {
    deployment.answers("GET /control/fleet" + HOUR, 200, STEPS).repliesWith(prompt -> "");

    assertThat(deployment.run("history").out().lines())
        .hasSize(3 + 3 + 1 + 61)
        .anyMatch(line -> line.contains("█"));
  }

  @Test
  void json_is_the_answer_and_csv_has_a_column_for_each_reason_and_action() {
    deployment.answers("GET /control/fleet" + HOUR, 200, STEPS);

    assertThat(deployment.run("history", "-o", "json").out()).isEqualTo(STEPS + "\n");
    assertThat(deployment.run("history", "-o", "csv", "--chart").out())
        .isEqualTo(
            """
            at,admitted,refused,wouldRefuse,peakConnections,refusedFor.SESSION_RATE,refusedFor.TENANT_RATE,tokens.connect,tokens.message,tokens.send-email,minted.connect,minted.message,minted.send-email
            2026-03-12T14:05:00Z,60,33,0,118,2,31,60,0,7,60,1,9
            2026-03-12T14:10:00Z,-1,0,0,9,0,0,0,0,0,0,0,0
            """);
  }

  @Test
  void what_observed_limits_would_have_refused_has_columns() {
    deployment.answers(
        "GET /control/fleet" + HOUR,
        200,
        STEPS.replaceFirst(
            "\"wouldRefuse\":0,\"wouldRefuseFor\":\\{\\}",
            "\"wouldRefuse\":6,\"wouldRefuseFor\":{\"TENANT_RATE\":4,\"SESSION_RATE\":2}"));

    assertThat(deployment.run("history").out().lines().map(line -> line.replaceAll(" {2,}", "|")))
        .contains(
            "TIME|ADMITTED|REFUSED|PEAK|REFUSED FOR|TOKENS TAKEN|TOKENS MINTED|WOULD REFUSE|WOULD REFUSE FOR",
            "2026-03-12T14:05:00Z|60|33|118|SESSION_RATE 2, TENANT_RATE 31"
                + "|connect 60, send-email 7|connect 60, message 1, send-email 9|6|SESSION_RATE 2, TENANT_RATE 4");
    assertThat(deployment.run("history", "-o", "csv").out())
        .contains(
            "refusedFor.TENANT_RATE,wouldRefuseFor.SESSION_RATE,wouldRefuseFor.TENANT_RATE,",
            "2026-03-12T14:05:00Z,60,33,6,118,2,31,2,4,60,0,7");
  }

  @Test
  void errors_say_what_to_do() {
    deployment.answers(
        "GET /control/tenants/nosuch/history" + HOUR,
        404,
        Documents.problem(404, "Not Found", "No tenant named `nosuch`."));

    assertThat(deployment.run("history", "nosuch").err())
        .isEqualTo(
            "tollgate: No tenant named `nosuch`, and no history of one. List tenants with `tollgate"
                + " tenants list`.\n");
    assertThat(deployment.run("history", "--since", "1w").err())
        .startsWith("tollgate: Invalid value for option '--since': 1w")
        .contains("(expected: minutes, hours or days: 5m, 1h, 7d)");
    assertThat(deployment.run("history", "--from=2026-03-12T15:00:00Z").err())
        .isEqualTo(
            "tollgate: --from: 2026-03-12T15:00:00Z (expected: before 2026-03-12T15:00:00Z)\n");
    assertThat(deployment.run("tenants", "list", "-o", "csv").err())
        .startsWith(
            "tollgate: -o csv: only `history`, `top`, `usage`, `replay` and `cost` print CSV");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--from=yesterday | Invalid value for option '--from': yesterday (expected: an instant such as 2026-03-12T14:00:00Z)",
        "--from=2026-03-12T14:00:30Z | --from: 2026-03-12T14:00:30Z (expected: a full minute)",
        "--to=2026-03-12T14:00:00.5Z | --to: 2026-03-12T14:00:00.500Z (expected: a full minute)",
        "--since=8d --step=90m | --step: 90m (expected: whole hours for more than 7d)",
        "acme --from=0001-01-01T00:00:00Z | --from: 0001-01-01T00:00:00Z (expected: at most 400d before the end)",
        "--since=401d | --since: 401d (expected: at most 400d before the end)",
        "acme --since=32d --step=90m | --step: 90m (expected: whole hours for more than 31d)",
        "acme --since=31d --step=29m | --step: 29m (expected: at least 30m for 2026-02-09T15:00:00Z to 2026-03-12T15:00:00Z)",
      })
  void invalid_values_name_the_option_and_what_is_allowed(String arguments, String error) {
    Run run = deployment.run(("history " + arguments).split(" ", -1));

    assertThat(run.err()).startsWith("tollgate: " + error + "\n");
    assertThat(run.exitCode()).isEqualTo(2);
  }

  @Test
  void help_has_an_example() {
    assertThat(deployment.run("history", "--help").out().replaceAll("\\s+", " "))
        .contains("Example: `tollgate history acme --since 1d`")
        .contains("`tollgate history --since 400d --step 1d`");
  }
}
