package dev.tollgate.cli.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Documents;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UsageCommandTest {
  private static final String DAY =
      "/history?from=2026-03-11T14%3A57%3A00Z&to=2026-03-12T14%3A57%3A00Z&step=1m";
  private static final String BUSY =
      "{\"steps\":[{\"at\":\"2026-03-12T14:05:00Z\",\"admitted\":180,\"refused\":33,"
          + "\"refusedFor\":{\"SESSION_RATE\":2,\"TENANT_RATE\":31},\"peakConnections\":7,"
          + "\"tokens\":[{\"action\":\"connect\",\"minted\":60,\"taken\":60}]},"
          + "{\"at\":\"2026-03-12T14:06:00Z\",\"admitted\":0,\"refused\":0,\"refusedFor\":{},"
          + "\"peakConnections\":0,\"tokens\":[{\"action\":\"send-email\",\"minted\":1,\"taken\":1}]},"
          + "{\"at\":\"2026-03-12T14:07:00Z\",\"admitted\":20,\"refused\":0,\"refusedFor\":{},"
          + "\"peakConnections\":5,\"tokens\":[]}]}";
  private static final String IDLE = "{\"steps\":[]}";

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
            .answers("GET /control/tenants/acme", 200, Documents.ACME);
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  @Test
  void a_tenants_limits_with_verdicts() {
    deployment.answers("GET /control/tenants/acme" + DAY, 200, BUSY);

    Run run = deployment.run("usage", "acme", "--since", "1d");

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .isEqualTo(
            """
            2026-03-11T14:57:00Z to 2026-03-12T14:57:00Z, margin 20 %

            TENANT  LIMIT                     VALUE  MINUTES  P50  P95  P99  P99.9  MAX  SHARE %  FITS  REFUSED  VERDICT
            acme    tenantPerMinute             180     1440    0    0    0     20  213       11    24       31  TIGHT
            acme    tenantConnections            10        2    5    7    7      7    7       70     9        0  OK
            acme    send-email.ratePerMinute    0.2     1440    0    0    0      0    1        0     1           OK

            Rates: minutes in which nothing happened count as 0.
            tenantConnections: only minutes with an admitted or refused connection are known.
            """);
    assertThat(deployment.run("usage", "acme", "--since=1d", "-o", "csv").out())
        .isEqualTo(
            """
            tenantId,limit,value,minutes,p50,p95,p99,p999,max,sharePercent,fits,refused,verdict
            acme,tenantPerMinute,180,1440,0,0,0,20,213,11,24,31,TIGHT
            acme,tenantConnections,10,2,5,7,7,7,7,70,9,0,OK
            acme,send-email.ratePerMinute,0.2,1440,0,0,0,0,1,0,1,,OK
            """);
    assertThat(deployment.run("usage", "acme", "--since=1d", "--json").out())
        .startsWith(
            "{\"from\":\"2026-03-11T14:57:00Z\",\"to\":\"2026-03-12T14:57:00Z\",\"margin\":20,"
                + "\"tenants\":[{\"tenantId\":\"acme\",\"limits\":[{\"limit\":\"tenantPerMinute\","
                + "\"value\":180,\"minutes\":1440,\"p50\":0,")
        .contains("\"value\":0.2,")
        .endsWith("\"fits\":1,\"verdict\":\"OK\"}]}]}\n");
  }

  @Test
  void says_what_is_unknown() {
    deployment
        .answers("GET /control/tenants/quiet" + DAY, 200, IDLE)
        .answers(
            "GET /control/tenants/quiet",
            200,
            Documents.ACME
                .replace("acme", "quiet")
                .replace("0,\"fillMode\":\"PRODUCER\"", "0,\"fillMode\":\"DIRECT\""));

    assertThat(deployment.run("usage", "quiet", "--since", "1d").out())
        .endsWith(
            """
            Unknown: tenantConnections: no connection was admitted or refused.
            Unknown: send-email.ratePerMinute: tokens of buckets in fill mode DIRECT are not counted.
            """);
  }

  @Test
  void all_tenants_with_limits_that_are_not_ok_most_refused_first() {
    String list = Documents.ACME;
    deployment
        .answers(
            "GET /control/tenants",
            200,
            "{\"tenants\":["
                + String.join(
                    ",",
                    List.of(
                        list.replace("acme", "able"),
                        list,
                        list.replace("acme", "gone"),
                        list.replace("acme", "fits")))
                + "]}")
        .answers("GET /control/tenants/able", 200, list.replace("acme", "able"))
        .answers("GET /control/tenants/able" + DAY, 200, IDLE)
        .answers("GET /control/tenants/acme" + DAY, 200, BUSY)
        .answers("GET /control/tenants/gone", 404, Documents.problem(404, "Not Found", "gone"))
        .answers(
            "GET /control/tenants/fits",
            200,
            list.replace("acme", "fits").replace("Minute\":180", "Minute\":4"))
        .answers("GET /control/tenants/fits" + DAY, 200, IDLE);

    Run run = deployment.run("usage", "--all", "--since", "1d");

    assertThat(run.err()).isEmpty();
    assertThat(run.out().lines().filter(line -> line.contains(" tenantPerMinute ")))
        .extracting(line -> line.replaceFirst(" .* ", " "))
        .containsExactly("acme TIGHT", "able LARGE");
    assertThat(run.out()).doesNotContain(" OK\n").doesNotContain("Unknown");
  }

  @Test
  void seven_days_are_seven_requests_without_a_gap() {
    deployment.answersWith(
        (request, ifMatch) ->
            request.path().contains("/history?")
                ? Optional.of(new StubDeployment.Response(200, IDLE, Map.of()))
                : Optional.empty());

    assertThat(deployment.run("usage", "acme").exitCode()).isZero();

    assertThat(deployment.requests().stream().filter(one -> one.path().contains("/history?")))
        .hasSize(7)
        .first()
        .returns(
            "/control/tenants/acme/history?from=2026-03-05T14%3A57%3A00Z"
                + "&to=2026-03-06T15%3A57%3A00Z&step=1m",
            StubDeployment.Request::path);
  }

  @Test
  void errors_say_what_to_do() {
    deployment.answers(
        "GET /control/tenants/nosuch", 404, Documents.problem(404, "Not Found", "none"));

    assertThat(deployment.run("usage").err()).isEqualTo("tollgate: Name a tenant, or use --all.\n");
    assertThat(deployment.run("usage", "acme", "--all").exitCode()).isEqualTo(2);
    assertThat(deployment.run("usage", "acme", "--since", "32d").err())
        .isEqualTo("tollgate: --since: 32d (expected: at most 31d)\n");
    assertThat(deployment.run("usage", "acme", "--margin", "-1").err())
        .isEqualTo("tollgate: --margin: -1 (expected: 0 to 1000)\n");
    assertThat(deployment.run("usage", "nosuch").err())
        .isEqualTo(
            "tollgate: No tenant named `nosuch`. List tenants with `tollgate tenants list`.\n");
  }
}
