package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.ControlPlane;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Run;
import dev.tollgate.cli.http.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ApplyTest {
  private static final String LIMITS =
      "{tenantPerMinute: 60, sessionPerMinute: 5, connectionsPerSession: 2,"
          + " tenantConnections: %d, sessionTTL: 200, messagesPerMinute: 60}";
  private static final String BRONZE = "  bronze: {isolation: POOL, limits: " + LIMITS + "}\n";

  @TempDir private Path directory;
  private StubDeployment deployment;
  private final ControlPlane controlPlane = new ControlPlane();

  @BeforeEach
  void start() throws IOException {
    deployment = new StubDeployment(directory).answersWith(controlPlane);
  }

  @AfterEach
  void stop() {
    deployment.close();
  }

  private void file(String yaml) throws IOException {
    Files.writeString(directory.resolve("all.yaml"), yaml);
  }

  private static String tiers(String... tiers) {
    return "tiers:\n" + String.join("", tiers);
  }

  private Run apply(String... options) {
    String[] arguments = new String[options.length + 5];
    List.of("apply", "all.yaml", "--yes", "--parallel", "1").toArray(arguments);
    System.arraycopy(options, 0, arguments, 5, options.length);
    return deployment.run(arguments);
  }

  @Test
  void plan_shows_the_differences_and_changes_nothing() throws IOException {
    controlPlane
        .tenant("acme", "bronze", "{\"sessionTTL\":60}")
        .tenant("globex", "gold", "{}")
        .tenant("old", "gold", "{}");
    file(
        tiers(BRONZE.formatted(5), BRONZE.formatted(7).replace("bronze", "tin"))
            + """
            tenants:
              acme: {tier: silver, overrides: {tenantConnections: 10}, status: SUSPENDED}
              globex: {tier: gold}
              new: {tier: tin, overrides: {sessionTTL: 30}}
            """);

    Run run = deployment.run("plan", "all.yaml");

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .isEqualTo(
            """
            ~ change tier bronze: used by 1 tenant
                limits.tenantConnections: 10 → 5
            + create tier tin
                fillMode: PRODUCER
                isolation: POOL
                limits.connectionsPerSession: 2
                limits.messagesPerMinute: 60
                limits.sessionPerMinute: 5
                limits.sessionTTL: 200
                limits.tenantConnections: 7
                limits.tenantPerMinute: 60
                line: true
                onUnavailable: ADMIT
            ~ change tenant acme
                overrides.sessionTTL: 60 → (none)
                overrides.tenantConnections: (none) → 10
                status: ACTIVE → SUSPENDED
                tier: bronze → silver
                ! acme: 7 connections are open
            + create tenant new: tier tin, sessionTTL=30

            Plan: 2 to create, 2 to change, 0 to remove, 1 unchanged.
            1 tenant is not in the file and stays (--prune would remove it).
            2 tiers are not in the file and stay (--prune would remove them).
            """);
    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(controlPlane.writes()).isEmpty();
  }

  @Test
  void a_tier_without_hibernation_is_planned() throws IOException {
    file(tiers(neverOrAfter(0)));

    Run run = deployment.run("plan", "all.yaml");

    assertThat(run.err()).isEmpty();
    assertThat(run.out()).contains("~ change tier bronze", "hibernateAfterMinutes: (none) → 0");
  }

  @Test
  void a_switch_of_the_line_is_planned_for_tiers_and_tenants() throws IOException {
    controlPlane.tenant("acme", "silver", "{\"line\":false}").tenant("beta", "silver", "{}");
    file(
        tiers(BRONZE.formatted(10).replace("}}\n", "}, line: false}\n"))
            + """
            tenants:
              acme: {tier: silver, overrides: {line: true}}
              beta: {tier: silver, overrides: {line: false}}
            """);

    Run run = deployment.run("plan", "all.yaml");

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .contains(
            "~ change tier bronze",
            "line: true → false",
            "~ change tenant acme\n    overrides.line: false → true",
            "~ change tenant beta\n    overrides.line: (none) → false");
    assertThat(deployment.run("apply", "all.yaml", "--yes").exitCode()).isZero();
    assertThat(controlPlane.tenant("acme").path("overrides").path("line").asBoolean()).isTrue();
    assertThat(deployment.run("plan", "all.yaml", "--check").exitCode()).isZero();
  }

  private static String neverOrAfter(int minutes) {
    return BRONZE
        .formatted(10)
        .replace("}}\n", "}, hibernateAfterMinutes: %d}\n".formatted(minutes));
  }

  @Test
  void negative_minutes_are_rejected() throws IOException {
    file(tiers(neverOrAfter(-1)));

    assertThat(deployment.run("plan", "all.yaml").err())
        .contains("hibernateAfterMinutes: -1 (expected: a whole number of minutes, 0 for never)");
  }

  @Test
  void plan_with_prune_shows_the_removals() throws IOException {
    controlPlane.tenant("acme", "bronze", "{}").tenant("old", "gold", "{}");
    file(tiers(BRONZE.formatted(10)) + "tenants:\n  acme: {tier: bronze}\n");

    Run run = deployment.run("plan", "all.yaml", "--prune");

    assertThat(run.out())
        .isEqualTo(
            """
            - remove tenant old: tier gold
            - remove tier gold
            - remove tier silver

            Plan: 0 to create, 0 to change, 3 to remove, 2 unchanged.
            """);
  }

  @Test
  void plan_as_json_is_one_document() throws IOException {
    file("tenants: {acme: {tier: gold}}");

    Run run = deployment.run("plan", "all.yaml", "--json");

    assertThat(run.out())
        .isEqualTo(
            "{\"differences\":[{\"verb\":\"create\",\"kind\":\"tenant\",\"name\":\"acme\","
                + "\"version\":0,\"changes\":{},\"consequences\":[]}],\"summary\":{\"create\":1,"
                + "\"change\":0,\"remove\":0,\"asTheyShouldBe\":0},\"notes\":[]}\n");
  }

  @Test
  void the_exit_code_of_plan_distinguishes_changes_from_errors() throws IOException {
    file("tenants: {acme: {tier: gold}}");
    assertThat(deployment.run("plan", "all.yaml").exitCode()).isEqualTo(3);

    controlPlane.tenant("acme", "gold", "{}");
    assertThat(deployment.run("plan", "all.yaml").exitCode()).isZero();

    file("tenants: {acme: {tier: none}}");
    assertThat(deployment.run("plan", "all.yaml").exitCode()).isEqualTo(2);
    assertThat(deployment.run("plan", "--no-such").exitCode()).isEqualTo(2);
    assertThat(deployment.run("plan", "all.yaml", "--outputs", "none").exitCode()).isEqualTo(2);
  }

  @Test
  void check_needs_no_deployment() throws IOException {
    file(
        tiers(BRONZE.formatted(5))
            + """
            tenants:
              acme: {tier: bronze}
              globex: {tier: gold, overrides: {tenantConnections: 1000000}}
            """);
    deployment.run("context", "remove", "local");

    Run run = deployment.run("plan", "all.yaml", "--check");

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .isEqualTo(
            """
            all.yaml is valid: 1 tier, 2 tenants.
            These tiers must exist in the deployment: gold.
            """);
    assertThat(deployment.run("plan", "all.yaml", "--check", "--json").out())
        .isEqualTo("{\"tiers\":1,\"tenants\":2,\"tiersNotInFile\":[\"gold\"]}\n");
    file("tenants: {acme: {tier: gold, overrides: {tenantConnections: 1000001}}}");
    Run invalid = deployment.run("plan", "all.yaml", "--check");
    assertThat(invalid.exitCode()).isEqualTo(2);
    assertThat(invalid.err())
        .contains(
            "line 1: tenants.acme.overrides.tenantConnections: 1000001 (expected: a whole number, 1 to"
                + " 1000000)");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void apply_makes_the_changes_and_a_second_apply_sends_no_writes() throws IOException {
    controlPlane.tenant("acme", "bronze", "{}").tenant("globex", "silver", "{}");
    file(
        tiers(BRONZE.formatted(5), BRONZE.formatted(7).replace("bronze", "tin"))
            + """
            tenants:
              acme: {tier: tin, overrides: {tenantConnections: 10}}
              globex: {tier: silver}
              new: {tier: tin, status: SUSPENDED}
            """);

    Run run = apply();

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .endsWith(
            """
            Applied: 2 created, 2 changed, 0 removed.
            Tier bronze: the change reaches its tenants within minutes.
            """);
    assertThat(run.exitCode()).isZero();
    assertThat(controlPlane.writes())
        .containsExactly(
            "PUT /tiers/tin",
            "PUT /tiers/bronze if \"0\"",
            "POST /tenants new",
            "PATCH /tenants/new if \"1\"",
            "PATCH /tenants/acme if \"1\"",
            "PATCH /tenants/acme if \"2\"");
    assertThat(controlPlane.tenant("acme").path("tier").asText()).isEqualTo("tin");
    assertThat(controlPlane.tenant("new").path("status").asText()).isEqualTo("SUSPENDED");

    controlPlane.forgetWrites();
    Run second = apply();

    assertThat(second.out())
        .contains("Plan: 0 to create, 0 to change, 0 to remove, 5 unchanged.\n")
        .endsWith("Nothing to do.\n");
    assertThat(second.exitCode()).isZero();
    assertThat(controlPlane.writes()).isEmpty();
  }

  @Test
  void a_tier_is_created_only_if_it_does_not_exist() throws IOException {
    file(tiers(BRONZE.formatted(7).replace("bronze", "tin")));
    controlPlane.before("PUT /tiers/tin", () -> controlPlane.tierByOthers("tin"));

    Run run = apply();

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .contains(
            "tier tin: conflict: changed by someone else since the plan; run `tollgate plan` again");
  }

  @Test
  void a_conflict_is_reported_and_the_other_changes_are_applied() throws IOException {
    controlPlane.tenant("acme", "gold", "{}").tenant("globex", "gold", "{}");
    controlPlane.before("PATCH /tenants/acme", () -> controlPlane.changedByOthers("acme"));
    file("tenants: {acme: {tier: silver}, globex: {tier: silver}}");

    Run run = apply();

    assertThat(run.err())
        .isEqualTo(
            "  tenant acme: conflict: changed by someone else since the plan; run `tollgate plan` again\n");
    assertThat(run.out()).contains("Applied: 0 created, 1 changed, 0 removed; 1 not done.");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(controlPlane.tenant("acme").path("tier").asText()).isEqualTo("gold");
    assertThat(controlPlane.tenant("globex").path("tier").asText()).isEqualTo("silver");
  }

  @Test
  void a_tenant_changed_by_someone_else_is_kept_even_if_this_run_changed_its_tier()
      throws IOException {
    controlPlane.tenant("acme", "bronze", "{}");
    controlPlane.before("PATCH /tenants/acme", () -> controlPlane.changedByOthers("acme"));
    file(tiers(BRONZE.formatted(5)) + "tenants: {acme: {tier: silver}}");

    Run run = apply();

    assertThat(run.err()).contains("tenant acme: conflict: changed by someone else since the plan");
    assertThat(controlPlane.tenant("acme").path("tier").asText()).isEqualTo("bronze");
  }

  @Test
  void a_change_whose_response_was_lost_counts_as_done() throws IOException {
    controlPlane.tenant("acme", "gold", "{}");
    controlPlane.refuses("PATCH /tenants/acme", 504, Map.of());
    controlPlane.before(
        "PATCH /tenants/acme",
        () -> controlPlane.tenant("acme").put("tier", "silver").put("version", 2));
    file("tenants: {acme: {tier: silver}}");

    Run run = apply();

    assertThat(run.err()).isEmpty();
    assertThat(run.out()).contains("1 changed");
    assertThat(controlPlane.writes())
        .containsExactly("PATCH /tenants/acme if \"1\"", "PATCH /tenants/acme if \"1\"");
  }

  @Test
  void a_failed_change_does_not_stop_the_others() throws IOException {
    controlPlane.refuses("POST /tenants b", 400, Map.of());
    file("tenants: {a: {tier: gold}, b: {tier: gold}, c: {tier: gold}}");

    Run run = apply();

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).isEqualTo("  tenant b: Refused: on purpose\n");
    assertThat(controlPlane.tenants()).containsExactly("a", "c");

    controlPlane.forgetWrites();
    assertThat(apply().exitCode()).isZero();
    assertThat(controlPlane.writes()).containsExactly("POST /tenants b");
  }

  @Test
  void tenants_of_a_tier_that_could_not_be_created_are_not_tried() throws IOException {
    controlPlane.refuses("PUT /tiers/tin", 409, Map.of());
    controlPlane.refuses("PUT /tiers/tin", 409, Map.of());
    file(
        tiers(BRONZE.formatted(7).replace("bronze", "tin"))
            + "tenants: {a: {tier: tin}, b: {tier: gold}}");

    Run run = apply();

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("tier tin: ", "tenant a: tier tin was not created");
    assertThat(controlPlane.tenants()).containsExactly("b");
  }

  @Test
  void apply_stops_when_access_is_denied() throws IOException {
    controlPlane.refuses("POST /tenants a", 403, Map.of());
    file("tenants: {a: {tier: gold}, b: {tier: gold}, c: {tier: gold}}");

    Run run = apply();

    assertThat(run.out()).contains("3 not done", "2 changes not started: tenant b");
    assertThat(controlPlane.writes()).containsExactly("POST /tenants a");
  }

  @Test
  void prune_removes_tenants_and_then_tiers() throws IOException {
    controlPlane.tenant("acme", "bronze", "{}").tenant("old", "gold", "{}");
    file(tiers(BRONZE.formatted(10)) + "tenants: {acme: {tier: bronze}}");

    Run run = apply("--prune");

    assertThat(run.err()).isEmpty();
    assertThat(controlPlane.writes())
        .containsExactly(
            "DELETE /tenants/old if \"1\"",
            "DELETE /tiers/gold if \"0\"",
            "DELETE /tiers/silver if \"0\"");
    assertThat(controlPlane.tenants()).containsExactly("acme");
    assertThat(controlPlane.tiers()).containsExactly("bronze");
  }

  @Test
  void a_tenant_of_a_changed_tier_is_removed() throws IOException {
    controlPlane.tenant("old", "bronze", "{}");
    file(tiers(BRONZE.formatted(5)) + "tenants: {}");

    Run run = apply("--prune");

    assertThat(run.err()).isEmpty();
    assertThat(controlPlane.tenants()).isEmpty();
  }

  @Test
  void a_slow_removal_is_reported_and_is_not_a_failure() throws IOException {
    controlPlane.slow().tenant("old", "gold", "{}");
    file(tiers(BRONZE.formatted(10)) + "tenants: {}");

    Run run = apply("--prune");

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .endsWith(
            """
            Applied: 0 created, 0 changed, 2 removed; 1 not done.
            Tier gold cannot be removed while its tenants are being removed. Run the command again later.
            1 tenant is still being removed. The control plane finishes this by itself.
            """);
    assertThat(run.exitCode()).isZero();
    assertThat(deployment.run("plan", "all.yaml").out()).contains("1 tenant is being removed.");

    controlPlane.removalsEnd();
    assertThat(apply("--prune").exitCode()).isZero();
    assertThat(controlPlane.tiers()).containsExactly("bronze");
  }

  @Test
  void a_desired_tenant_fails_until_its_removal_is_finished() throws IOException {
    controlPlane.slow().tenant("acme", "gold", "{}");
    file("tenants: {}");
    apply("--prune");
    file("tenants: {acme: {tier: gold}}");

    Run run = apply();

    assertThat(run.out()).contains("acme: tier gold; possible once its removal is finished");
    assertThat(run.exitCode()).isEqualTo(1);

    controlPlane.removalsEnd();
    assertThat(apply().exitCode()).isZero();
    assertThat(controlPlane.tenants()).containsExactly("acme");
  }

  @Test
  void prune_of_a_file_without_tiers_removes_no_tier_and_without_tenants_no_tenant()
      throws IOException {
    controlPlane.tenant("old", "gold", "{}");
    file(tiers(BRONZE.formatted(10)));

    Run tiersOnly = apply("--prune");

    assertThat(tiersOnly.out())
        .contains("Tier gold is not in the file but is kept: used by 1 tenant.");
    assertThat(controlPlane.tenants()).containsExactly("old");
    assertThat(controlPlane.tiers()).containsExactly("bronze", "gold");

    file("tenants: {}");
    apply("--prune");

    assertThat(controlPlane.tenants()).isEmpty();
    assertThat(controlPlane.tiers()).containsExactly("bronze", "gold");
  }

  @Test
  void a_missing_status_is_kept_and_missing_overrides_are_removed() throws IOException {
    controlPlane.tenant("acme", "gold", "{\"sessionTTL\":60}");
    controlPlane.changedByOthers("acme");
    file("tenants: {acme: {tier: gold}}");

    apply();

    assertThat(controlPlane.tenant("acme").path("status").asText()).isEqualTo("SUSPENDED");
    assertThat(controlPlane.tenant("acme").path("overrides")).isEmpty();
    assertThat(apply().out()).endsWith("Nothing to do.\n");
  }

  @Test
  void modes_are_applied_once() throws IOException {
    controlPlane.tenant("acme", "gold", "{\"modes\":{\"sessionPerMinute\":\"OFF\"}}");
    file(
        "tenants: {acme: {tier: gold, overrides: {sessionTTL: 60, modes: {tenantPerMinute: OBSERVE}}}}");

    assertThat(apply().out())
        .contains(
            "overrides.modes.sessionPerMinute: OFF → (none)",
            "overrides.modes.tenantPerMinute: (none) → OBSERVE");

    assertThat(controlPlane.tenant("acme").path("overrides").toString())
        .isEqualTo("{\"modes\":{\"tenantPerMinute\":\"OBSERVE\"},\"sessionTTL\":60}");
    assertThat(apply().out()).endsWith("Nothing to do.\n");
  }

  @Test
  void wrong_modes_are_reported() throws IOException {
    file(
        "tenants: {acme: {tier: gold, overrides: {modes: {tenantPerMinute: on, sessionsPerSubject: OBSERVE, sessionTTL: OFF}}}}");

    assertThat(apply().err())
        .contains(
            "tenants.acme.overrides.modes.tenantPerMinute: on (expected: ENFORCE or OBSERVE or OFF)",
            "tenants.acme.overrides.modes.sessionsPerSubject: OBSERVE (expected: ENFORCE or OFF)",
            "tenants.acme.overrides.modes.sessionTTL: OFF (expected: a known field, one of: ");
  }

  @Test
  void apply_without_a_terminal_requires_yes() throws IOException {
    file("tenants: {acme: {tier: gold}}");

    Run run = deployment.run("apply", "all.yaml");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).contains("+ create tenant acme");
    assertThat(run.err()).contains("Cannot ask for confirmation", "--yes");
    assertThat(controlPlane.writes()).isEmpty();
  }

  @Test
  void apply_asks_for_confirmation_in_a_terminal() throws IOException {
    file("tenants: {acme: {tier: gold}}");

    assertThat(deployment.confirmedBy(question -> false).run("apply", "all.yaml").exitCode())
        .isEqualTo(1);
    assertThat(controlPlane.writes()).isEmpty();

    assertThat(
            deployment
                .confirmedBy(prompt -> prompt.endsWith("\nApply this plan? [y/N]"))
                .run("apply", "all.yaml")
                .exitCode())
        .isZero();
    assertThat(controlPlane.tenants()).containsExactly("acme");
  }

  @Test
  void apply_shows_the_progress_in_one_line_of_a_terminal() throws IOException {
    controlPlane.refuses("POST /tenants b", 400, Map.of());
    file("tenants: {a: {tier: gold}, b: {tier: gold}}");
    deployment.confirmedBy(question -> true);

    assertThat(deployment.run("apply", "all.yaml", "--rate", "1", "--parallel", "1").err())
        .contains("\rApplied 1 of 2 changes, 1 s", "\rApplied 1 of 2 changes, 1 failed, 2 s")
        .contains("  \r  ");
    assertThat(apply("--json").err()).doesNotContain("Applied", "\r");
  }

  @Test
  void apply_with_json_prints_one_document_and_does_not_ask() throws IOException {
    controlPlane.refuses("POST /tenants b", 400, Map.of());
    file("tenants: {a: {tier: gold}, b: {tier: gold}}");

    assertThat(deployment.confirmedBy(x -> true).run("apply", "all.yaml", "--json").exitCode())
        .isEqualTo(2);
    Run run = apply("--json");

    assertThat(Json.parse(run.out()).orElseThrow().path("applied").path("created").asInt())
        .isEqualTo(1);
    assertThat(run.out())
        .contains(
            "\"failed\":[{\"kind\":\"tenant\",\"name\":\"b\",\"reason\":\"Refused: on purpose\"}]");
  }

  @Test
  void apply_retries_a_busy_control_plane_after_retry_after() throws IOException {
    controlPlane.refuses("POST /tenants acme", 429, Map.of("Retry-After", "7"));
    controlPlane.refuses("POST /tenants acme", 503, Map.of());
    file("tenants: {acme: {tier: gold}}");

    Run run = apply("--rate", "1000");

    assertThat(run.exitCode()).isZero();
    assertThat(run.waits()).contains(Duration.ofSeconds(7), Duration.ofSeconds(2));
  }

  @Test
  void all_errors_of_a_file_are_reported_by_line_and_nothing_is_changed() throws IOException {
    file(
        """
        tiers:
          bronze:
            isolation: BOTH
            limit: {}
            limits:
              tenantPerMinute: "60"
              sessionPerMinute: 0
              connectionsPerSession: 1.5
              tenantConnections: ten
              tenantConnections: 10
              messagesPerMinute: 60
            buckets: {Send: {ratePerMinute: fast}}
            onUnavailable: no
            line: maybe
          silver:
        tenants:
          Acme: {tier: gold}
          b:
            tier: 7
            status: OFFBOARDING
          b: {tier: gold}
          c: {tier: gold, overrides: {connections: 1, line: 1}}
          d: gold
        tenant: {}
        """);

    Run run = apply();

    assertThat(run.err())
        .isEqualTo(
            """
            tollgate: all.yaml: 21 invalid values. Nothing was changed.
              line 3: tiers.bronze.isolation: BOTH (expected: POOL or SILO)
              line 4: tiers.bronze.limit: {} (expected: a known field, one of: isolation, limits, buckets, fillMode, onUnavailable, modes, line, retreatAbovePercent, hibernateAfterMinutes)
              line 5: tiers.bronze.limits.sessionTTL: missing (expected: a whole number, 1 to 86400)
              line 6: tiers.bronze.limits.tenantPerMinute: "60" (expected: a whole number, 1 to 30000)
              line 7: tiers.bronze.limits.sessionPerMinute: 0 (expected: a whole number, 1 to 60000)
              line 8: tiers.bronze.limits.connectionsPerSession: 1.5 (expected: a whole number, 1 to 1000)
              line 9: tiers.bronze.limits.tenantConnections: ten (expected: a whole number, 1 to 1000000)
              line 10: tiers.bronze.limits.tenantConnections: repeated (expected: once; also on line 9)
              line 12: tiers.bronze.buckets.Send: Send (expected: 1 to 20 lower-case letters, digits and hyphens; a letter first)
              line 12: tiers.bronze.buckets.Send.ratePerMinute: fast (expected: tokens a minute, such as 0.2)
              line 13: tiers.bronze.onUnavailable: no (expected: ADMIT or REFUSE)
              line 14: tiers.bronze.line: maybe (expected: true or false)
              line 15: tiers.silver: null (expected: an object)
              line 17: tenants.Acme: Acme (expected: 1 to 36 lower-case letters, digits and hyphens; no hyphen first)
              line 19: tenants.b.tier: 7 (expected: the name of a tier)
              line 20: tenants.b.status: OFFBOARDING (expected: ACTIVE or SUSPENDED)
              line 21: tenants.b: repeated (expected: once; also on line 18)
              line 22: tenants.c.overrides.connections: 1 (expected: a known field, one of: tenantPerMinute, sessionPerMinute, connectionsPerSession, tenantConnections, sessionTTL, messagesPerMinute, sessionLifetime, sessionsPerSubject, modes, line)
              line 22: tenants.c.overrides.line: 1 (expected: true or false)
              line 23: tenants.d: gold (expected: an object)
              line 24: tenant: {} (expected: a known field, one of: tiers, tenants)
            """);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(controlPlane.writes()).isEmpty();
  }

  @Test
  void an_unknown_tier_is_reported_with_the_other_errors() throws IOException {
    file(
        """
        tiers:
          starter: {isolation: POOL, tyer: x, limits: {tenantPerMinute: 30, sessionPerMinute: 5,
            connectionsPerSession: 2, tenantConnections: 5, sessionTTL: x, messagesPerMinute: 30}}
        tenants:
          acme: {tier: startr}
          globex: {tier: starter}
          initech: {tier: gold}
        """);

    Run run = apply();

    assertThat(run.err())
        .contains("line 2: tiers.starter.tyer: x (expected: a known field, one of: isolation,")
        .contains(
            "line 3: tiers.starter.limits.sessionTTL: x (expected: a whole number, 1 to 86400")
        .contains("line 5: tenants.acme.tier: startr (expected: a tier in the file or in the")
        .startsWith("tollgate: all.yaml: 3 invalid values. Nothing was changed.\n");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(controlPlane.writes()).isEmpty();
  }

  @Test
  void errors_are_reported_although_the_tiers_cannot_be_read() throws IOException {
    deployment.answersWith((request, ifMatch) -> Optional.empty());
    file("tenants:\n  acme: {tier: gold, stats: ACTIVE}\n");

    Run run = apply();

    assertThat(run.err())
        .isEqualTo(
            "tollgate: all.yaml: 1 invalid value. Nothing was changed.\n"
                + "  line 2: tenants.acme.stats: ACTIVE"
                + " (expected: a known field, one of: tier, overrides, status)\n");
    assertThat(run.exitCode()).isEqualTo(2);
  }

  @Test
  void a_tier_that_the_control_plane_would_reject_is_reported_with_its_line() throws IOException {
    controlPlane.tenant("acme", "gold", "{}");
    file(
        tiers(BRONZE.formatted(10), "  tin:\n    fillMode: NEVER\n    isolation: POOL\n")
            + ("    limits: " + LIMITS + "\n").formatted(5)
            + "tenants: {acme: {tier: nosuch}}");

    Run run = apply();

    assertThat(run.err())
        .isEqualTo(
            """
            tollgate: all.yaml: 2 invalid values. Nothing was changed.
              line 4: tiers.tin.fillMode: NEVER (expected: PRODUCER)
              line 7: tenants.acme.tier: nosuch (expected: a tier in the file or in the deployment)
            """);
    assertThat(controlPlane.writes()).isEmpty();
  }

  @Test
  void a_rejected_value_cannot_control_the_terminal() throws IOException {
    file("tenants: {acme: {tier: \"x\\e[31mred\\x9b31m\"}}");

    Run run = deployment.run("plan", "all.yaml");

    assertThat(run.err())
        .contains("tenants.acme.tier: x\\u001b[31mred\\u009b31m")
        .doesNotContain("\u001b", "\u009b");
  }

  @Test
  void a_rejected_tenant_change_is_reported_with_its_line() throws IOException {
    controlPlane.tenant("acme", "gold", "{}");
    file(
        "tenants:\n  acme:\n    tier: gold\n    overrides: {sessionTTL: 90, sessionLifetime: 60}\n");

    assertThat(apply().err())
        .contains(
            "line 4: tenants.acme.overrides.sessionTTL: 90 (expected: at most sessionLifetime: 60)");
    assertThat(controlPlane.writes()).isEmpty();
  }

  @Test
  void a_tenant_whose_tier_prune_would_remove_is_an_error() throws IOException {
    file(tiers(BRONZE.formatted(10)) + "tenants: {acme: {tier: gold}}");

    assertThat(apply("--prune").err())
        .contains("line 3: tenants.acme.tier: gold (expected: a tier in the file, because --prune");
    assertThat(controlPlane.writes()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ''                      | line 1: file: missing (expected: tiers: and tenants:
          'tenants:'              | line 1: tenants: null (expected: an object; {} for none)
          '[1, 2]'                | line 1: file: [1,2]
          'tenants: {a: {tier: x' | line 1 is not YAML
          'tenants: &a {b: *a}'   | line 1: tenants.b: an alias of its own parent
          'tenants: {a: {tier: .nan}}' | line 1: tenants.a.tier: .nan
          """)
  void an_invalid_document_is_rejected(String yaml, String message) throws IOException {
    file(yaml);

    Run run = apply();

    assertThat(run.err()).contains(message);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void a_rate_or_parallelism_out_of_range_is_a_usage_error() throws IOException {
    file("tenants: {}");

    assertThat(deployment.run("apply", "all.yaml", "--rate", "0").err()).contains("--rate: 0");
    assertThat(deployment.run("apply", "all.yaml", "--parallel", "65").err())
        .contains("--parallel: 65 (expected: 1 to 64)");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void a_file_nested_too_deeply_is_rejected() throws IOException {
    file("tenants:\n  acme: " + "{a: ".repeat(5_000) + "1" + "}".repeat(5_000));

    Run run = deployment.run("plan", "all.yaml");

    assertThat(run.err())
        .isEqualTo("tollgate: all.yaml: line 2: nested too deeply (expected: at most 32)\n");
    assertThat(run.exitCode()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"%s", "0.%s", "1e%s", "acme%s"})
  @Timeout(20)
  void a_value_of_a_million_characters_is_rejected_before_it_is_converted(String value)
      throws IOException {
    String digits = value.formatted("9".repeat(2_000_000));
    file("tenants:\n  acme: {tier: gold, overrides: {tenantConnections: " + digits + "}}");

    Run run = deployment.run("plan", "all.yaml");

    assertThat(run.err())
        .isEqualTo(
            "tollgate: all.yaml: line 2: a value of %d characters (expected: at most 10000)\n"
                .formatted(digits.length()));
    assertThat(run.exitCode()).isEqualTo(2);
  }

  @Test
  @Timeout(20)
  void a_number_with_a_huge_exponent_is_rejected_by_name() throws IOException {
    file("tenants:\n  acme: {tier: gold, overrides: {tenantConnections: 1e999999999}}");

    Run run = deployment.run("plan", "all.yaml");

    assertThat(run.err())
        .contains("line 2: tenants.acme.overrides.tenantConnections: 1E+999999999");
    assertThat(run.exitCode()).isEqualTo(2);
  }

  @Test
  void names_that_are_too_long_together_are_rejected() throws IOException {
    String name = "x".repeat(100);
    file("tiers: {%s: {%s: {%s: 1}}}".formatted(name, name, name));

    Run run = deployment.run("plan", "all.yaml");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .contains("line 1: the names up to here have 308 characters (expected: at most 256)");
  }

  @Test
  void multiplying_aliases_are_rejected() throws IOException {
    StringBuilder laughs = new StringBuilder("l0: &l0 ha\n");
    for (int i = 1; i < 24; i++) {
      String alias = "*l" + (i - 1) + ", ";
      laughs.append("l%d: &l%d [%s1]\n".formatted(i, i, alias.repeat(2)));
    }
    file(laughs.toString());

    Run run = deployment.run("plan", "all.yaml");

    assertThat(run.err()).contains("too many values (expected: at most 1000000)");
    assertThat(run.exitCode()).isEqualTo(2);
  }

  @Test
  void an_unreadable_file_is_reported_with_the_reason() throws IOException {
    Files.write(directory.resolve("all.yaml"), new byte[] {'a', (byte) 0xff});

    assertThat(deployment.run("plan", "all.yaml").err())
        .isEqualTo("tollgate: Cannot read all.yaml: the file is not UTF-8\n");
    assertThat(deployment.run("plan", "none.yaml").err())
        .isEqualTo("tollgate: Cannot read none.yaml: no such file\n");
  }

  @Test
  void a_character_that_yaml_forbids_is_reported_with_its_line() throws IOException {
    file("# \uD83D\uDE80\ntenants:\n  acme: \u0000\n");

    assertThat(deployment.run("plan", "all.yaml").err())
        .isEqualTo("tollgate: all.yaml: line 3 is not YAML: unsupported character U+0000\n");
  }
}
