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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TiersTest {
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

  @Test
  void list_shows_the_limits_of_each_tier() {
    deployment.answers("GET /control/tiers", 200, "{\"tiers\":[" + Documents.BRONZE + "]}");

    assertThat(deployment.run("tiers", "list").out().lines())
        .containsExactly(
            "TIER    ISOLATION  tenantPerMinute  sessionPerMinute  connectionsPerSession"
                + "  tenantConnections  sessionTTL  messagesPerMinute  sessionLifetime"
                + "  sessionsPerSubject",
            "bronze  POOL                    60                 5                      2"
                + "                 10         200                 60            86400"
                + "                   2");
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
    String platinum =
        "{\"tier\":\"platinum\",\"limits\":{\"sessionTTL\":5},\"buckets\":"
            + "{\"send-email\":{\"ratePerMinute\":0.2,\"capacity\":5}}}";
    String silver = "{\"tier\":\"silver\"}";
    Files.writeString(
        directory.resolve("tiers.json"), "[" + changed + "," + platinum + "," + silver + "]");
    deployment
        .answers("GET /control/tiers/bronze", 200, Documents.BRONZE)
        .answers(
            "PUT /control/tiers/bronze", 200, changed.replace("\"version\":1", "\"version\":2"))
        .answers("GET /control/tiers/platinum", 404, Documents.problem(404, "Not Found", "no"))
        .answers("PUT /control/tiers/platinum", 201, platinum)
        .answers("GET /control/tiers/silver", 200, silver)
        .answers("PUT /control/tiers/silver", 200, silver);

    Run run = deployment.run("tiers", "apply", "tiers.json");

    assertThat(run.err()).isEmpty();
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
            new Request("PUT", "/control/tiers/bronze", changed),
            new Request("PUT", "/control/tiers/platinum", platinum));
  }

  @Test
  void apply_accepts_the_output_of_list_and_stops_at_a_rejected_tier() throws IOException {
    Files.writeString(
        directory.resolve("tiers.json"),
        "{\"tiers\":[{\"tier\":\"one\"},{\"tier\":\"two\"},{\"tier\":\"three\"}]}");
    deployment
        .answers("GET /control/tiers/one", 404, "")
        .answers("PUT /control/tiers/one", 201, "{\"tier\":\"one\"}")
        .answers("GET /control/tiers/two", 404, "")
        .answers("PUT /control/tiers/two", 400, Documents.problem(400, "Bad Request", "no limits"));

    Run run = deployment.run("tiers", "apply", "tiers.json");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).isEqualTo("one: created\n");
    assertThat(run.err()).isEqualTo("tollgate: 400 Bad Request: no limits\n");
    assertThat(deployment.requests()).extracting(Request::path).doesNotContain("/tiers/three");
  }

  @Test
  void apply_ignores_read_only_fields() throws IOException {
    Files.writeString(directory.resolve("tiers.json"), Documents.BRONZE);
    deployment
        .answers(
            "GET /control/tiers/bronze",
            200,
            Documents.BRONZE.replaceFirst("}$", ",\"rollout\":{\"version\":1,\"more\":false}}"))
        .answers("PUT /control/tiers/bronze", 200, Documents.BRONZE);

    Run run = deployment.run("tiers", "apply", "tiers.json", "--if-version", "1");

    assertThat(run.out()).isEqualTo("bronze: unchanged\n");
    assertThat(deployment.conditions()).containsExactly("\"1\"");
  }

  @Test
  void diff_and_a_dry_run_of_apply_show_the_changes_and_exit_with_3() throws IOException {
    Files.writeString(
        directory.resolve("tiers.json"), "[{\"tier\":\"silver\"}," + Documents.BRONZE + "]");
    deployment
        .answers("PUT /control/tiers/silver?dryRun=true", 200, Documents.DRY_NOTHING)
        .answers("PUT /control/tiers/bronze?dryRun=true", 200, Documents.DRY_BRONZE);

    for (String command : List.of("diff tiers.json", "apply tiers.json --dry-run")) {
      Run run = deployment.run(("tiers " + command).split(" "));

      assertThat(run.err()).isEmpty();
      assertThat(run.exitCode()).isEqualTo(3);
      assertThat(run.out())
          .isEqualTo(
              """
              silver: unchanged; 0 of its 2 tenants would change
              bronze: would be changed; 1 of its 2 tenants would change
                buckets.to.capacity: 9 → (none)
                limits.tenantConnections: 10 → 5

              TENANT  WHAT                      FROM  TO
              acme    limits.tenantConnections    10   5

              acme: 7 connections are open
              """);
    }
    assertThat(deployment.requests())
        .extracting(Request::path)
        .allMatch(path -> path.endsWith("?dryRun=true"));
    assertThat(deployment.run("tiers", "diff", "tiers.json", "--json").out())
        .isEqualTo("{\"tiers\":[" + Documents.DRY_NOTHING + "," + Documents.DRY_BRONZE + "]}\n");
  }

  @Test
  void diff_without_changes_exits_with_0() throws IOException {
    Files.writeString(directory.resolve("tiers.json"), "{\"tier\":\"silver\"}");
    deployment.answers("PUT /control/tiers/silver?dryRun=true", 200, Documents.DRY_NOTHING);

    Run run = deployment.run("tiers", "diff", "tiers.json", "--if-version", "1");

    assertThat(run.exitCode()).isZero();
    assertThat(deployment.conditions()).containsExactly("\"1\"");
  }

  @Test
  void diff_follows_cursors_and_adds_up() throws IOException {
    Files.writeString(directory.resolve("tiers.json"), Documents.BRONZE);
    deployment
        .answers(
            "PUT /control/tiers/bronze?dryRun=true",
            200,
            Documents.DRY_BRONZE.replaceFirst("}$", ",\"next\":\"c=\"}"))
        .answers(
            "PUT /control/tiers/bronze?dryRun=true&cursor=c%3D",
            200, Documents.DRY_BRONZE.replace("acme", "zeta"));

    Run run = deployment.run("tiers", "diff", "tiers.json");

    assertThat(run.out())
        .contains("2 of its 4 tenants would change", "acme: 7 conn", "zeta: 7 conn");
  }

  @Test
  void diff_of_a_rejected_tier_fails() throws IOException {
    Files.writeString(directory.resolve("tiers.json"), "{\"tier\":\"silver\"}");
    deployment.answers(
        "PUT /control/tiers/silver?dryRun=true",
        400,
        Documents.problem(400, "A value is not valid", "isolation: missing"));

    assertThat(deployment.run("tiers", "diff", "tiers.json").exitCode()).isEqualTo(1);
  }

  @Test
  void if_version_of_several_tiers_is_a_usage_error() throws IOException {
    Files.writeString(directory.resolve("tiers.json"), "[{\"tier\":\"one\"},{\"tier\":\"two\"}]");

    for (String command : List.of("apply", "diff")) {
      Run run = deployment.run("tiers", command, "tiers.json", "--if-version", "1");

      assertThat(run.exitCode()).isEqualTo(2);
      assertThat(run.err()).contains("2 tiers (expected: one");
    }
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void apply_of_a_file_without_tiers_is_a_usage_error() throws IOException {
    Files.writeString(directory.resolve("tiers.json"), "[{\"name\":\"bronze\"}]");

    Run run = deployment.run("tiers", "apply", "tiers.json");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .contains("{\"name\":\"bronze\"} (expected: an object with a field \"tier\")");
    assertThat(deployment.requests()).isEmpty();
    assertThat(deployment.run("tiers", "apply", "none.json").exitCode()).isEqualTo(2);
  }

  @Test
  void apply_of_a_file_that_is_not_json_reports_the_line_and_reason() throws IOException {
    Files.writeString(directory.resolve("tiers.json"), "[\n  {\"tier\": bronze}\n]");
    Files.writeString(directory.resolve("empty.json"), "");

    Run run = deployment.run("tiers", "apply", "tiers.json");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("tiers.json: line 2 is not JSON: Unrecognized token 'bronze'");
    assertThat(deployment.run("tiers", "apply", "empty.json").err())
        .contains("empty.json is empty (expected: JSON)");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void delete_asks_for_confirmation_in_a_terminal() {
    deployment.answers("DELETE /control/tiers/bronze", 204, "");

    List<String> questions = new ArrayList<>();
    deployment.confirmedBy(question -> !questions.add(question));
    Run declined = deployment.run("tiers", "delete", "bronze");
    assertThat(declined.exitCode()).isEqualTo(1);
    assertThat(declined.err()).isEqualTo("tollgate: Cancelled. Nothing was changed.\n");
    assertThat(questions)
        .containsExactly(
            "Target: local (%s/control)\nDelete tier bronze? [y/N]".formatted(deployment.uri()));
    assertThat(deployment.requests()).isEmpty();

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
    assertThat(inUse.err()).isEqualTo("tollgate: 409 Conflict: Tier `bronze` still has tenants.\n");
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
}
