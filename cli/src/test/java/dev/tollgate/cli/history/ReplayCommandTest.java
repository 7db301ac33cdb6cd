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

class ReplayCommandTest {
  private StubHistory deployment;

  @BeforeEach
  void open(@TempDir Path directory) throws IOException {
    deployment =
        new StubHistory(directory)
            .tenant("acme")
            .minute(
                "acme",
                "2026-03-12T14:05:00Z",
                "\"admitted\":180,\"refused\":3,\"refusedFor\":{\"TENANT_RATE\":3},"
                    + "\"peakConnections\":7,\"tokens\":[]")
            .minute(
                "acme",
                "2026-03-12T14:06:00Z",
                "\"admitted\":20,\"refused\":0,\"refusedFor\":{},\"peakConnections\":9,"
                    + "\"tokens\":[{\"action\":\"message\",\"minted\":0,\"taken\":500}]");
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  @Test
  void a_tenant_under_lower_limits() {
    Run run =
        deployment.run(
            "replay acme --since=1h --set=tenantPerMinute=60 --set=tenantConnections=8"
                + " --set=messagesPerMinute=250");

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
    assertThat(deployment.run("replay acme --since=1h --set=tenantPerMinute=203").out())
        .isEqualTo(
            "2026-03-12T13:57:00Z to 2026-03-12T14:57:00Z:"
                + " 0 of 1 tenants would have been refused something.\n");
  }

  @Test
  void tenants_of_a_tier_that_override_a_limit_are_left_out_and_counted() {
    deployment.tenant(
        "plain",
        Documents.ACME.replace("\"overrides\":{\"tenantConnections\":10}", "\"overrides\":{}"));
    String command =
        "replay --tier=gold --since=1h --set=tenantConnections=8 --set=tenantPerMinute=60";

    Run run = deployment.run(command);

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .startsWith(
            """
            2026-03-12T13:57:00Z to 2026-03-12T14:57:00Z: 1 of 2 tenants would have been refused something.
            tenantConnections: 1 of 2 tenants are left out, because they override it.

            TENANT  LIMIT\
            """);
    assertThat(deployment.run(command + " -o=csv").out())
        .isEqualTo(
            """
            tenantId,limit,now,new,least,most,minutes,longestSeconds,first,last
            acme,tenantPerMinute,180,60,60,143,2,120,2026-03-12T14:05:00Z,2026-03-12T14:06:00Z
            """);
    assertThat(deployment.run(command + " -o=json").out())
        .contains("\"now\":180,\"new\":60,")
        .endsWith("],\"leftOut\":{\"tenantConnections\":1}}\n");
  }

  @Test
  void a_tier_must_exist() {
    assertThat(deployment.run("replay --tier=nosuch --set=tenantPerMinute=1"))
        .returns(1, Run::exitCode)
        .returns(
            "tollgate: No tier named `nosuch`. List tiers with `tollgate tiers list`.\n", Run::err);
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
    Run run = deployment.run("replay " + arguments);

    assertThat(run.err()).contains(error);
    assertThat(run.exitCode()).isEqualTo(2);
  }
}
