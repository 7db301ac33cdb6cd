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
import org.junit.jupiter.params.provider.ValueSource;

class CostCommandTest {
  private static final String HOUR =
      "/history?from=2026-03-12T13%3A57%3A00Z&to=2026-03-12T14%3A57%3A00Z&step=1m";
  private static final String BUSY =
      "{\"steps\":[{\"at\":\"2026-03-12T14:05:00Z\",\"admitted\":1000,\"refused\":100,"
          + "\"refusedFor\":{\"TENANT_RATE\":100},\"peakConnections\":7,"
          + "\"tokens\":[{\"action\":\"connect\",\"minted\":60,\"taken\":60},"
          + "{\"action\":\"message\",\"minted\":0,\"taken\":500}]},"
          + "{\"at\":\"2026-03-12T14:06:00Z\",\"admitted\":-1,\"refused\":0,\"refusedFor\":{},"
          + "\"peakConnections\":9,"
          + "\"tokens\":[{\"action\":\"connect\",\"minted\":0,\"taken\":1}]}]}";

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

  /** A month has 730 hours: 1,000 connections an hour are 730 × 1,000 × $7.70 / 1,000,000. */
  @Test
  void a_tenants_month_at_its_pace() {
    Run run = deployment.run("cost", "acme", "--since=1h");

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .isEqualTo(
            """
            Dollars a month at the pace of 2026-03-12T13:57:00Z to 2026-03-12T14:57:00Z, at list prices:

            TENANT  CONNECTIONS  REFUSALS  MESSAGES   FILLS  HISTORY     SUM   SAVED
            acme         5.6210    0.2292    2.5295  0.0052   0.0010  8.3858  0.3048

            SAVED: what hibernation saves. Messages count as if each came alone; in batches of ten
            they cost about half. Not in it: open sockets, your message handler, and the stack.
            """);
  }

  @Test
  void all_tenants_with_their_sum() {
    deployment
        .answers(
            "GET /control/tenants",
            200,
            "{\"tenants\":["
                + Documents.ACME
                + ","
                + Documents.ACME.replace("acme", "idle")
                + ","
                + Documents.ACME.replace("acme", "gone")
                + "]}")
        .answers("GET /control/tenants/idle", 200, Documents.ACME.replace("acme", "idle"))
        .answers("GET /control/tenants/idle" + HOUR, 200, "{\"steps\":[]}")
        .answers("GET /control/tenants/gone", 404, "{}");

    assertThat(deployment.run("cost", "--all", "--since=1h", "-o=csv").out())
        .isEqualTo(
            """
            TENANT,CONNECTIONS,REFUSALS,MESSAGES,FILLS,HISTORY,SUM,SAVED
            acme,5.6210,0.2292,2.5295,0.0052,0.0010,8.3858,0.3048
            idle,0.0000,0.0000,0.0000,0.0000,0.0000,0.0000,0.3100
            all,5.6210,0.2292,2.5295,0.0052,0.0010,8.3858,0.6149
            """);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"cost", "cost acme --all", "cost --all --tier=gold", "cost acme --since=32d"})
  void wrong_usage(String command) {
    Run run = deployment.run(command.split(" ", -1));

    assertThat(run.exitCode()).isEqualTo(2);
  }
}
