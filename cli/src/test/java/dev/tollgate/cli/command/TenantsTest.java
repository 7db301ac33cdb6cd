package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Documents;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Request;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TenantsTest {
  private StubDeployment deployment;

  @BeforeEach
  void open(@TempDir Path directory) throws IOException {
    deployment = new StubDeployment(directory);
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  @Test
  void schedule_unschedule_and_show_have_windows() {
    deployment
        .answers(
            "POST /control/tenants/acme/schedules",
            201,
            """
            {"id":"20261127T1800Z","factor":0.5,"from":"2026-11-27T18:00","to":"2026-11-28T02:00",
             "zone":"UTC","open":false}""")
        .answers("DELETE /control/tenants/acme/schedules/20261127T1800Z", 204, "")
        .answers(
            "GET /control/tenants/acme",
            200,
            """
            {"tenantId":"acme","tierSchedules":{"20261127T1800Z":{"factor":2,
             "from":"2026-11-27T18:00","to":"2026-11-28T02:00","zone":"UTC","open":true}}}""");

    assertThat(
            deployment
                .run(
                    "tenants",
                    "schedule",
                    "acme",
                    "--factor",
                    "0.5",
                    "--from",
                    "2026-11-27T18:00",
                    "--to",
                    "2026-11-28T02:00",
                    "--zone",
                    "UTC")
                .out())
        .isEqualTo(
            "Window 20261127T1800Z of acme:"
                + " factor 0.5 from 2026-11-27T18:00 to 2026-11-28T02:00 (UTC)\n");
    assertThat(deployment.run("tenants", "unschedule", "acme", "20261127T1800Z").out())
        .isEqualTo("Window 20261127T1800Z of acme is cancelled\n");
    assertThat(deployment.run("tenants", "show", "acme").out().replaceAll(" +", " "))
        .contains("20261127T1800Z 2 2026-11-27T18:00 2026-11-28T02:00 UTC open tier");
  }

  @Test
  void onboard_new_posts_tenant_with_tier_and_overrides_and_shows_it() {
    deployment.answers("POST /control/tenants", 201, Documents.ACME);

    Run run =
        deployment.run(
            "tenants",
            "onboard",
            "acme",
            "--tier",
            "gold",
            "--set",
            "tenantConnections=10",
            "--set",
            "sessionTTL=60");

    assertThat(deployment.requests())
        .containsExactly(
            new Request(
                "POST",
                "/control/tenants",
                "{\"tenantId\":\"acme\",\"tier\":\"gold\","
                    + "\"overrides\":{\"tenantConnections\":10,\"sessionTTL\":60}}"));
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .isEqualTo(
            """
            acme is onboarded

            tenantId     acme
            tier         gold
            status       ACTIVE
            version      3
            isolation    SILO
            connections  4
            fillMode     PRODUCER
            line         on

            LIMIT                  VALUE
            tenantPerMinute          180
            sessionPerMinute          30
            connectionsPerSession     10
            tenantConnections         10  overridden
            sessionTTL               300
            messagesPerMinute       6000
            sessionLifetime        86400
            sessionsPerSubject        10

            BUCKET      PER MINUTE  CAPACITY  LEVEL  STATE   NEXT TOKEN
            connect            180       180    176  ACTIVE  2026-03-01T10:00:20Z
            send-email         0.2         5      0  ACTIVE
            In line for connect: 12. Whoever comes now waits 26 s.
            """);
  }

  @Test
  void onboard_says_that_queues_are_not_ready() {
    deployment.answers(
        "POST /control/tenants",
        201,
        Documents.ACME.replaceFirst("\"state\":\"ACTIVE\"", "\"state\":\"PROVISIONING\""));

    assertThat(deployment.run("tenants", "onboard", "acme", "--tier", "gold").out())
        .contains("Buckets in state PROVISIONING have no queue yet, so connections get 429.");
  }

  @Test
  void onboard_of_an_existing_tenant_says_so() {
    deployment.answers("POST /control/tenants", 200, Documents.ACME);

    Run run = deployment.run("tenants", "onboard", "acme", "--tier", "gold");

    assertThat(deployment.requests().get(0).body())
        .isEqualTo("{\"tenantId\":\"acme\",\"tier\":\"gold\"}");
    assertThat(run.out()).startsWith("acme is already onboarded\n");
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void onboard_of_a_tenant_with_different_settings_prints_the_conflict_and_fails() {
    deployment.answers(
        "POST /control/tenants",
        409,
        Documents.problem(409, "Conflict", "tenant acme is in tier silver"));

    Run run = deployment.run("tenants", "onboard", "acme", "--tier", "gold");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).isEqualTo("tollgate: tenant acme is in tier silver\n");
  }

  @Test
  void override_that_the_control_plane_refuses_is_a_usage_error() {
    String refused =
        """
        {"type":"urn:tollgate:problem:invalid-value","title":"A value is not valid","status":400,
         "detail":"overrides.sessionTTL: 0 (expected: 1 to 86400)",
         "errors":[{"field":"overrides.sessionTTL","value":0,"expected":"1 to 86400"}]}
        """;
    deployment
        .answers("POST /control/tenants", 400, refused)
        .answers("GET /control/tenants/acme", 200, Documents.ACME)
        .answers("PATCH /control/tenants/acme", 400, refused);

    List<Run> runs =
        List.of(
            deployment.run("tenants", "onboard", "acme", "--tier", "gold", "--set", "sessionTTL=0"),
            deployment.run("tenants", "override", "acme", "sessionTTL=0"));

    assertThat(runs)
        .allSatisfy(
            run -> {
              assertThat(run.exitCode()).isEqualTo(2);
              assertThat(run.err()).isEqualTo("tollgate: sessionTTL: 0 (expected: 1 to 86400)\n");
            });
  }

  @Test
  void onboard_with_invalid_values_prints_each_of_them() {
    deployment.answers(
        "POST /control/tenants",
        400,
        """
        {"type":"about:blank","title":"Bad Request","status":400,"detail":"2 values are wrong",
         "errors":[{"field":"tenantId","value":"AC_ME","expected":"[a-z0-9][a-z0-9-]{0,35}"},
                   {"field":"overrides.sessionTTL","value":-1,"expected":"> 0"},
                   {"field":"tier","expected":"the name of a tier"}]}
        """);

    Run run =
        deployment.run("tenants", "onboard", "AC_ME", "--tier", "gold", "--set", "sessionTTL=-1");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .isEqualTo(
            """
            tollgate: 2 values are wrong
              tenantId: AC_ME (expected: [a-z0-9][a-z0-9-]{0,35})
              sessionTTL: -1 (expected: > 0)
              tier is missing (expected: the name of a tier)
            """);
  }

  @Test
  void onboard_with_one_invalid_value_prints_it_once() {
    deployment.answers(
        "POST /control/tenants",
        400,
        """
        {"type":"urn:tollgate:problem:invalid-value","title":"A value is not valid","status":400,
         "detail":"tier: platin (expected: a tier that exists; `tollgate tiers list` shows them)",
         "errors":[{"field":"tier","value":"platin","expected":"a tier that exists; `tollgate tiers list` shows them"}]}
        """);

    assertThat(deployment.run("tenants", "onboard", "acme", "--tier", "platin").err())
        .isEqualTo(
            "tollgate: tier: platin (expected: a tier that exists; `tollgate tiers list` shows them)\n");
  }

  @Test
  void onboard_without_tier_is_a_usage_error_and_sends_nothing() {
    Run run = deployment.run("tenants", "onboard", "acme");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("--tier");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void onboard_with_a_limit_that_is_not_a_number_is_a_usage_error() {
    Map<String, String> refused =
        Map.of(
            "sessionTTL=long", "sessionTTL: long (expected: a whole number, 1 to 86400)",
            "sessionTTL=true", "sessionTTL: true (expected: a whole number, 1 to 86400)",
            "line=1", "line: 1 (expected: true or false)",
            "x=many", "x: many (expected: a whole number, true or false)");

    refused.forEach(
        (set, expected) -> {
          Run run = deployment.run("tenants", "onboard", "acme", "--tier", "gold", "--set", set);

          assertThat(run.exitCode()).isEqualTo(2);
          assertThat(run.err()).isEqualTo("tollgate: " + expected + "\n");
          assertThat(deployment.run("tenants", "override", "acme", set).err())
              .isEqualTo("tollgate: " + expected + "\n");
        });
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void a_limit_without_a_value_is_a_usage_error() {
    Run run = deployment.run("tenants", "onboard", "acme", "--tier", "gold", "--set", "ten");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .isEqualTo(
            """
            tollgate: Invalid value for option '--set' (NAME=VALUE): ten (expected: NAME=VALUE)
            See `tollgate tenants onboard --help`.
            """);
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void list_follows_cursors_to_the_end_and_sorts_by_id() {
    deployment
        .answers(
            "GET /control/tenants",
            200,
            "{\"tenants\":[{\"tenantId\":\"zeta\",\"tier\":\"bronze\",\"status\":\"SUSPENDED\",\"isolation\":\"POOL\",\"overrides\":{},\"limits\":{\"tenantConnections\":3}}],\"next\":\"a+b/c=\"}")
        .answers(
            "GET /control/tenants?cursor=a%2Bb%2Fc%3D",
            200, "{\"tenants\":[" + Documents.ACME + "]}");

    Run run = deployment.run("tenants", "list");

    assertThat(run.out())
        .isEqualTo(
            """
            TENANT  TIER    STATUS     ISOLATION  MAX CONNECTIONS  OVERRIDES
            acme    gold    ACTIVE     SILO                    10  tenantConnections=10
            zeta    bronze  SUSPENDED  POOL                     3
            """);
    assertThat(run.exitCode()).isZero();
  }

  @Test
  @Timeout(20)
  void list_fails_when_the_server_repeats_a_cursor() {
    deployment
        .answers("GET /control/tenants", 200, "{\"tenants\":[],\"next\":\"a\"}")
        .answers("GET /control/tenants?cursor=a", 200, "{\"tenants\":[],\"next\":\"b\"}")
        .answers("GET /control/tenants?cursor=b", 200, "{\"tenants\":[],\"next\":\"a\"}");

    Run run = deployment.run("tenants", "list");

    assertThat(run.err()).startsWith("tollgate: The server repeats a cursor");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(deployment.requests()).hasSize(3);
  }

  @Test
  void list_of_a_tier_as_json_is_one_document() {
    deployment
        .answers(
            "GET /control/tenants?tier=gold",
            200,
            "{\"tenants\":[" + Documents.ACME + "],\"next\":\"c\"}")
        .answers("GET /control/tenants?cursor=c&tier=gold", 200, "{\"tenants\":[]}");

    Run run = deployment.run("tenants", "list", "--tier", "gold", "--json");

    assertThat(run.out()).isEqualTo("{\"tenants\":[" + Documents.ACME + "]}\n");
  }

  @Test
  void list_sends_all_filters_with_every_page() {
    String filters = "pending=true&prefix=ac&tier=gold";
    deployment
        .answers("GET /control/tenants?" + filters, 200, "{\"tenants\":[],\"next\":\"c\"}")
        .answers(
            "GET /control/tenants?cursor=c&" + filters,
            200,
            "{\"tenants\":[" + Documents.ACME + "]}");

    Run run =
        deployment.run(
            "tenants", "list", "--prefix", "ac", "--tier", "gold", "--pending", "--json");

    assertThat(run.out()).isEqualTo("{\"tenants\":[" + Documents.ACME + "]}\n");
  }

  @Test
  void list_prints_names_or_yaml() {
    deployment
        .answers("GET /control/tenants", 200, "{\"tenants\":[" + Documents.ACME + "]}")
        .answers("GET /control/tenants", 200, "{\"tenants\":[" + Documents.ACME + "]}");

    assertThat(deployment.run("tenants", "list", "-o", "name").out()).isEqualTo("acme\n");
    assertThat(deployment.run("tenants", "list", "--format", "yaml").out())
        .startsWith("---\ntenants:\n- tenantId: acme\n  tier: gold\n");
  }

  @Test
  void formats_that_do_not_exist_or_do_not_fit_are_refused() {
    Run unknown = deployment.run("tenants", "list", "-o", "xml");
    Run unfit = deployment.run("tenants", "show", "acme", "-o", "name");

    assertThat(unknown.exitCode()).isEqualTo(2);
    assertThat(unknown.err()).contains("xml (expected: text, json, yaml, name, csv)");
    assertThat(unfit.exitCode()).isEqualTo(2);
    assertThat(unfit.err())
        .startsWith("tollgate: -o name: only `alarms` and the commands `list` print names");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void list_shows_the_activity_of_pages_of_tenants() {
    List<String> ids = IntStream.range(0, 26).mapToObj("t%02d"::formatted).toList();
    deployment.answers(
        "GET /control/tenants",
        200,
        ids.stream()
            .map("{\"tenantId\":\"%s\",\"status\":\"ACTIVE\"}"::formatted)
            .collect(Collectors.joining(",", "{\"tenants\":[", "]}")));
    deployment.answers(
        "GET /control/activity?tenantIds=" + String.join("%2C", ids.subList(0, 25)),
        200,
        """
        {"tenants":[{"tenantId":"t01","connections":3,"admitted":120,"refused":45,"buckets":[
          {"action":"connect","level":57,"capacity":60},
          {"action":"message","level":0,"capacity":5}]}]}
        """);
    deployment.answers("GET /control/activity?tenantIds=t25", 200, "{\"tenants\":[]}");

    Run run = deployment.run("tenants", "list", "--activity");

    assertThat(run.out().lines().limit(3))
        .containsExactly(
            "TENANT  STATUS  OPEN  ADMITTED  REFUSED  LEVELS",
            "t00     ACTIVE  ?     ?         ?",
            "t01     ACTIVE  3     120       45       connect 57/60, message 0/5");
    assertThat(run.out().lines()).hasSize(27);
  }

  @Test
  void list_is_watched_until_a_request_fails() {
    deployment
        .answers("GET /control/tenants", 200, "{\"tenants\":[]}")
        .answers("GET /control/tenants", 200, "{\"tenants\":[]}")
        .answers("GET /control/tenants", 403, Documents.problem(403, "Forbidden", "no"));

    Run run = deployment.run("tenants", "list", "--watch");

    assertThat(run.out()).isEqualTo("No tenants.\nNo tenants.\n");
    assertThat(run.waits()).containsExactly(Duration.ofSeconds(2), Duration.ofSeconds(2));
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void list_without_tenants_says_so() {
    deployment.answers("GET /control/tenants", 200, "{\"tenants\":[]}");

    assertThat(deployment.run("tenants", "list").out()).isEqualTo("No tenants.\n");
  }

  @Test
  void show_as_json_is_what_the_api_sent() {
    deployment.answers("GET /control/tenants/acme", 200, Documents.ACME);

    Run run = deployment.run("--json", "tenants", "show", "acme");

    assertThat(run.out()).isEqualTo(Documents.ACME + "\n");
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void show_while_sqs_fails_says_that_levels_are_not_known() {
    deployment.answers(
        "GET /control/tenants/acme",
        200,
        Documents.ACME.replace("\"level\":", "\"levelEstimated\":true,\"level\":"));

    Run run = deployment.run("tenants", "show", "acme");

    assertThat(run.out())
        .contains("not known")
        .contains("SQS did not answer, so levels are not known.")
        .doesNotContain(" full");
  }

  @Test
  void show_of_an_unknown_tenant_says_how_to_list_tenants() {
    deployment.answers(
        "GET /control/tenants/nosuch",
        404,
        Documents.problem(404, "Not Found", "no tenant nosuch"));

    Run run = deployment.run("tenants", "show", "nosuch");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .isEqualTo(
            "tollgate: No tenant named `nosuch`. List tenants with `tollgate tenants list`.\n");
  }

  @Test
  void show_of_an_unknown_tenant_with_json_prints_the_problem_unchanged() {
    String problem = Documents.problem(404, "Not Found", "no tenant nosuch");
    deployment.answers("GET /control/tenants/nosuch", 404, problem);

    Run run = deployment.run("tenants", "show", "nosuch", "--json");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).isEqualTo(problem + "\n");
  }

  /** API Gateway would decode the path: {@code acme%3Fx} would offboard {@code acme}. */
  @ParameterizedTest
  @ValueSource(strings = {"acme?x", "acme/x", "acme%3Fx", "..", " acme", ""})
  void an_id_that_would_have_to_be_encoded_is_not_sent(String id) {
    Run run = deployment.run("tenants", "offboard", id, "--yes");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .isEqualTo(
            "tollgate: `%s` is not a tenant id (expected: lower-case letters, digits and hyphens).\n"
                .formatted(id));
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void set_tier_suspend_activate_and_override_patch_only_what_they_name() {
    deployment
        .answers("GET /control/tenants/acme", 200, Documents.ACME)
        .answers("PATCH /control/tenants/acme", 200, Documents.ACME);

    List<String> messages = new ArrayList<>();
    for (String command :
        List.of(
            "set-tier acme gold",
            "suspend acme",
            "activate acme",
            "override acme tenantConnections=10 sessionTTL=60",
            "override acme line=false",
            "override acme")) {
      Run run = deployment.run(("tenants " + command).split(" "));
      assertThat(run.exitCode()).isZero();
      messages.add(run.out().lines().findFirst().orElseThrow());
    }

    assertThat(deployment.requests())
        .filteredOn(request -> request.method().equals("PATCH"))
        .extracting(Request::body)
        .containsExactly(
            "{\"tier\":\"gold\"}",
            "{\"status\":\"SUSPENDED\"}",
            "{\"status\":\"ACTIVE\"}",
            "{\"overrides\":{\"tenantConnections\":10,\"sessionTTL\":60}}",
            "{\"overrides\":{\"line\":false}}",
            "{\"overrides\":{}}");
    assertThat(messages)
        .containsExactly(
            "acme is now in tier gold",
            "acme is suspended",
            "acme is active",
            "acme now has these limits",
            "acme now has these limits (removed overrides: tenantConnections)",
            "acme now has these limits (removed overrides: tenantConnections)");
  }

  @Test
  void a_line_that_is_switched_off_is_shown() {
    deployment.answers(
        "GET /control/tenants/acme",
        200,
        Documents.ACME
            .replace("\"line\":true", "\"line\":false")
            .replace(",\"line\":{\"length\":12,\"waitSeconds\":26}", "")
            .replace("\"tenantConnections\":10},\"limits", "\"line\":false},\"limits"));

    Run run = deployment.run("tenants", "show", "acme");

    assertThat(run.out()).contains("line         off (overridden)\n").doesNotContain("26 s");
  }

  @Test
  void clearing_a_line_asks_first_and_shows_the_tenant() {
    deployment.answers("DELETE /control/tenants/acme/line", 200, Documents.ACME);

    Run asked = deployment.run("tenants", "clear-line", "acme");
    assertThat(asked.exitCode()).isNotZero();
    assertThat(deployment.requests()).isEmpty();

    Run run = deployment.run("tenants", "clear-line", "acme", "--yes", "--if-version", "3");

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).startsWith("The line of acme is cleared\n\ntenantId     acme\n");
    assertThat(deployment.conditions()).containsExactly("\"3\"");
  }

  @Test
  void clearing_the_line_of_an_unknown_tenant_fails() {
    deployment.answers(
        "DELETE /control/tenants/acme/line", 404, Documents.problem(404, "Not Found", "none"));

    Run run = deployment.run("tenants", "clear-line", "acme", "--yes");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("No tenant named `acme`.");
  }

  @Test
  void a_dry_run_with_changes_shows_them_and_exits_with_3() {
    deployment.answers(
        "PATCH /control/tenants/acme?dryRun=true",
        200,
        Documents.DRY_BRONZE
            .replace("\"tier\":\"bronze\",", "")
            .replaceFirst("\"changes\":.*?}}}},", ""));

    for (String command :
        List.of(
            "set-tier acme bronze --dry-run",
            "override acme tenantConnections=5 --dry-run",
            "suspend acme --dry-run",
            "activate --dry-run acme")) {
      Run run = deployment.run(("tenants " + command).split(" "));

      assertThat(run.err()).isEmpty();
      assertThat(run.exitCode()).isEqualTo(3);
      assertThat(run.out())
          .isEqualTo(
              """
              acme: would be changed

              TENANT  WHAT                      FROM  TO
              acme    limits.tenantConnections    10   5

              acme: 7 connections are open
              """);
    }
    assertThat(deployment.requests())
        .extracting(Request::body)
        .startsWith("{\"tier\":\"bronze\"}", "{\"overrides\":{\"tenantConnections\":5}}");
    assertThat(deployment.conditions()).isEmpty();
  }

  @Test
  void a_dry_run_without_changes_exits_with_0() {
    deployment.answers("PATCH /control/tenants/acme?dryRun=true", 200, Documents.DRY_NOTHING);

    Run run = deployment.run("tenants", "set-tier", "acme", "gold", "--dry-run", "--json");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).isEqualTo(Documents.DRY_NOTHING + "\n");
  }

  @Test
  void if_version_is_sent_as_if_match_and_a_conflict_is_printed() {
    deployment.answers(
        "PATCH /control/tenants/acme",
        412,
        Documents.problem(412, "The version does not match", "Tenant `acme` has version 4."));

    Run run = deployment.run("tenants", "set-tier", "acme", "gold", "--if-version", "3");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .isEqualTo("tollgate: The version does not match: Tenant `acme` has version 4.\n");
    assertThat(deployment.conditions()).containsExactly("\"3\"");
  }

  @Test
  void offboard_does_not_wait_if_the_tenant_is_removed_at_once() {
    deployment.answers("GET /control/tenants/acme", 200, Documents.ACME);
    deployment.answers("DELETE /control/tenants/acme", 204, "");

    Run run = deployment.run("tenants", "offboard", "acme", "--yes");

    assertThat(run.out()).isEqualTo("acme is removed\n");
    assertThat(run.waits()).isEmpty();
  }

  @Test
  void offboard_waits_until_the_tenant_is_removed() {
    deployment
        .answers("DELETE /control/tenants/acme", 202, Documents.ACME)
        .answers("GET /control/tenants/acme", 200, Documents.ACME)
        .answers("GET /control/tenants/acme", 200, Documents.ACME)
        .answers("GET /control/tenants/acme", 200, Documents.ACME)
        .answers(
            "GET /control/tenants/acme",
            404,
            Documents.problem(404, "Not Found", "No tenant named `acme`."));

    Run run = deployment.run("tenants", "offboard", "acme", "--yes");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).isEqualTo("acme is removed\n");
    assertThat(run.waits()).containsExactly(Duration.ofSeconds(2), Duration.ofSeconds(2));
  }

  @Test
  void offboard_of_an_unknown_tenant_fails_and_asks_nothing() {
    deployment.answers(
        "GET /control/tenants/nosuch",
        404,
        Documents.problem(404, "Not Found", "No tenant named `nosuch`."));

    deployment.confirmedBy(
        question -> {
          throw new AssertionError("there is nothing to ask about");
        });

    for (String option : List.of("--yes", "--timeout=180")) {
      Run run = deployment.run("tenants", "offboard", "nosuch", option);

      assertThat(run.exitCode()).isEqualTo(1);
      assertThat(run.err()).startsWith("tollgate: No tenant named `nosuch`. ");
    }
    assertThat(deployment.requests()).extracting(Request::method).containsExactly("GET", "GET");
  }

  @Test
  void offboard_stops_waiting_after_the_timeout() {
    deployment
        .answers("DELETE /control/tenants/acme", 202, "")
        .answers("GET /control/tenants/acme", 200, Documents.ACME);

    Run run = deployment.run("tenants", "offboard", "acme", "--yes", "--timeout", "5");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.waits()).hasSize(3);
    assertThat(run.err())
        .contains("still being removed after 5 s")
        .endsWith("To keep waiting, run the command again.\n");
    assertThat(
            deployment
                .run("tenants", "offboard", "acme", "--yes", "--timeout", "5", "--if-version", "3")
                .err())
        .endsWith("To keep waiting, run the command again without --if-version.\n");
  }

  @Test
  void offboard_asks_for_confirmation_in_a_terminal() {
    deployment
        .confirmedBy(question -> false)
        .answers("GET /control/tenants/acme", 200, Documents.ACME)
        .answers("DELETE /control/tenants/acme", 204, "");

    Run refused = deployment.run("tenants", "offboard", "acme");
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err()).isEqualTo("tollgate: Cancelled. Nothing was changed.\n");
    assertThat(deployment.requests()).extracting(Request::method).containsOnly("GET");

    deployment.confirmedBy(
        ("Target: local (%s/control)\n".formatted(deployment.uri())
                + "Remove acme with its sessions, queues and schedules? [y/N]")
            ::equals);
    assertThat(deployment.run("tenants", "offboard", "acme").exitCode()).isZero();
  }

  @Test
  void offboard_without_a_terminal_needs_yes() {
    deployment.answers("GET /control/tenants/acme", 200, Documents.ACME);
    deployment.answers("DELETE /control/tenants/acme", 204, "");

    Run refused = deployment.run("tenants", "offboard", "acme");

    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err())
        .isEqualTo(
            "tollgate: Cannot ask for confirmation without a terminal. To remove acme without"
                + " confirmation, use --yes.\n");
    assertThat(deployment.requests()).isEmpty();
    assertThat(deployment.run("tenants", "offboard", "acme", "--yes").exitCode()).isZero();
  }

  @Test
  void offboard_as_json_needs_yes() {
    deployment.confirmedBy(
        question -> {
          throw new AssertionError("a command that prints JSON asks no question");
        });

    Run refused = deployment.run("tenants", "offboard", "acme", "--json");

    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err()).contains("use --yes");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void offboard_sends_if_version_as_if_match_and_prints_a_conflict() {
    deployment.answers(
        "DELETE /control/tenants/acme",
        412,
        Documents.problem(412, "The version does not match", "Tenant `acme` has version 4."));

    Run run = deployment.run("tenants", "offboard", "acme", "--yes", "--if-version", "3");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .isEqualTo("tollgate: The version does not match: Tenant `acme` has version 4.\n");
    assertThat(deployment.conditions()).containsExactly("\"3\"");
  }

  @Test
  void a_dry_run_of_offboard_shows_what_is_removed_and_exits_with_3_without_asking() {
    deployment.answers("DELETE /control/tenants/acme?dryRun=true", 200, Documents.DRY_OFFBOARDING);

    Run run = deployment.run("tenants", "offboard", "acme", "--dry-run", "--if-version", "3");

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(run.out())
        .isEqualTo(
            """
            acme: would be removed; its version is 3
              acme: 7 open connections close.
              acme: These are removed: its sessions, bucket `connect` (level 5).
            """);
    assertThat(deployment.requests())
        .containsExactly(new Request("DELETE", "/control/tenants/acme?dryRun=true", ""));
    assertThat(deployment.conditions()).containsExactly("\"3\"");
    assertThat(deployment.run("tenants", "offboard", "acme", "--dry-run", "--yes", "--json").out())
        .isEqualTo(Documents.DRY_OFFBOARDING + "\n");
  }

  @Test
  void a_dry_run_of_offboard_of_an_unknown_tenant_exits_with_0() {
    deployment.answers(
        "DELETE /control/tenants/nosuch?dryRun=true",
        200,
        "{\"dryRun\":true,\"outcome\":\"UNCHANGED\",\"version\":0,\"tenants\":[],\"totals\":{}}");

    Run run = deployment.run("tenants", "offboard", "nosuch", "--dry-run");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).isEqualTo("nosuch: unchanged; it does not exist\n");
  }
}
