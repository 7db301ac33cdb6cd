package dev.tollgate.cli.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CostCommandTest {
  private StubHistory deployment;

  @BeforeEach
  void open(@TempDir Path directory) throws IOException {
    deployment = new StubHistory(directory);
    busy("acme");
    deployment.minute("acme", "2026-03-12T12:00:00Z", "\"admitted\":0");
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  private void busy(String id) {
    deployment
        .tenant(id)
        .minute(
            id,
            "2026-03-12T14:05:00Z",
            "\"admitted\":1000,\"refused\":100,"
                + "\"refusedFor\":{\"TENANT_RATE\":100},\"peakConnections\":7,"
                + "\"tokens\":[{\"action\":\"connect\",\"minted\":60,\"taken\":60},"
                + "{\"action\":\"message\",\"minted\":0,\"taken\":500}]")
        .minute(
            id,
            "2026-03-12T14:06:00Z",
            "\"admitted\":-1,\"refused\":0,\"refusedFor\":{},\"peakConnections\":9,"
                + "\"tokens\":[{\"action\":\"connect\",\"minted\":0,\"taken\":1}]");
  }

  /** A month has 730 hours: 1,000 connections an hour are 730 × 1,000 × $7.70 / 1,000,000. */
  @Test
  void a_tenants_month_at_its_pace() {
    Run run = deployment.run("cost acme --since=1h");

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .isEqualTo(
            """
            Dollars a month at the pace of 2026-03-12T13:57:00Z to 2026-03-12T14:57:00Z, at list prices:

            TENANT  MINUTES  CONNECTIONS  REFUSALS  MESSAGES   FILLS  HISTORY     SUM   SAVED
            acme         60       5.6210    0.2292    2.5295  0.0052   0.0010  8.3858  0.3048

            MINUTES: how many minutes the pace is of. Those before the onboarding do not count.
            SAVED: what hibernation saves. Messages count as if each came alone; in batches of ten
            they cost about half. Not in it: open sockets, your message handler, and the stack.
            """);
  }

  /** The first minute is 52 minutes before the end. */
  @Test
  void minutes_before_the_onboarding_do_not_count() {
    busy("young");

    assertThat(deployment.run("cost young --since=1d").out())
        .contains("young        52       6.4858 ")
        .contains("Fewer than 60 minutes are too few for an estimate.\n");
  }

  @Test
  void all_tenants_with_their_sum() {
    deployment.tenant("idle").tenant("gone").removedMeanwhile("gone");

    assertThat(deployment.run("cost --all --since=1h -o=csv").out())
        .isEqualTo(
            """
            tenantId,minutes,connections,refusals,messages,fills,history,sum,savedByHibernation
            acme,60,5.6210,0.2292,2.5295,0.0052,0.0010,8.3858,0.3048
            idle,60,0.0000,0.0000,0.0000,0.0000,0.0000,0.0000,0.3100
            """);
    assertThat(deployment.run("cost --tier=gold --since=1h").out())
        .contains(
            "all                   5.6210    0.2292    2.5295  0.0052   0.0010  8.3858  0.6149\n");
    assertThat(deployment.run("cost --all --since=1h -o=json").out())
        .contains("{\"tenantId\":\"acme\",\"minutes\":60,\"connections\":5.6210,")
        .contains("\"all\":{\"connections\":5.6210,");
  }

  @ParameterizedTest
  @CsvSource({
    "cost, 2",
    "cost acme --all, 2",
    "cost --all --tier=gold, 2",
    "cost acme --since=32d, 2",
    "cost --tier=nosuch, 1"
  })
  void wrong_usage(String command, int exitCode) {
    assertThat(deployment.run(command).exitCode()).isEqualTo(exitCode);
  }
}
