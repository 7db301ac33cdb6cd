package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Request;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class DoctorTest {
  private static final String DISABLED =
      """
      {"kind":"DIFFERS","resource":"schedule","name":"connect_acme","tenantId":"acme",
       "action":"connect","detail":"state: DISABLED (expected: ENABLED)"%s}""";

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

  private static String part(String resources, int checked, String next, String... findings) {
    return """
        {"findings":[%s],"resources":"%s","checked":%d%s}"""
        .formatted(
            String.join(",", findings),
            resources,
            checked,
            next.isEmpty() ? "" : ",\"next\":\"" + next + "\"");
  }

  @Test
  void doctor_reads_all_pages_and_prints_what_it_checked() {
    deployment
        .answers("GET /control/drift", 200, part("tenants", 25, "a"))
        .answers("GET /control/drift?cursor=a", 200, part("tenants", 3, "b"))
        .answers("GET /control/drift?cursor=b", 200, part("shards", 16, ""));

    Run run = deployment.run("doctor");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).isEqualTo("Checked 28 tenants, 16 shards: no drift.\n");
    assertThat(run.err()).isEmpty();
  }

  @Test
  void a_terminal_shows_the_progress_in_one_line_unless_json_is_asked_for() {
    deployment
        .answers("GET /control/drift", 200, part("tenants", 25, "a"))
        .answers("GET /control/drift?cursor=a", 200, part("shards", 16, ""))
        .confirmedBy(question -> true);

    assertThat(deployment.run("doctor").err())
        .startsWith("\rChecked 0 tenants, 0 s\rChecked 25 tenants, 0 s")
        .endsWith("\r" + " ".repeat("Checked 25 tenants, 16 shards, 0 s".length()) + "\r");
    assertThat(deployment.run("doctor", "--json").err()).isEmpty();
  }

  @Test
  @Timeout(20)
  void doctor_fails_when_the_server_repeats_a_cursor() {
    deployment
        .answers("GET /control/drift", 200, part("tenants", 25, "a"))
        .answers("GET /control/drift?cursor=a", 200, part("tenants", 3, "a"));

    Run run = deployment.run("doctor");

    assertThat(run.err()).contains("tollgate: The server repeats a cursor");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(deployment.requests()).hasSize(2);
  }

  @Test
  void doctor_lists_drift_and_exits_with_3() {
    deployment.answers("GET /control/drift", 200, part("tenants", 2, "", DISABLED.formatted("")));

    Run run = deployment.run("doctor");

    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(run.out())
        .isEqualTo(
            """
            Checked 2 tenants: 1 finding.

            FINDING  RESOURCE  NAME          DETAIL
            DIFFERS  schedule  connect_acme  state: DISABLED (expected: ENABLED)

            Nothing was changed. To repair, run `tollgate doctor --repair`.
            """);
  }

  @Test
  void doctor_suggests_no_repair_of_what_the_control_plane_finishes() {
    String pending =
        """
        {"kind":"UNSETTLED","resource":"tenant","name":"acme","tenantId":"acme",
         "detail":"still being set up","pending":true}""";
    deployment
        .answers("GET /control/drift", 200, part("tenants", 1, "", pending))
        .answers(
            "GET /control/drift", 200, part("tenants", 1, "", pending, DISABLED.formatted("")));

    Run young = deployment.run("doctor");
    Run both = deployment.run("doctor");

    assertThat(young.exitCode()).isEqualTo(3);
    assertThat(young.out())
        .endsWith(
            "\n\nThe control plane finishes this by itself. Wait a minute, then run the command"
                + " again.\n");
    assertThat(both.exitCode()).isEqualTo(3);
    assertThat(both.out()).endsWith("To repair, run `tollgate doctor --repair`.\n");
  }

  @Test
  void doctor_repairs_only_with_the_option_and_exits_with_3_unless_everything_is_repaired() {
    deployment
        .answers(
            "POST /control/repairs",
            200,
            part("tenants", 1, "", DISABLED.formatted(",\"repaired\":true")))
        .answers(
            "POST /control/repairs",
            200,
            part("tenants", 1, "", DISABLED.formatted(",\"repaired\":false,\"reason\":\"why\"")));

    Run repaired = deployment.run("doctor", "--repair");
    Run left = deployment.run("doctor", "--repair");

    assertThat(repaired.exitCode()).isZero();
    assertThat(repaired.out())
        .contains("yes       state: DISABLED", "\nEverything was repaired.\n");
    assertThat(left.exitCode()).isEqualTo(3);
    assertThat(left.out())
        .contains(
            "no        state: DISABLED (expected: ENABLED); not repaired: why",
            "1 of 1 could not be repaired. Run the command again in a minute.");
    assertThat(deployment.requests())
        .containsExactly(
            new Request("POST", "/control/repairs", "{}"),
            new Request("POST", "/control/repairs", "{}"));
  }

  @Test
  void doctor_retries_a_busy_deployment() {
    deployment
        .answers("GET /control/drift", 503, "{}", Map.of("Retry-After", "1"))
        .answers("GET /control/drift", 200, part("tenants", 1, ""));

    assertThat(deployment.run("doctor").exitCode()).isZero();
  }

  @Test
  void json_contains_the_findings_of_all_pages() {
    deployment
        .answers("GET /control/drift", 200, part("tenants", 2, "a", DISABLED.formatted("")))
        .answers("GET /control/drift?cursor=a", 200, part("queues", 4, ""));

    assertThat(deployment.run("doctor", "--json").out())
        .contains("\"name\":\"connect_acme\"", "\"checked\":{\"tenants\":2,\"queues\":4}");
  }
}
