package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Documents;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Request;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AdmitAllTest {
  private static final String ON =
      "{\"on\":true,\"since\":\"2026-03-12T09:15:02Z\",\"until\":\"2026-03-12T10:15:02Z\","
          + "\"reason\":\"SQS fails\",\"by\":\"arn:aws:iam::123456789012:user/platform\"}";
  private static final String OFF = "{\"on\":false}";
  private static final String SHOWN =
      """
      All limits are lifted until 2026-03-12T10:15:02Z.
      Turned on at 2026-03-12T09:15:02Z by arn:aws:iam::123456789012:user/platform.
      Reason: SQS fails
      """;
  private static final Map<String, String> HEADER =
      Map.of("Tollgate-Admit-All", "until=2026-03-12T10:15:02Z");
  private static final String NOTICE =
      "All limits are lifted until 2026-03-12T10:15:02Z: tollgate admit-all\n";

  @TempDir private Path directory;
  private StubDeployment deployment;

  @BeforeEach
  void open() throws IOException {
    deployment = new StubDeployment(directory);
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  @Test
  void the_state_is_shown_once() {
    deployment.answers("GET /control/admit-all", 200, ON, HEADER);

    Run run = deployment.run("admit-all");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).isEqualTo(SHOWN);
    assertThat(run.err()).isEmpty();
    assertThat(deployment.run("admit-all", "-o", "json").out()).isEqualTo(ON + "\n");
  }

  @Test
  void enforced_limits_are_one_line() {
    deployment.answers("GET /control/admit-all", 200, OFF);

    assertThat(deployment.run("admit-all").out()).isEqualTo("Limits are enforced.\n");
  }

  @ParameterizedTest
  @CsvSource({"'',60", "1m,1", "90m,90", "24h,1440", "1d,1440"})
  void limits_are_lifted_for_some_minutes(String time, int minutes) {
    deployment.answers("PUT /control/admit-all", 200, ON, HEADER);

    Run run =
        time.isEmpty()
            ? deployment.run("admit-all", "on", "--reason", "SQS fails")
            : deployment.run("admit-all", "on", "--reason", "SQS fails", "--for", time);

    assertThat(run.out()).isEqualTo(SHOWN);
    assertThat(run.target()).startsWith("Target: ");
    assertThat(run.err()).isEmpty();
    assertThat(deployment.requests())
        .containsExactly(
            new Request(
                "PUT",
                "/control/admit-all",
                "{\"reason\":\"SQS fails\",\"minutes\":" + minutes + "}"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0m", "25h", "1441m", "2d", "60", "60s", "-1h", "", "x"})
  void a_bad_time_is_named(String time) {
    Run run = deployment.run("admit-all", "on", "--reason", "SQS fails", "--for=" + time);

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("--for").contains("expected: ");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void the_reason_is_required() {
    Run run = deployment.run("admit-all", "on");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("--reason");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void limits_are_enforced_again() {
    deployment.answers("DELETE /control/admit-all", 200, OFF);

    assertThat(deployment.run("admit-all", "off").out()).isEqualTo("Limits are enforced.\n");
  }

  @Test
  void an_older_control_plane_has_no_switch() {
    deployment.answers("GET /control/admit-all", 404, "{\"message\":\"Not Found\"}");

    Run run = deployment.run("admit-all");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("Deploy this version");
  }

  @Test
  void a_command_with_several_requests_prints_the_notice_once() throws IOException {
    deployment
        .answers("GET /control/tiers/bronze", 200, Documents.BRONZE, HEADER)
        .answers("GET /control/tiers/silver", 200, Documents.BRONZE, HEADER);

    Run run = deployment.run("tiers", "export", "bronze", "silver");

    assertThat(run.err()).isEqualTo(NOTICE);
    assertThat(run.out()).doesNotContain("lifted");
  }

  @ParameterizedTest
  @ValueSource(strings = {"json", "yaml", "name"})
  void programs_get_no_notice(String format) {
    deployment.answers("GET /control/tiers", 200, "{\"tiers\":[" + Documents.BRONZE + "]}", HEADER);

    assertThat(deployment.run("tiers", "list", "-o", format).err()).isEmpty();
    assertThat(deployment.run("tiers", "list").err()).isEqualTo(NOTICE);
  }

  @Test
  void a_refused_request_prints_the_notice_before_the_problem() {
    deployment.answers(
        "GET /control/tiers", 503, Documents.problem(503, "Unavailable", "later"), HEADER);

    Run run = deployment.run("tiers", "list");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).startsWith(NOTICE + "tollgate: ");
  }

  @Test
  void a_header_that_is_no_time_is_ignored() {
    deployment.answers(
        "GET /control/tiers",
        200,
        "{\"tiers\":[]}",
        Map.of("Tollgate-Admit-All", "until=now and forever"));

    assertThat(deployment.run("tiers", "list").err()).isEmpty();
  }
}
