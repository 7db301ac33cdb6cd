package dev.tollgate.cli.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AuditCommandTest {
  private StubDeployment deployment;

  @BeforeEach
  void open(@TempDir Path directory) throws IOException {
    deployment = new StubDeployment(directory);
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  private static String entry(String number, String from, String to) {
    return ("{\"id\":\"%s\",\"at\":\"2026-03-12T14:05:1%s.000Z\",\"subject\":\"tenant/acme\","
            + "\"what\":\"TenantChanged\",\"by\":\"alice\",\"request\":\"r-%s\",\"from\":%s,\"to\":%s}")
        .formatted(number, number, number, from, to);
  }

  /** Two pages, the second of which has the older entry. */
  private void answerTwoPages() {
    String page =
        "{\"from\":\"2026-03-05T14:06:00Z\",\"to\":\"2026-03-12T14:06:00Z\",\"entries\":[%s]%s}";
    deployment.answersWith(
        (request, ifMatch) ->
            Optional.of(
                new StubDeployment.Response(
                    200,
                    request.path().contains("cursor=abc")
                        ? page.formatted(entry("1", "{}", "{}"), "")
                        : page.formatted(
                            entry(
                                "2",
                                "{\"tier\":\"gold\"}",
                                "{\"tier\":\"own\",\"line\":\"false\"}"),
                            ",\"next\":\"abc\""),
                    Map.of())));
  }

  @Test
  void entries_of_all_pages_are_lines_with_the_oldest_first() {
    answerTwoPages();

    Run run = deployment.run("audit", "--tenant", "acme", "--since", "30d");

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .isEqualTo(
            """
            2026-03-12T14:05:11.000Z  TenantChanged  tenant/acme  by alice in r-1
            2026-03-12T14:05:12.000Z  TenantChanged  tenant/acme  by alice in r-2: line none -> `false`, tier `gold` -> `own`
            """);
    assertThat(deployment.requests())
        .hasSize(2)
        .allSatisfy(
            request ->
                assertThat(request.path())
                    .startsWith("/control/audit?")
                    .contains("tenantId=acme", "from=20", "to=20"));
  }

  @Test
  void entries_of_a_tier_are_asked_for() {
    answerTwoPages();

    deployment.run("audit", "--tier", "gold");

    assertThat(deployment.requests())
        .allSatisfy(request -> assertThat(request.path()).contains("tier=gold"));
    assertThat(deployment.run("audit", "--tier", "gold", "--tenant", "acme").err())
        .startsWith("tollgate: --tier: gold (expected: not together with --tenant)\n");
  }

  @Test
  void json_has_an_object_for_each_entry() {
    answerTwoPages();

    assertThat(
            deployment.run("audit", "-o", "json").out().lines().map(line -> line.substring(0, 9)))
        .containsExactly("{\"id\":\"1\"", "{\"id\":\"2\"");
  }

  @Test
  void no_entry_is_said() {
    deployment.answersWith(
        (request, ifMatch) ->
            Optional.of(new StubDeployment.Response(200, "{\"entries\":[]}", Map.of())));

    Run run = deployment.run("audit");

    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("No changes since 20");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--since 401d | --since: 9624h (expected: at most 400d)",
        "--tenant Acme | --tenant: Acme (expected: lower-case letters, digits and hyphens, up to 36)",
      })
  void an_invalid_value_is_refused(String options, String message) {
    Run run = deployment.run(("audit " + options).split(" "));

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains(message);
  }
}
