package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.ControlPlane;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Request;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImportTest {
  @TempDir private Path directory;
  private StubDeployment deployment;
  private final ControlPlane controlPlane = new ControlPlane();

  @BeforeEach
  void start() throws IOException {
    deployment = new StubDeployment(directory).answersWith(controlPlane);
  }

  @AfterEach
  void stop() {
    deployment.close();
  }

  private Run importRows(String csv, String... options) throws IOException {
    Files.writeString(directory.resolve("tenants.csv"), csv);
    String[] arguments = new String[options.length + 3];
    List.of("tenants", "import", "tenants.csv").toArray(arguments);
    System.arraycopy(options, 0, arguments, 3, options.length);
    return deployment.run(arguments);
  }

  private static String rows(int count) {
    return IntStream.rangeClosed(1, count)
        .mapToObj(number -> "t" + number + ",bronze,\n")
        .collect(Collectors.joining("", "tenantId,tier,sessionTTL\n", ""));
  }

  private Map<String, Long> requestsByMethod() {
    return deployment.requests().stream()
        .collect(Collectors.groupingBy(Request::method, Collectors.counting()));
  }

  @Test
  void five_thousand_rows_are_one_request_each_and_a_second_run_only_lists() throws IOException {
    String csv = rows(5_000);

    Run run = importRows(csv);

    assertThat(run.out()).startsWith("5,000 onboarded in ");
    assertThat(run.exitCode()).isZero();
    assertThat(controlPlane.tenants()).hasSize(5_000);
    assertThat(requestsByMethod())
        .containsExactlyInAnyOrderEntriesOf(Map.of("GET", 2L, "POST", 5_000L));

    deployment.requests().clear();
    Run second = importRows(csv);

    assertThat(second.out()).isEqualTo("5,000 already exist; nothing to do.\n");
    assertThat(second.exitCode()).isZero();
    // One request for the tiers, and fifty for pages of tenants.
    assertThat(requestsByMethod()).isEqualTo(Map.of("GET", 51L));
  }

  @Test
  void rows_are_onboarded_with_overrides_and_blank_cells_are_none() throws IOException {
    Run run =
        importRows(
            "\uFEFF"
                + """
                tier,tenantId,sessionTTL,tenantConnections,line
                gold,acme,60,,

                "bronze", globex ,,7,false
                """
                    .replace("\n", "\r\n"),
            "--parallel",
            "1");

    assertThat(run.err()).isEmpty();
    assertThat(deployment.requests())
        .extracting(Request::body)
        .contains(
            "{\"tenantId\":\"acme\",\"tier\":\"gold\",\"overrides\":{\"sessionTTL\":60}}",
            "{\"tenantId\":\"globex\",\"tier\":\"bronze\",\"overrides\":{\"line\":false,\"tenantConnections\":7}}");
  }

  @Test
  void rows_can_come_from_standard_input() {
    Run run = deployment.piped("tenantId,tier\nacme,gold\n").run("tenants", "import", "-");

    assertThat(run.exitCode()).isZero();
    assertThat(controlPlane.tenants()).containsExactly("acme");
  }

  @Test
  void a_killed_import_continues_where_it_stopped() throws IOException {
    controlPlane.tenant("t1", "bronze", "{}").tenant("t3", "bronze", "{}");

    Run run = importRows(rows(4));

    assertThat(run.out()).contains("2 onboarded in ", "; 2 already exist.");
    assertThat(controlPlane.writes())
        .containsExactlyInAnyOrder("POST /tenants t2", "POST /tenants t4");
  }

  @Test
  void failures_are_listed_by_row_and_do_not_stop_the_import() throws IOException {
    controlPlane.tenant("t2", "gold", "{\"sessionTTL\":60}");
    controlPlane.refuses("POST /tenants t3", 409, Map.of());

    Run run = importRows(rows(5));

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).startsWith("3 onboarded in ").endsWith("; 2 failed:\n");
    assertThat(run.err())
        .isEqualTo(
            """
              row 3: t2: already exists with different settings: tier gold, sessionTTL=60
              row 4: t3: Refused: on purpose
            """);
    assertThat(controlPlane.tenants()).containsExactly("t1", "t2", "t4", "t5");
  }

  @Test
  void a_row_of_a_tenant_that_is_being_removed_fails() throws IOException {
    controlPlane.slow().tenant("t1", "bronze", "{}");
    deployment.run("tenants", "offboard", "t1", "--yes", "--timeout", "0");
    controlPlane.forgetWrites();

    Run run = importRows(rows(1));

    assertThat(run.err())
        .contains("row 2: t1: already exists with different settings: tier bronze, being removed");
    assertThat(controlPlane.writes()).isEmpty();
  }

  @Test
  void failures_as_json_are_one_document() throws IOException {
    controlPlane.refuses("POST /tenants t1", 400, Map.of());

    Run run = importRows(rows(1), "--json");

    assertThat(run.out())
        .isEqualTo(
            "{\"onboarded\":0,\"stoodAlready\":0,\"notBegun\":0,\"failed\":"
                + "[{\"row\":2,\"tenantId\":\"t1\",\"reason\":\"Refused: on purpose\"}]}\n");
    assertThat(run.err()).isEmpty();
  }

  @Test
  void all_errors_are_reported_by_row_and_nothing_is_sent() throws IOException {
    Run run =
        importRows(
            """
            tenantId,tier,sessionTTL
            acme,gold,60
            Acme,gold,
            acme,gold,-1
            globex,tin,"1,000"
            ,bronze,
            initech,bronze
            """);

    assertThat(run.err())
        .isEqualTo(
            """
            tollgate: tenants.csv: 7 invalid values. Nothing was changed.
              row 3: tenantId: Acme (expected: 1 to 36 lower-case letters, digits and hyphens; no hyphen first)
              row 4: tenantId: acme (expected: once; also in row 2)
              row 4: sessionTTL: -1 (expected: a whole number, at least 1; blank for the tier's value)
              row 5: sessionTTL: 1,000 (expected: a whole number, at least 1; blank for the tier's value)
              row 5: tier: tin (expected: bronze, gold, silver)
              row 6: tenantId:  (expected: 1 to 36 lower-case letters, digits and hyphens; no hyphen first)
              row 7: row: 2 cells (expected: 3, as in the header)
            """);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(controlPlane.writes()).isEmpty();
  }

  @Test
  void an_invalid_header_is_rejected_before_any_request() throws IOException {
    assertThat(importRows("acme,gold\n").err())
        .contains("row 1: tenantId: missing", "row 1: column: acme");
    assertThat(importRows("").err()).contains("row 1: tenantId: missing", "row 1: tier: missing");
    assertThat(importRows("tenantId,tier,tier\n").err())
        .contains("row 1: column: tier (expected: once)");
    assertThat(importRows("tenantId,tier\n\"acme,gold\n").err()).contains("row 2 is not CSV");
    assertThat(deployment.run("tenants", "import", "none.csv").err())
        .contains("Cannot read none.csv: no such file");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void a_rejected_value_cannot_control_the_terminal() throws IOException {
    assertThat(importRows("tenantId,tier\n\"a\u001b]0;pwn\u0007\u001b[31mred\",gold\n").err())
        .contains("row 2: tenantId: a\\u001b]0;pwn\\u0007\\u001b[31mred")
        .doesNotContain("\u001b", "\u0007");
  }

  @Test
  void requests_keep_the_pace() throws IOException {
    Run run = importRows(rows(100), "--parallel", "1", "--rate", "4");

    // The first request is sent at once, and 101 follow: one for the tiers, one page, and a hundred
    // tenants.
    assertThat(run.waits()).hasSize(101).containsOnly(Duration.ofMillis(250));
    assertThat(run.out()).isEqualTo("100 onboarded in 25.3 s.\n");
    assertThat(run.err())
        .isEqualTo(
            """
            Imported 40 of 100 tenants, 10 s
            Imported 80 of 100 tenants, 20 s
            """);
  }

  @Test
  void a_terminal_shows_the_progress_in_one_line() throws IOException {
    controlPlane.refuses("POST /tenants t2", 409, Map.of());
    deployment.confirmedBy(question -> true);

    Run run = importRows(rows(3), "--parallel", "1", "--rate", "1");

    assertThat(run.err())
        .contains("\rImported 1 of 3 tenants, 1 s", "\rImported 2 of 3 tenants, 1 failed, 3 s")
        .contains(" ".repeat(20) + "\r  row 3: t2: Refused");
  }

  @Test
  void json_comes_without_progress_on_a_terminal_and_on_a_pipe() throws IOException {
    assertThat(importRows(rows(20), "--rate", "1", "--json").err()).isEmpty();

    deployment.confirmedBy(question -> true);
    assertThat(importRows(rows(20), "--rate", "1", "-o", "json").err()).isEmpty();
  }

  @Test
  void throttling_delays_all_requests_for_retry_after() throws IOException {
    controlPlane.refuses("POST /tenants t2", 429, Map.of("Retry-After", "30"));

    Run run = importRows(rows(3), "--parallel", "1", "--rate", "1");

    assertThat(run.exitCode()).isZero();
    assertThat(run.waits())
        .containsExactly(
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            Duration.ofSeconds(30),
            Duration.ofSeconds(1));
    assertThat(controlPlane.tenants()).containsExactly("t1", "t2", "t3");
  }

  @Test
  void without_retry_after_the_waits_double_up_to_a_limit() throws IOException {
    for (int attempt = 0; attempt < 6; attempt++) {
      controlPlane.refuses("POST /tenants t1", 503, Map.of());
    }

    Run run = importRows(rows(2), "--parallel", "1", "--rate", "1000");

    assertThat(run.waits().stream().filter(wait -> wait.toMillis() >= 1_000))
        .containsExactly(
            Duration.ofSeconds(1),
            Duration.ofSeconds(2),
            Duration.ofSeconds(4),
            Duration.ofSeconds(8),
            Duration.ofSeconds(16));
    assertThat(run.err()).contains("row 2: t1: 503 Refused: on purpose");
    assertThat(controlPlane.tenants()).containsExactly("t2");
  }

  @Test
  void a_retry_after_of_an_hour_is_not_waited_for() throws IOException {
    controlPlane.refuses("POST /tenants t1", 429, Map.of("Retry-After", "3600"));

    Run run = importRows(rows(2), "--parallel", "1");

    assertThat(run.err()).contains("row 2: t1: Refused");
    assertThat(run.waits()).allMatch(wait -> wait.toSeconds() < 1);
  }

  @Test
  void an_import_stops_when_access_is_denied() throws IOException {
    controlPlane.refuses("POST /tenants t1", 403, Map.of());

    Run run = importRows(rows(5), "--parallel", "1");

    assertThat(run.out()).contains("1 failed; 4 not started, from row 3 on; run the command again");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(controlPlane.writes()).hasSize(1);
  }

  @Test
  void an_import_retries_a_control_plane_that_stops_responding_and_then_stops() throws IOException {
    for (int attempt = 0; attempt < 6; attempt++) {
      controlPlane.refuses("POST /tenants t2", 0, Map.of());
    }

    Run run = importRows(rows(5), "--parallel", "1");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).contains("1 onboarded", "1 failed; 3 not started, from row 4 on");
    assertThat(run.waits()).contains(Duration.ofSeconds(16));
  }

  @Test
  void an_import_does_not_retry_a_control_plane_that_never_responded() throws IOException {
    deployment.close();

    Run run = importRows(rows(1));

    assertThat(run.err()).contains("Cannot connect to ");
    assertThat(run.waits()).isEmpty();
  }
}
