package dev.tollgate.cli.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Documents;
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

class ReplayCommandTest {
  private static final String HOUR =
      "/history?from=2026-03-12T13%3A57%3A00Z&to=2026-03-12T14%3A57%3A00Z&step=1m";
  private static final String BUSY =
      "{\"steps\":[{\"at\":\"2026-03-12T14:05:00Z\",\"admitted\":180,\"refused\":3,"
          + "\"refusedFor\":{\"TENANT_RATE\":3},\"peakConnections\":7,\"tokens\":[]},"
          + "{\"at\":\"2026-03-12T14:06:00Z\",\"admitted\":20,\"refused\":0,\"refusedFor\":{},"
          + "\"peakConnections\":9,"
          + "\"tokens\":[{\"action\":\"message\",\"minted\":0,\"taken\":500}]}]}";

  private StubDeployment deployment;

  @BeforeEach
  void open(@TempDir Path directory) throws IOException {
    deployment =
        new StubDeployment(directory)
            .answers(
                "GET /control/fleet/tenants?window=1m&limit=1",
                200,
                "{\"from\":\"2026-03-12T14:59:00Z\",\"to\":\"2026-03-12T15:00:00Z\","
                    + "\"activeTenants\":0,\"tenants\":[]}")
            .answers("GET /control/tenants/acme", 200, Documents.ACME)
            .answers("GET /control/tenants/acme" + HOUR, 200, BUSY);
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  @Test
  void a_tenant_under_lower_limits() {
    Run run =
        deployment.run(
            "replay",
            "acme",
            "--since=1h",
            "--set=tenantPerMinute=60",
            "--set=tenantConnections=8",
            "--set=messagesPerMinute=250");

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .isEqualTo(
            """
            2026-03-12T13:57:00Z to 2026-03-12T14:57:00Z: 1 of 1 tenants would have been refused something.

            TENANT  LIMIT               NOW  NEW  LEAST  MOST  MINUTES  LONGEST  FIRST                 LAST
            acme    messagesPerMinute  6000  250      0   250        1  1m       2026-03-12T14:06:00Z  2026-03-12T14:06:00Z
            acme    tenantPerMinute     180   60     60   143        2  2m       2026-03-12T14:05:00Z  2026-03-12T14:06:00Z
            acme    tenantConnections    10    8      1    23        2  2m       2026-03-12T14:05:00Z  2026-03-12T14:06:00Z

            LEAST and MOST: the bounds of the connections, or messages, that would have been refused.
            MINUTES: in how many minutes at most, and LONGEST without a break.
            """);
  }

  @Test
  void higher_limits_refuse_nobody() {
    assertThat(deployment.run("replay", "acme", "--since=1h", "--set=tenantPerMinute=203").out())
        .isEqualTo(
            "2026-03-12T13:57:00Z to 2026-03-12T14:57:00Z:"
                + " 0 of 1 tenants would have been refused something.\n");
  }

  @Test
  void a_tier_leaves_the_overrides_of_its_tenants() {
    deployment.answers(
        "GET /control/tenants?tier=gold", 200, "{\"tenants\":[" + Documents.ACME + "]}");

    Run run =
        deployment.run(
            "replay",
            "--tier=gold",
            "--since=1h",
            "--set=tenantConnections=8",
            "--set=tenantPerMinute=60",
            "-o=csv");

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .isEqualTo(
            """
            TENANT,LIMIT,NOW,NEW,LEAST,MOST,MINUTES,LONGEST,FIRST,LAST
            acme,tenantPerMinute,180,60,60,143,2,2m,2026-03-12T14:05:00Z,2026-03-12T14:06:00Z
            """);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--set=tenantPerMinute=1 | Name tenants, or a tier with --tier.",
        "acme --tier=gold --set=tenantPerMinute=1 | Name tenants, or a tier with --tier.",
        "acme --set=sessionTTL=9 | --set: sessionTTL (expected: one of tenantPerMinute, tenantConnections, messagesPerMinute)",
        "acme --set=tenantPerMinute=0 | --set: tenantPerMinute=0 (expected: 1 to 1000000)",
        "acme --set=tenantPerMinute=1 --since=32d | --since: 32d (expected: at most 31d)",
      })
  void wrong_usage(String arguments, String error) {
    Run run = deployment.run(("replay " + arguments).split(" ", -1));

    assertThat(run.err()).contains(error);
    assertThat(run.exitCode()).isEqualTo(2);
  }
}
