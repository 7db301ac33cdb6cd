package dev.tollgate.cli.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopCommandTest {
  private static final String RANKING =
      "{\"from\":\"2026-03-12T14:01:00Z\",\"to\":\"2026-03-12T14:06:00Z\",\"activeTenants\":3,"
          + "\"tenants\":[{\"tenantId\":\"acme\",\"admitted\":60,\"refused\":31,"
          + "\"refusedFor\":{\"TENANT_RATE\":31},\"wouldRefuse\":0,\"wouldRefuseFor\":{},\"peakConnections\":118,"
          + "\"tokens\":[{\"action\":\"connect\",\"minted\":60,\"taken\":60}]},"
          + "{\"tenantId\":\"globex\",\"admitted\":5,\"refused\":1,"
          + "\"refusedFor\":{\"SUSPENDED\":1},\"wouldRefuse\":0,\"wouldRefuseFor\":{},\"peakConnections\":2,\"tokens\":[]}]}";

  private StubDeployment deployment;

  @BeforeEach
  void open(@TempDir Path directory) throws IOException {
    deployment = new StubDeployment(directory);
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  @Test
  void the_ranking_is_a_table_and_says_how_many_were_active() {
    deployment.answers("GET /control/fleet/tenants?sort=refused&window=5m&limit=20", 200, RANKING);

    Run run = deployment.run("top");

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .isEqualTo(
            """
            TENANT  ADMITTED  REFUSED  PEAK  REFUSED FOR     TOKENS TAKEN  TOKENS MINTED
            acme          60       31   118  TENANT_RATE 31  connect 60    connect 60
            globex         5        1     2  SUSPENDED 1

            2 of 3 active tenants, ranked by refused, from 2026-03-12T14:01:00Z to 2026-03-12T14:06:00Z. The last two minutes are still incomplete.
            """);
    assertThat(deployment.run("top", "-o", "json").out()).isEqualTo(RANKING + "\n");
    assertThat(deployment.run("top", "-o", "csv").out())
        .isEqualTo(
            """
            tenantId,admitted,refused,wouldRefuse,peakConnections,refusedFor.SUSPENDED,refusedFor.TENANT_RATE,tokens.connect,minted.connect
            acme,60,31,0,118,0,31,60,60
            globex,5,1,0,2,1,0,0,0
            """);
  }

  @Test
  void options_are_sent() {
    deployment.answers(
        "GET /control/fleet/tenants?sort=tokens&window=15m&limit=3",
        200,
        RANKING.replaceFirst("\"activeTenants.*", "\"activeTenants\":1,\"tenants\":[]}"));

    assertThat(deployment.run("top", "--sort", "tokens", "--window", "15m", "-n", "3").out())
        .isEqualTo(
            "0 of 1 active tenant, ranked by tokens, from 2026-03-12T14:01:00Z to"
                + " 2026-03-12T14:06:00Z. The last two minutes are still incomplete.\n");
  }

  @Test
  void a_window_without_active_tenants_has_no_ranking() {
    deployment.answers(
        "GET /control/fleet/tenants?sort=refused&window=5m&limit=20",
        200,
        RANKING.replaceFirst("\"activeTenants.*", "\"activeTenants\":0,\"tenants\":[]}"));

    assertThat(deployment.run("top").out())
        .isEqualTo(
            "No tenant was active from 2026-03-12T14:01:00Z to 2026-03-12T14:06:00Z. The last two"
                + " minutes are still incomplete.\n");
  }

  @Test
  void minutes_of_the_last_day_are_complete() {
    deployment.answers(
        "GET /control/fleet/tenants?sort=refused&window=5m&limit=20&to=2026-03-12T14%3A06%3A00Z",
        200, RANKING);

    assertThat(deployment.run("top", "--to", "2026-03-12T14:06:00Z").out())
        .endsWith(" ranked by refused, from 2026-03-12T14:01:00Z to 2026-03-12T14:06:00Z.\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--sort=luck | --sort: luck (expected: one of refused, would_refuse, admitted, connections, tokens)",
        "--window=1h | --window: 1h (expected: at most 15m)",
        "--window=soon | Invalid value for option '--window': soon (expected: minutes, hours or days: 5m, 1h, 7d)",
        "--to=2026-03-12T14:06:30Z | --to: 2026-03-12T14:06:30Z (expected: a full minute)",
        "--limit=0 | --limit: 0 (expected: 1 to 100)",
        "-n=101 | --limit: 101 (expected: 1 to 100)",
      })
  void invalid_values_name_the_option_and_what_is_allowed(String option, String error) {
    Run run = deployment.run("top", option);

    assertThat(run.err()).startsWith("tollgate: " + error + "\n");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(deployment.requests()).isEmpty();
  }
}
