package dev.tollgate.cli.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Documents;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Request;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReplayCommandTest {
  private static final String GOLD =
      Documents.BRONZE
          .replace("bronze", "gold")
          .replace(
              "\"buckets\"",
              "\"modes\":{\"sessionPerMinute\":\"OFF\",\"tenantPerMinute\":\"OBSERVE\"},\"buckets\"");
  private static final String QUERY = "?dryRun=true&replay=1h";
  private static final String PUT = "PUT /control/tiers/gold" + QUERY;

  @TempDir private Path directory;
  private StubDeployment deployment;

  @BeforeEach
  void open() throws IOException {
    deployment =
        new StubDeployment(directory)
            .answers(
                "GET /control/fleet/tenants?window=1m&limit=1",
                200,
                "{\"from\":\"2026-03-12T14:59:00Z\",\"to\":\"2026-03-12T15:00:00Z\","
                    + "\"activeTenants\":0,\"tenants\":[]}")
            .answers("GET /control/tiers/gold", 200, GOLD)
            .answers(
                "GET /control/tiers/nosuch", 404, Documents.problem(404, "Not Found", "no tier"))
            .answers("GET /control/tenants/acme", 200, Documents.ACME);
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  private Run run(String arguments) {
    return deployment.run(("replay " + arguments).split(" ", -1));
  }

  private static String row(String tenant, String limit, int now, int next, int least, int most) {
    return ("{\"tenantId\":\"%s\",\"limit\":\"%s\",\"now\":%d,\"new\":%d,\"least\":%d,\"most\":%d,"
            + "\"minutes\":2,\"longestSeconds\":120,\"first\":\"2026-03-12T14:05:00Z\","
            + "\"last\":\"2026-03-12T14:06:00Z\"}")
        .formatted(tenant, limit, now, next, least, most);
  }

  /** A page of a dry run whose replay ended in minute 57. */
  private static String page(int tenants, String leftOut, String more, String... rows) {
    return ("{\"dryRun\":true,\"outcome\":\"CHANGED\",\"version\":1,%s\"tenants\":[],"
            + "\"totals\":{\"tenants\":%d,\"changed\":0,\"overLimit\":0,\"trimmed\":0,"
            + "\"disconnected\":0,\"removed\":0},\"replay\":{\"from\":\"2026-03-12T13:57:00Z\","
            + "\"to\":\"2026-03-12T14:57:00Z\",\"limits\":[%s],\"leftOut\":{%s},"
            + "\"notKnown\":{%s}}}")
        .formatted(
            more,
            tenants,
            String.join(",", rows),
            leftOut,
            leftOut.isEmpty() ? "" : "\"messagesPerMinute\":1");
  }

  private static String ofTier(String more) {
    return "\"tier\":\"gold\",\"changes\":{}," + more;
  }

  private List<String> changes() {
    return deployment.requests().stream()
        .filter(request -> !request.method().equals("GET"))
        .map(Request::body)
        .toList();
  }

  @Test
  void a_tenant_with_other_overrides() {
    deployment.answers(
        "PATCH /control/tenants/acme" + QUERY,
        200,
        page(
            1,
            "",
            "",
            row("acme", "tenantPerMinute", 180, 60, 60, 143),
            row("acme", "tenantConnections", 10, 8, 1, 23),
            row("acme", "messagesPerMinute", 6000, 250, 0, 250)));

    Run run =
        run(
            "acme --since=1h --set=tenantPerMinute=60 --set=tenantConnections=8"
                + " --set=messagesPerMinute=250");

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .isEqualTo(
            """
            2026-03-12T13:57:00Z to 2026-03-12T14:57:00Z: 1 of 1 tenants would have been refused something.

            TENANT  LIMIT               NOW  NEW  LEAST  MOST  MINUTES  LONGEST  FIRST                 LAST
            acme    messagesPerMinute  6000  250      0   250        2  2m       2026-03-12T14:05:00Z  2026-03-12T14:06:00Z
            acme    tenantPerMinute     180   60     60   143        2  2m       2026-03-12T14:05:00Z  2026-03-12T14:06:00Z
            acme    tenantConnections    10    8      1    23        2  2m       2026-03-12T14:05:00Z  2026-03-12T14:06:00Z

            LEAST and MOST: the bounds of the connections, or messages, that would have been refused.
            MINUTES: in how many minutes at most, and LONGEST without a break.
            """);
    assertThat(changes())
        .containsExactly(
            "{\"overrides\":{\"tenantConnections\":8,\"tenantPerMinute\":60,\"messagesPerMinute\":250}}");
  }

  @Test
  void a_limit_of_a_tenant_that_is_not_enforced_is_replayed_as_if_it_were() {
    String observed =
        Documents.ACME
            .replace("\"tenantConnections\":10}", "\"modes\":{\"tenantConnections\":\"OFF\"}}")
            .replace(
                "\"isolation\"",
                "\"modes\":{\"tenantConnections\":\"OFF\",\"tenantPerMinute\":\"OBSERVE\"},\"isolation\"");
    deployment
        .answers("GET /control/tenants/globex", 200, observed.replace("acme", "globex"))
        .answers("PATCH /control/tenants/globex" + QUERY, 200, page(1, "", ""));

    assertThat(run("globex --since=1h --set=tenantPerMinute=60").out())
        .isEqualTo(
            "2026-03-12T13:57:00Z to 2026-03-12T14:57:00Z:"
                + " 0 of 1 tenants would have been refused something.\n");
    assertThat(changes())
        .containsExactly(
            "{\"overrides\":{\"modes\":{\"tenantConnections\":\"OFF\",\"tenantPerMinute\":\"ENFORCE\"},"
                + "\"tenantPerMinute\":60}}");
  }

  @Test
  void a_tier_page_by_page() {
    String second =
        page(1, "\"tenantConnections\":1", ofTier(""), row("c", "tenantPerMinute", 60, 30, 1, 7));
    String first =
        page(
            2,
            "\"tenantConnections\":2",
            ofTier("\"next\":\"Mg\","),
            row("a", "tenantPerMinute", 60, 30, 0, 5));
    for (int i = 0; i < 3; i++) {
      deployment.answers(PUT, 200, first).answers(PUT + "&cursor=Mg", 200, second);
    }
    String command = "--tier=gold --since=1h --set=tenantPerMinute=30 --set=tenantConnections=8";

    Run run = run(command);

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .startsWith(
            """
            2026-03-12T13:57:00Z to 2026-03-12T14:57:00Z: 2 of 3 tenants would have been refused something.
            tenantConnections: 3 of 3 tenants are left out, because they override it.
            messagesPerMinute: not known of 2 of 3 tenants, because the history does not have their messages.

            TENANT  LIMIT\
            """);
    assertThat(changes())
        .hasSize(2)
        .containsOnly(
            GOLD.replace("\"tenantPerMinute\":60", "\"tenantPerMinute\":30")
                .replace("\"tenantConnections\":10", "\"tenantConnections\":8")
                .replace(",\"tenantPerMinute\":\"OBSERVE\"", ""));
    assertThat(run(command + " -o=csv").out())
        .isEqualTo(
            """
            tenantId,limit,now,new,least,most,minutes,longestSeconds,first,last
            c,tenantPerMinute,60,30,1,7,2,120,2026-03-12T14:05:00Z,2026-03-12T14:06:00Z
            a,tenantPerMinute,60,30,0,5,2,120,2026-03-12T14:05:00Z,2026-03-12T14:06:00Z
            """);
    assertThat(run(command + " -o=json").out())
        .startsWith(
            "{\"from\":\"2026-03-12T13:57:00Z\",\"to\":\"2026-03-12T14:57:00Z\",\"limits\":[{")
        .contains("\"now\":60,\"new\":30,")
        .endsWith(
            "],\"leftOut\":{\"tenantConnections\":3},\"notKnown\":{\"messagesPerMinute\":2}}\n");
  }

  @Test
  void a_limit_that_is_enforced_with_this_value_already_is_named() {
    deployment.answers(PUT, 200, page(1, "", ofTier("")));

    assertThat(
            run("--tier=gold --since=1h --set=tenantConnections=10 --set=tenantPerMinute=60").out())
        .endsWith(
            "refused something.\n"
                + "gold: tenantConnections is 10 already, so it is not replayed.\n");
  }

  @Test
  void the_tiers_of_a_file() throws IOException {
    String tier =
        """
          %s:
            isolation: POOL
            limits: {tenantPerMinute: 30, sessionPerMinute: 5, connectionsPerSession: 2,
              tenantConnections: 10, sessionTTL: 200, messagesPerMinute: 60}
        """;
    Files.writeString(
        directory.resolve("tiers.yaml"),
        "tiers:\n" + tier.formatted("gold") + tier.formatted("new"));
    deployment
        .answers(PUT, 200, page(2, "", ofTier(""), row("a", "tenantPerMinute", 60, 30, 0, 5)))
        .answers(
            "PUT /control/tiers/new" + QUERY, 200, page(0, "", ofTier("").replace("gold", "new")));

    Run run = run("tiers.yaml --since=1h");

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .startsWith("2026-03-12T13:57:00Z to 2026-03-12T14:57:00Z: 1 of 2 tenants");
    assertThat(changes())
        .hasSize(2)
        .allMatch(
            change ->
                change.startsWith("{\"isolation\":\"POOL\",\"limits\":{\"tenantPerMinute\":30,"));
  }

  @Test
  void a_problem_of_the_control_plane_is_shown() {
    deployment.answers(PUT, 409, Documents.problem(409, "Conflict", "overrides do not fit"));

    assertThat(run("--tier=gold --since=1h --set=tenantPerMinute=30"))
        .returns(1, Run::exitCode)
        .satisfies(run -> assertThat(run.err()).contains("overrides do not fit"));
  }

  @Test
  void a_tier_must_exist() {
    assertThat(run("--tier=nosuch --set=tenantPerMinute=1"))
        .returns(1, Run::exitCode)
        .returns(
            "tollgate: No tier named `nosuch`. List tiers with `tollgate tiers list`.\n", Run::err);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--set=tenantPerMinute=1 | Name tenants, or a tier with --tier, or a file of tiers.",
        "acme --tier=gold --set=tenantPerMinute=1 | Name tenants, or a tier with --tier, or a file of tiers.",
        "acme | Name a limit with --set, such as --set tenantPerMinute=300.",
        "acme gold.yaml | Name a file alone, without --tier and --set: it has tiers and limits.",
        "gold.yaml --tier=gold | Name a file alone, without --tier and --set: it has tiers and limits.",
        "./gold --set=tenantPerMinute=1 | Name a file alone, without --tier and --set: it has tiers and limits.",
        "nosuch.yaml | nosuch.yaml",
        "acme --set=sessionTTL=9 | --set: sessionTTL (expected: one of tenantPerMinute, tenantConnections, messagesPerMinute)",
        "acme --set=tenantPerMinute=0 | --set: tenantPerMinute=0 (expected: 1 to 1000000)",
        "acme --set=tenantPerMinute=1 --since=32d | --since: 32d (expected: at most 31d)",
      })
  void wrong_usage(String arguments, String error) {
    Run run = run(arguments);

    assertThat(run.err()).contains(error);
    assertThat(run.exitCode()).isEqualTo(2);
  }
}
