package dev.tollgate.cli.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Documents;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UsageCommandTest {
  private static final String FILLED =
      "\"admitted\":0,\"refused\":0,\"refusedFor\":{},\"peakConnections\":0,"
          + "\"tokens\":[{\"action\":\"send-email\",\"minted\":1,\"taken\":1}]";

  private StubHistory deployment;

  @BeforeEach
  void open(@TempDir Path directory) throws IOException {
    deployment = new StubHistory(directory);
    busy("acme");
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  private void busy(String id) {
    deployment
        .tenant(id)
        .minute(id, "2026-03-02T10:00:00Z", FILLED)
        .minute(
            id,
            "2026-03-12T14:05:00Z",
            "\"admitted\":180,\"refused\":33,"
                + "\"refusedFor\":{\"SESSION_RATE\":2,\"TENANT_RATE\":31},\"peakConnections\":7,"
                + "\"tokens\":[{\"action\":\"connect\",\"minted\":60,\"taken\":60}]")
        .minute(id, "2026-03-12T14:06:00Z", FILLED)
        .minute(
            id,
            "2026-03-12T14:07:00Z",
            "\"admitted\":20,\"refused\":0,\"refusedFor\":{},\"peakConnections\":5,\"tokens\":[]");
  }

  @Test
  void a_tenants_limits_with_verdicts() {
    Run run = deployment.run("usage acme --since 1d");

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .isEqualTo(
            """
            2026-03-11T14:57:00Z to 2026-03-12T14:57:00Z, margin 20 %

            TENANT  LIMIT                     VALUE  MINUTES  P50  P95  P99  P99.9  MAX  SHARE %  FITS  REFUSED  VERDICT
            acme    tenantPerMinute             180     1440    0    0    0     20  213       11    24       31  TIGHT
            acme    tenantConnections            10        2    5    7    7      7    7       70              0  TOO_FEW_MINUTES
            acme    send-email.ratePerMinute    0.2     1440    0    0    0      0    1        0     1           OK

            Rates: minutes since the onboarding in which nothing happened count as 0.
            tenantConnections: only minutes with an admitted or refused connection are known.
            """);
    assertThat(deployment.run("usage acme --since=1d -o csv").out())
        .isEqualTo(
            """
            tenantId,limit,value,minutes,p50,p95,p99,p999,max,sharePercent,fits,refused,verdict
            acme,tenantPerMinute,180,1440,0,0,0,20,213,11,24,31,TIGHT
            acme,tenantConnections,10,2,5,7,7,7,7,70,,0,TOO_FEW_MINUTES
            acme,send-email.ratePerMinute,0.2,1440,0,0,0,0,1,0,1,,OK
            """);
    assertThat(deployment.run("usage acme --since=1d --json").out())
        .startsWith(
            "{\"from\":\"2026-03-11T14:57:00Z\",\"to\":\"2026-03-12T14:57:00Z\",\"margin\":20,"
                + "\"tenants\":[{\"tenantId\":\"acme\",\"limits\":[{\"limit\":\"tenantPerMinute\","
                + "\"value\":180,\"minutes\":1440,\"p50\":0,")
        .contains("\"value\":0.2,")
        .endsWith("\"fits\":1,\"verdict\":\"OK\"}]}]}\n");
  }

  @ParameterizedTest
  @CsvSource({
    "2026-03-12T13:57:00Z, 60, LARGE",
    "2026-03-12T13:58:00Z, 59, TOO_FEW_MINUTES",
    "2026-03-02T10:00:00Z, 10080, LARGE",
  })
  void minutes_before_the_onboarding_do_not_count(String onboarded, long minutes, String verdict) {
    deployment.tenant("young").minute("young", onboarded, FILLED);
    deployment.minute("young", "2026-03-12T14:50:00Z", FILLED);

    assertThat(deployment.run("usage young -o csv").out())
        .contains("young,tenantPerMinute,180," + minutes + ",")
        .containsPattern("tenantPerMinute,.*," + verdict + "\n");
  }

  @Test
  void says_what_is_unknown() {
    deployment
        .tenant(
            "quiet",
            Documents.ACME.replace("0,\"fillMode\":\"PRODUCER\"", "0,\"fillMode\":\"DIRECT\""))
        .minute("quiet", "2026-03-12T10:00:00Z", FILLED)
        .tenant("silent");

    assertThat(deployment.run("usage quiet --since 1d").out())
        .endsWith(
            """
            Unknown: tenantConnections: no connection was admitted or refused.
            Unknown: send-email.ratePerMinute: tokens of buckets in fill mode DIRECT are not counted.
            """);
    assertThat(deployment.run("usage silent --since 1d").out())
        .endsWith("\n\nUnknown: all limits: no minute is recorded.\n");
  }

  @Test
  void all_tenants_with_limits_that_are_tight_or_large_most_refused_first() {
    deployment
        .tenant("able")
        .minute("able", "2026-03-02T10:00:00Z", FILLED)
        .tenant("fits", Documents.ACME.replace("Minute\":180", "Minute\":4"))
        .minute("fits", "2026-03-02T10:00:00Z", FILLED)
        .tenant("gone")
        .removedMeanwhile("gone")
        .tenant("silent");

    Run run = deployment.run("usage --all --since 1d");

    assertThat(run.err()).isEmpty();
    assertThat(run.out().lines().filter(line -> line.contains(" tenantPerMinute ")))
        .extracting(line -> line.replaceFirst(" .* ", " "))
        .containsExactly("acme TIGHT", "able LARGE");
    assertThat(run.out())
        .doesNotContain(" OK\n", "Unknown", "TOO_FEW")
        .endsWith("Tenants with limits of which fewer than 60 minutes are known: 2 of 4.\n");
  }

  @Test
  void seven_days_are_seven_requests_without_a_gap_and_one_for_the_onboarding() {
    assertThat(deployment.run("usage acme").exitCode()).isZero();

    assertThat(deployment.historyRequests())
        .hasSize(8)
        .startsWith(
            "/control/tenants/acme/history?from=2026-03-05T14%3A57%3A00Z"
                + "&to=2026-03-06T15%3A57%3A00Z&step=1m")
        .endsWith(
            "/control/tenants/acme/history?from=2026-02-09T14%3A57%3A00Z"
                + "&to=2026-03-05T14%3A57%3A00Z&step=1d");
    assertThat(deployment.run("usage acme --since 31d").exitCode()).isZero();
    assertThat(deployment.historyRequests()).hasSize(8 + 30);
  }

  @Test
  void errors_say_what_to_do() {
    deployment.minute("former", "2026-03-02T10:00:00Z", FILLED);

    assertThat(deployment.run("usage").err()).isEqualTo("tollgate: Name a tenant, or use --all.\n");
    assertThat(deployment.run("usage acme --all").exitCode()).isEqualTo(2);
    assertThat(deployment.run("usage acme --since 32d").err())
        .isEqualTo("tollgate: --since: 32d (expected: at most 31d)\n");
    assertThat(deployment.run("usage acme --margin -1").err())
        .isEqualTo("tollgate: --margin: -1 (expected: 0 to 1000)\n");
    assertThat(deployment.run("usage nosuch").err())
        .isEqualTo(
            "tollgate: No tenant named `nosuch`. List tenants with `tollgate tenants list`.\n");
    assertThat(deployment.run("usage former"))
        .returns(1, Run::exitCode)
        .returns(
            "tollgate: Tenant `former` was offboarded, with its limits and buckets. Its minutes are"
                + " kept: `tollgate history former --since 31d`.\n",
            Run::err);
  }
}
