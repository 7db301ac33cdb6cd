package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Documents;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Request;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class TiersTest {
  private static final String LIMITS =
      """
      %s:
        isolation: POOL
        limits: {tenantPerMinute: 60, sessionPerMinute: 5, connectionsPerSession: 2,
                 tenantConnections: 10, sessionTTL: 400, messagesPerMinute: 60}
      """
          .indent(2);
  private static final String BUCKET =
      "    buckets: {send-email: {ratePerMinute: 0.2, capacity: 5}}\n";

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

  private static final String[] WINDOW = {
    "--factor", "2", "--from", "2026-11-27T18:00", "--to", "2026-11-28T02:00", "--zone", "UTC"
  };

  private Run run(String... command) {
    return deployment.run(Stream.of(command, WINDOW).flatMap(Stream::of).toArray(String[]::new));
  }

  @Test
  void schedule_and_unschedule_send_the_window_and_its_id() {
    deployment
        .answers(
            "POST /control/tiers/gold/schedules",
            201,
            """
            {"id":"20261127T1800Z","factor":2,"from":"2026-11-27T18:00","to":"2026-11-28T02:00",
             "zone":"UTC","open":true}""")
        .answers("DELETE /control/tiers/gold/schedules/20261127T1800Z", 204, "");

    Run scheduled = run("tiers", "schedule", "gold");

    assertThat(scheduled.out())
        .isEqualTo(
            "Window 20261127T1800Z of tier gold:"
                + " factor 2 from 2026-11-27T18:00 to 2026-11-28T02:00 (UTC), which is open\n");
    assertThat(deployment.requests().get(0).body())
        .isEqualTo(
            "{\"factor\":2,\"from\":\"2026-11-27T18:00\",\"to\":\"2026-11-28T02:00\",\"zone\":\"UTC\"}");
    assertThat(deployment.run("tiers", "unschedule", "gold", "20261127T1800Z").out())
        .isEqualTo("Window 20261127T1800Z of tier gold is cancelled\n");
    assertThat(deployment.run("tiers", "unschedule", "gold", "x").exitCode()).isEqualTo(2);
  }

  @Test
  void list_shows_the_limits_that_are_not_enforced() {
    deployment.answers(
        "GET /control/tiers",
        200,
        """
        {"tiers":[{"tier":"a","isolation":"POOL","limits":{"tenantPerMinute":1,"tenantConnections":2,"messagesPerMinute":3},
          "modes":{"tenantPerMinute":"OBSERVE","sessionPerMinute":"OFF"}},
          {"tier":"b","isolation":"POOL","limits":{"tenantPerMinute":1,"tenantConnections":2,"messagesPerMinute":3}}]}
        """);

    assertThat(
            deployment
                .run("tiers", "list")
                .out()
                .lines()
                .map(line -> line.replaceAll(" {2,}", "|")))
        .containsExactly(
            "TIER|ISOLATION|CONNECTS PER MINUTE|CONNECTIONS|MESSAGES PER MINUTE|NOT ENFORCED",
            "a|POOL|1|2|3|tenantPerMinute=OBSERVE sessionPerMinute=OFF",
            "b|POOL|1|2|3");
  }

  @Test
  void list_shows_the_limits_of_each_tier() {
    deployment.answers("GET /control/tiers", 200, "{\"tiers\":[" + Documents.BRONZE + "]}");

    assertThat(deployment.run("tiers", "list").out().lines())
        .containsExactly(
            "TIER    ISOLATION  CONNECTS PER MINUTE  CONNECTIONS  MESSAGES PER MINUTE",
            "bronze  POOL                        60           10                   60");
  }

  @Test
  void show_prints_every_value() {
    deployment.answers("GET /control/tiers/bronze", 200, Documents.BRONZE);

    assertThat(deployment.run("tiers", "show", "bronze").out())
        .contains("limits.sessionTTL             200\n", "isolation                     POOL\n");
    assertThat(deployment.run("tiers", "show", "bronze", "--json").out())
        .isEqualTo(Documents.BRONZE + "\n");
  }

  @Test
  void apply_puts_each_tier_and_prints_the_changes() throws IOException {
    String changed = Documents.BRONZE.replace("\"sessionTTL\":200", "\"sessionTTL\":400");
    tiers(
        LIMITS.formatted("bronze"),
        LIMITS.formatted("platinum") + BUCKET,
        LIMITS.formatted("silver"));
    deployment
        .answers("PUT /control/tiers/bronze?dryRun=true", 200, Documents.DRY_BRONZE)
        .answers("PUT /control/tiers/platinum?dryRun=true", 200, Documents.DRY_NOTHING)
        .answers("PUT /control/tiers/silver?dryRun=true", 200, Documents.DRY_NOTHING)
        .answers("GET /control/tiers/bronze", 200, Documents.BRONZE)
        .answers(
            "PUT /control/tiers/bronze", 200, changed.replace("\"version\":1", "\"version\":2"))
        .answers("GET /control/tiers/platinum", 404, Documents.problem(404, "Not Found", "no"))
        .answers("PUT /control/tiers/platinum", 201, "{\"tier\":\"platinum\"}")
        .answers("GET /control/tiers/silver", 200, "{\"tier\":\"silver\"}")
        .answers("PUT /control/tiers/silver", 200, "{\"tier\":\"silver\"}");

    Run run = deployment.run("tiers", "apply", "tiers.yaml");

    assertThat(run.err()).as("the warning of diff").isEqualTo("acme: 7 connections are open\n");
    assertThat(run.out())
        .isEqualTo(
            """
            bronze: changed
              limits.sessionTTL: 200 → 400
            platinum: created
            silver: unchanged
            """);
    assertThat(deployment.requests())
        .contains(
            new Request("PUT", "/control/tiers/bronze", body("")),
            new Request(
                "PUT",
                "/control/tiers/platinum",
                body(",\"buckets\":{\"send-email\":{\"ratePerMinute\":0.2,\"capacity\":5}}")));
  }

  @Test
  void apply_stops_at_a_rejected_tier() throws IOException {
    tiers(LIMITS.formatted("one"), LIMITS.formatted("three"), LIMITS.formatted("two"));
    deployment
        .answers("PUT /control/tiers/one?dryRun=true", 200, Documents.DRY_NOTHING)
        .answers("PUT /control/tiers/three?dryRun=true", 200, Documents.DRY_NOTHING)
        .answers("PUT /control/tiers/two?dryRun=true", 200, Documents.DRY_NOTHING)
        .answers("GET /control/tiers/one", 404, "")
        .answers("PUT /control/tiers/one", 201, "{\"tier\":\"one\"}")
        .answers("GET /control/tiers/three", 404, "")
        .answers(
            "PUT /control/tiers/three", 400, Documents.problem(400, "Bad Request", "no limits"));

    Run run = deployment.run("tiers", "apply", "tiers.yaml");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).isEqualTo("one: created\n");
    assertThat(run.err()).isEqualTo("tollgate: no limits\n");
    assertThat(deployment.requests())
        .extracting(Request::path)
        .doesNotContain("/control/tiers/two");
  }

  @Test
  void export_prints_a_file_that_apply_accepts() throws IOException {
    deployment
        .answers("GET /control/tiers", 200, "{\"tiers\":[" + Documents.BRONZE + "]}")
        .answers(
            "GET /control/tiers/bronze",
            200,
            Documents.BRONZE.replaceFirst("}$", ",\"rollout\":{\"version\":1,\"more\":false}}"))
        .answers("PUT /control/tiers/bronze", 200, Documents.BRONZE)
        .answers("PUT /control/tiers/bronze?dryRun=true", 200, Documents.DRY_NOTHING);

    Run export = deployment.run("tiers", "export", "bronze");

    assertThat(export.out())
        .isEqualTo(
            """
            tiers:
              bronze:
                isolation: POOL
                limits:
                  tenantPerMinute: 60
                  sessionPerMinute: 5
                  connectionsPerSession: 2
                  tenantConnections: 10
                  sessionTTL: 200
                  messagesPerMinute: 60
                  sessionLifetime: 86400
                  sessionsPerSubject: 2
                buckets: {}
                fillMode: PRODUCER
                onUnavailable: ADMIT
                line: true
            """);
    assertThat(deployment.run("tiers", "export").out()).isEqualTo(export.out());
    for (String text : List.of(export.out(), deployment.run("tiers", "export", "--json").out())) {
      Files.writeString(directory.resolve("tiers.yaml"), text);
      Run applied = deployment.run("tiers", "apply", "tiers.yaml", "--if-version", "1");
      assertThat(applied.out()).isEqualTo("bronze: unchanged\n");
      assertThat(deployment.run("plan", "tiers.yaml", "--check").exitCode()).isZero();
    }
    assertThat(deployment.conditions())
        .as("of the dry runs and the changes")
        .containsExactly("\"1\"", "\"1\"", "\"1\"", "\"1\"");
    assertThat(deployment.run("tiers", "export", "nosuch").exitCode()).isEqualTo(1);
  }

  @Test
  void diff_and_a_dry_run_of_apply_show_the_changes_and_exit_with_3() throws IOException {
    tiers(LIMITS.formatted("bronze"), LIMITS.formatted("silver"));
    deployment
        .answers("PUT /control/tiers/silver?dryRun=true", 200, Documents.DRY_NOTHING)
        .answers("PUT /control/tiers/bronze?dryRun=true", 200, Documents.DRY_BRONZE);

    for (String command : List.of("diff tiers.yaml", "apply tiers.yaml --dry-run")) {
      Run run = deployment.run(("tiers " + command).split(" "));

      assertThat(run.err()).isEmpty();
      assertThat(run.exitCode()).isEqualTo(3);
      assertThat(run.out())
          .isEqualTo(
              """
              bronze: would be changed; 1 of its 2 tenants would change
                buckets.to.capacity: 9 → (none)
                limits.tenantConnections: 10 → 5

              TENANT  WHAT                      FROM  TO
              acme    limits.tenantConnections    10   5

              acme: 7 connections are open

              silver: unchanged; 0 of its 2 tenants would change
              """);
    }
    assertThat(deployment.requests())
        .extracting(Request::path)
        .allMatch(path -> path.endsWith("?dryRun=true"));
    assertThat(deployment.run("tiers", "diff", "tiers.yaml", "--json").out())
        .isEqualTo("{\"tiers\":[" + Documents.DRY_BRONZE + "," + Documents.DRY_NOTHING + "]}\n");
  }

  @Test
  void diff_without_changes_exits_with_0() throws IOException {
    tiers(LIMITS.formatted("silver"));
    deployment.answers("PUT /control/tiers/silver?dryRun=true", 200, Documents.DRY_NOTHING);

    Run run = deployment.run("tiers", "diff", "tiers.yaml", "--if-version", "1");

    assertThat(run.exitCode()).isZero();
    assertThat(deployment.conditions()).containsExactly("\"1\"");
  }

  @Test
  void diff_follows_cursors_and_adds_up() throws IOException {
    tiers(LIMITS.formatted("bronze"));
    deployment
        .answers(
            "PUT /control/tiers/bronze?dryRun=true",
            200,
            Documents.DRY_BRONZE.replaceFirst("}$", ",\"next\":\"c=\"}"))
        .answers(
            "PUT /control/tiers/bronze?dryRun=true&cursor=c%3D",
            200, Documents.DRY_BRONZE.replace("acme", "zeta"));

    Run run = deployment.run("tiers", "diff", "tiers.yaml");

    assertThat(run.out())
        .contains("2 of its 4 tenants would change", "acme: 7 conn", "zeta: 7 conn");
  }

  @Test
  @Timeout(20)
  void diff_fails_when_the_server_repeats_a_cursor() throws IOException {
    tiers(LIMITS.formatted("bronze"));
    String part = Documents.DRY_BRONZE.replaceFirst("}$", ",\"next\":\"c\"}");
    deployment
        .answers("PUT /control/tiers/bronze?dryRun=true", 200, part)
        .answers("PUT /control/tiers/bronze?dryRun=true&cursor=c", 200, part);

    Run run = deployment.run("tiers", "diff", "tiers.yaml");

    assertThat(run.err()).contains("The server repeats a cursor");
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void diff_of_a_rejected_tier_fails() throws IOException {
    tiers(LIMITS.formatted("silver"));
    deployment.answers(
        "PUT /control/tiers/silver?dryRun=true",
        400,
        Documents.problem(400, "A value is not valid", "isolation: missing"));

    assertThat(deployment.run("tiers", "diff", "tiers.yaml").exitCode()).isEqualTo(1);
  }

  @Test
  void if_version_of_several_tiers_is_a_usage_error() throws IOException {
    tiers(LIMITS.formatted("one"), LIMITS.formatted("two"));

    for (String command : List.of("apply", "diff")) {
      Run run = deployment.run("tiers", command, "tiers.yaml", "--if-version", "1");

      assertThat(run.exitCode()).isEqualTo(2);
      assertThat(run.err()).contains("2 tiers (expected: one");
    }
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void apply_of_a_file_without_tiers_is_a_usage_error() throws IOException {
    Files.writeString(directory.resolve("tiers.yaml"), "tenants: {acme: {tier: gold}}");

    Run run = deployment.run("tiers", "apply", "tiers.yaml");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .isEqualTo("tollgate: tiers.yaml: tiers is missing (expected: a section tiers)\n");
    assertThat(deployment.run("tiers", "apply", "none.yaml").exitCode()).isEqualTo(2);
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void apply_reports_the_errors_of_a_file_with_their_lines() throws IOException {
    tiers(LIMITS.formatted("bronze").replace("sessionTTL: 400", "sessionTTL: 0"));
    Files.writeString(directory.resolve("broken.yaml"), "tiers:\n  bronze: [\n");

    Run run = deployment.run("tiers", "apply", "tiers.yaml");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .contains("tiers.bronze.limits.sessionTTL: 0 (expected: a whole number, 1 to 86400)");
    assertThat(deployment.run("tiers", "apply", "broken.yaml").err())
        .contains("broken.yaml: line ", " is not YAML");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void delete_asks_for_confirmation_in_a_terminal() {
    deployment
        .answers("GET /control/tiers/bronze", 200, Documents.BRONZE)
        .answers("DELETE /control/tiers/bronze", 204, "");

    List<String> questions = new ArrayList<>();
    deployment.confirmedBy(question -> !questions.add(question));
    Run declined = deployment.run("tiers", "delete", "bronze");
    assertThat(declined.exitCode()).isEqualTo(1);
    assertThat(declined.err()).isEqualTo("tollgate: Cancelled. Nothing was changed.\n");
    assertThat(questions)
        .containsExactly(
            "Target: local (%s/control)\nDelete tier bronze? [y/N]".formatted(deployment.uri()));
    assertThat(deployment.requests()).extracting(Request::method).containsExactly("GET");

    deployment.confirmedBy(question -> true);
    Run confirmed = deployment.run("tiers", "delete", "bronze");
    assertThat(confirmed.exitCode()).isZero();
    assertThat(confirmed.out()).isEqualTo("Tier bronze is deleted\n");
  }

  @Test
  void delete_without_a_terminal_needs_yes() {
    deployment.answers("DELETE /control/tiers/bronze", 204, "");

    Run refused = deployment.run("tiers", "delete", "bronze");

    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err())
        .isEqualTo(
            "tollgate: Cannot ask for confirmation without a terminal. To delete tier bronze"
                + " without confirmation, use --yes.\n");
    assertThat(deployment.requests()).isEmpty();
    assertThat(deployment.run("tiers", "delete", "bronze", "--yes").exitCode()).isZero();
  }

  @Test
  void delete_sends_if_version_as_if_match_and_prints_why_it_is_refused() {
    deployment
        .answers(
            "DELETE /control/tiers/bronze",
            409,
            Documents.problem(409, "Conflict", "Tier `bronze` still has tenants."))
        .answers(
            "DELETE /control/tiers/nosuch",
            404,
            Documents.problem(404, "Not Found", "No tier named `nosuch`."));

    Run inUse = deployment.run("tiers", "delete", "bronze", "--yes", "--if-version", "3");
    Run unknown = deployment.run("tiers", "delete", "nosuch", "--yes");

    assertThat(inUse.exitCode()).isEqualTo(1);
    assertThat(inUse.err()).isEqualTo("tollgate: Tier `bronze` still has tenants.\n");
    assertThat(deployment.conditions()).containsExactly("\"3\"");
    assertThat(unknown.exitCode()).isEqualTo(1);
    assertThat(unknown.err())
        .isEqualTo("tollgate: No tier named `nosuch`. List tiers with `tollgate tiers list`.\n");
  }

  @Test
  void a_dry_run_of_delete_exits_with_3_without_asking() {
    String removed =
        "{\"dryRun\":true,\"outcome\":\"REMOVED\",\"version\":0,\"tier\":\"bronze\","
            + "\"changes\":{\"isolation\":{\"from\":\"POOL\"}},\"tenants\":[],"
            + "\"totals\":{\"tenants\":0,\"changed\":0}}";
    deployment
        .answers("DELETE /control/tiers/bronze?dryRun=true", 200, removed)
        .answers(
            "DELETE /control/tiers/gold?dryRun=true",
            409,
            Documents.problem(409, "Conflict", "Tier `gold` still has tenants."));

    Run run = deployment.run("tiers", "delete", "bronze", "--dry-run", "--if-version", "0");

    assertThat(run.err()).isEmpty();
    assertThat(run.out()).isEqualTo("bronze: would be removed; its version is 0\n");
    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(deployment.conditions()).containsExactly("\"0\"");
    assertThat(deployment.run("tiers", "delete", "gold", "--dry-run").exitCode()).isEqualTo(1);
  }

  private void tiers(String... tiers) throws IOException {
    Files.writeString(directory.resolve("tiers.yaml"), "tiers:\n" + String.join("", tiers));
  }

  private static String body(String more) {
    return "{\"isolation\":\"POOL\",\"limits\":{\"tenantPerMinute\":60,\"sessionPerMinute\":5,"
        + "\"connectionsPerSession\":2,\"tenantConnections\":10,\"sessionTTL\":400,"
        + "\"messagesPerMinute\":60}"
        + more
        + "}";
  }
}
