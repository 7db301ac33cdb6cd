package dev.tollgate.controlplane;

import static dev.tollgate.controlplane.ControlPlaneFixture.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.controlplane.ControlPlaneFixture.Snapshot;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Race;
import dev.tollgate.http.testing.HttpApiEvents;
import dev.tollgate.http.testing.RecordingContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Dry runs, conditional changes, and the progress of roll-outs. */
class ChangesTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final String TO_BRONZE = "{\"tier\":\"bronze\"}";

  /** The operations of ports that a dry run may use. */
  private static final Set<String> READS =
      Set.of("Tenants.find", "Tenants.inTier", "Tiers.find", "Buckets.list", "Connections.count");

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  private static String own(long perMinute, long connections) {
    return """
        {"isolation":"POOL","limits":{"tenantPerMinute":%d,"sessionPerMinute":5,
         "connectionsPerSession":2,"tenantConnections":%d,"sessionTTL":200,
         "messagesPerMinute":60}}"""
        .formatted(perMinute, connections);
  }

  private static APIGatewayV2HTTPEvent event(String route, String name, String body) {
    Map<String, String> path = Map.of("tenantId", name, "tier", name);
    return body.isEmpty() ? HttpApiEvents.of(route, path) : HttpApiEvents.of(route, path, body);
  }

  private static APIGatewayV2HTTPEvent patch(String body) {
    return event("PATCH /tenants/{tenantId}", "acme", body);
  }

  private static APIGatewayV2HTTPEvent put(String tier, String body) {
    return event("PUT /tiers/{tier}", tier, body);
  }

  private static APIGatewayV2HTTPEvent delete(String tier) {
    return event("DELETE /tiers/{tier}", tier, "");
  }

  private static APIGatewayV2HTTPEvent offboard(String tenant) {
    return event("DELETE /tenants/{tenantId}", tenant, "");
  }

  private Answer dryRun(APIGatewayV2HTTPEvent event) {
    return dryRun(event, Map.of());
  }

  private Answer dryRun(APIGatewayV2HTTPEvent event, Map<String, String> query) {
    Map<String, String> parameters = new HashMap<>(query);
    parameters.put("dryRun", "true");
    event.setQueryStringParameters(parameters);
    return at.send(event);
  }

  private Answer ifMatch(String tag, APIGatewayV2HTTPEvent event) {
    event.getHeaders().put("if-match", tag);
    return at.send(event);
  }

  private static String etag(Answer answer) {
    return Objects.requireNonNull(answer.headers().get("etag"));
  }

  private void connect(String tenant, int sockets) {
    for (int i = 0; i < sockets; i++) {
      at.sessions.countUp(new TenantId(tenant), 1_000);
    }
  }

  // Dry runs

  @Test
  void a_dry_run_shows_the_changes_and_consequences_for_a_tenant() {
    at.onboard("acme", "gold");
    connect("acme", 37);
    at.faults.none();

    Answer answer = dryRun(patch("{\"tier\":\"bronze\",\"overrides\":{\"sessionTTL\":300}}"));

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.headers()).containsEntry("etag", "\"1\"");
    assertThat(answer.document().toString())
        .isEqualTo(
            "{\"dryRun\":true,\"outcome\":\"CHANGED\",\"version\":1,\"tenants\":[{"
                + "\"tenantId\":\"acme\",\"version\":1,\"changes\":{"
                + "\"tier\":{\"from\":\"gold\",\"to\":\"bronze\"},"
                + "\"overrides\":{\"sessionTTL\":{\"to\":300}},"
                + "\"limits\":{\"tenantPerMinute\":{\"from\":180,\"to\":60},"
                + "\"sessionPerMinute\":{\"from\":30,\"to\":5},"
                + "\"connectionsPerSession\":{\"from\":10,\"to\":2},"
                + "\"tenantConnections\":{\"from\":1000,\"to\":10},"
                + "\"messagesPerMinute\":{\"from\":6000,\"to\":60},"
                + "\"sessionsPerSubject\":{\"from\":10,\"to\":2}},"
                + "\"isolation\":{\"from\":\"SILO\",\"to\":\"POOL\"},"
                + "\"buckets\":{\"connect\":{\"ratePerMinute\":{\"from\":180,\"to\":60},"
                + "\"capacity\":{\"from\":180,\"to\":60}},"
                + "\"message\":{\"ratePerMinute\":{\"from\":6000,\"to\":60},"
                + "\"capacity\":{\"from\":6000,\"to\":60}}}},"
                + "\"consequences\":[{\"kind\":\"OVER_LIMIT\",\"limit\":\"tenantConnections\","
                + "\"value\":10,\"connections\":37,\"detail\":\"37 connections are open and stay"
                + " open. New ones are refused until fewer than 10 are open.\"},"
                + "{\"kind\":\"TRIMMED\",\"bucket\":\"connect\",\"capacity\":60,\"level\":180,"
                + "\"detail\":\"Bucket `connect` drops from 180 to 60 tokens at the next fill.\"},"
                + "{\"kind\":\"TRIMMED\",\"bucket\":\"message\",\"capacity\":60,\"level\":6000,"
                + "\"detail\":\"Bucket `message` drops from 6000 to 60 tokens at the next fill.\"}]}],"
                + "\"totals\":{\"tenants\":1,\"changed\":1,\"overLimit\":1,\"trimmed\":1,"
                + "\"disconnected\":0,\"removed\":0}}");
    assertThat(READS).containsAll(at.faults.calls());
  }

  @Test
  void a_dry_run_writes_nothing() {
    at.putTier("own", own(30, 10));
    at.putTier("free", own(30, 10));
    at.onboard("acme", "own");
    Snapshot before = at.snapshot();
    at.faults.none();

    for (String body :
        List.of(
            "{}",
            TO_BRONZE,
            "{\"tier\":\"gold\"}",
            "{\"tier\":\"none\"}",
            "{\"overrides\":{\"tenantPerMinute\":1}}",
            "{\"status\":\"SUSPENDED\"}")) {
      dryRun(patch(body));
    }
    assertThat(dryRun(put("own", own(50, 5))).status()).isEqualTo(200);
    assertThat(dryRun(put("own", own(30, 10))).status()).isEqualTo(200);
    assertThat(dryRun(put("new", own(30, 10))).status()).isEqualTo(200);
    assertThat(dryRun(put("gold", own(30, 10))).status()).isEqualTo(200);
    assertThat(dryRun(delete("free")).status()).isEqualTo(200);
    assertThat(dryRun(delete("own")).status()).isEqualTo(409);
    assertThat(dryRun(offboard("acme")).status()).isEqualTo(200);
    assertThat(dryRun(offboard("beta")).status()).isEqualTo(200);

    assertThat(READS).containsAll(at.faults.calls());
    assertThat(at.snapshot()).isEqualTo(before);
    assertThat(at.pauses).isEmpty();
  }

  @Test
  void a_dry_run_without_changes_is_unchanged() {
    at.onboard("acme", "bronze");

    JsonNode document = dryRun(patch("{\"tier\":\"bronze\",\"overrides\":{}}")).document();

    assertThat(document.get("outcome").textValue()).isEqualTo("UNCHANGED");
    assertThat(document.get("tenants").isEmpty()).isTrue();
    assertThat(document.at("/totals/changed").longValue()).isZero();
  }

  @Test
  void a_dry_run_is_refused_like_the_change() {
    at.putTier("own", own(30, 10));
    at.onboard("acme", "own");
    at.onboard("beta", "bronze");
    at.queues.outage().begin();
    at.delete("beta");
    String versionSeven = own(50, 10).replaceFirst("\\{", "{\"version\":7,");

    for (List<String> call :
        List.of(
            List.of("PATCH /tenants/{tenantId}", "acme", "{\"tier\":\"none\"}"),
            List.of("PATCH /tenants/{tenantId}", "acme", "{\"overrides\":{\"sessionTTL\":0}}"),
            List.of("PATCH /tenants/{tenantId}", "gamma", TO_BRONZE),
            List.of("PATCH /tenants/{tenantId}", "beta", TO_BRONZE),
            List.of("PUT /tiers/{tier}", "own", "{\"isolation\":\"POOL\"}"),
            List.of("PUT /tiers/{tier}", "own", versionSeven),
            List.of("DELETE /tiers/{tier}", "own", ""),
            List.of("DELETE /tiers/{tier}", "none", ""))) {
      Answer dry = dryRun(event(call.get(0), call.get(1), call.get(2)));
      Answer real = at.send(event(call.get(0), call.get(1), call.get(2)));

      assertThat(real.status()).as("%s", call).isIn(400, 404, 409);
      assertThat(dry).as("%s", call).isEqualTo(real);
    }
  }

  @Test
  void a_change_does_what_its_dry_run_shows() {
    at.onboard("acme", "gold");
    JsonNode before = at.get("acme").document();

    JsonNode preview = dryRun(patch(TO_BRONZE)).document().at("/tenants/0/changes");

    at.patch("acme", TO_BRONZE);
    JsonNode after = at.get("acme").document();
    for (String limit : List.of("tenantPerMinute", "sessionTTL", "tenantConnections")) {
      String path = "/limits/" + limit;
      assertThat(preview.at(path + "/from")).as(limit).isEqualTo(before.at(path));
      assertThat(preview.at(path + "/to")).as(limit).isEqualTo(after.at(path));
    }
  }

  @Test
  void a_dry_run_of_a_suspension_shows_the_ending_sessions_only() {
    at.onboard("acme", "gold");
    connect("acme", 3);

    JsonNode document = dryRun(patch("{\"status\":\"SUSPENDED\",\"tier\":\"bronze\"}")).document();

    assertThat(document.at("/tenants/0/consequences").findValuesAsText("kind"))
        .containsExactly("DISCONNECTED");
    assertThat(document.at("/totals/disconnected").longValue()).isEqualTo(1);
  }

  @Test
  void a_dry_run_of_an_offboarding_shows_what_is_removed() {
    at.post("{\"tenantId\":\"acme\",\"tier\":\"gold\",\"overrides\":{\"sessionTTL\":60}}");
    connect("acme", 3);
    at.faults.none();

    Answer answer = dryRun(offboard("acme"));

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.headers()).containsEntry("etag", "\"1\"");
    JsonNode document = answer.document();
    assertThat(document.get("outcome").textValue()).isEqualTo("REMOVED");
    assertThat(document.at("/tenants/0/changes/tier").toString()).isEqualTo("{\"from\":\"gold\"}");
    assertThat(document.at("/tenants/0/changes/overrides").toString())
        .isEqualTo("{\"sessionTTL\":{\"from\":60}}");
    assertThat(document.at("/tenants/0/consequences").toString())
        .isEqualTo(
            "[{\"kind\":\"DISCONNECTED\",\"connections\":3,\"detail\":\"All sessions of the"
                + " tenant end, and their 3 open connections close.\"},"
                + "{\"kind\":\"REMOVED\",\"buckets\":{\"connect\":180,\"message\":6000},"
                + "\"isolation\":\"SILO\",\"detail\":\"These are removed: its sessions,"
                + " bucket `connect` (level 180), bucket `message` (level 6000), its own queue with"
                + " all messages in it. This cannot be undone.\"}]");
    assertThat(document.get("totals").toString())
        .isEqualTo(
            "{\"tenants\":1,\"changed\":1,\"overLimit\":0,\"trimmed\":0,\"disconnected\":1,"
                + "\"removed\":1}");
    assertThat(READS).containsAll(at.faults.calls());
  }

  @Test
  void a_dry_run_of_an_offboarding_in_progress_shows_what_is_left() {
    at.onboard("acme", "bronze");
    at.queues.outage().begin();
    assertThat(at.delete("acme").status()).isEqualTo(202);

    JsonNode document = dryRun(offboard("acme")).document();

    assertThat(document.get("outcome").textValue()).isEqualTo("REMOVED");
    assertThat(document.at("/tenants/0/consequences").findValuesAsText("kind"))
        .containsExactly("REMOVED");
    assertThat(document.at("/tenants/0/consequences/0/isolation").textValue()).isEqualTo("POOL");
  }

  @Test
  void a_dry_run_of_the_offboarding_of_an_unknown_tenant_is_unchanged() {
    Answer answer = dryRun(offboard("nosuch"));

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.headers()).doesNotContainKey("etag");
    assertThat(answer.document().get("outcome").textValue()).isEqualTo("UNCHANGED");
    assertThat(answer.document().get("version").longValue()).isZero();
    assertThat(answer.document().get("tenants").isEmpty()).isTrue();

    APIGatewayV2HTTPEvent conditional = offboard("nosuch");
    conditional.getHeaders().put("if-match", "*");
    assertThat(dryRun(conditional).status()).isEqualTo(412);
  }

  @Test
  void a_dry_run_of_a_tier_shows_its_changes_and_the_affected_tenants() {
    at.putTier("own", own(30, 10));
    at.onboard("acme", "own");
    at.post(
        "{\"tenantId\":\"beta\",\"tier\":\"own\",\"overrides\":{\"tenantConnections\":7,"
            + "\"tenantPerMinute\":3}}");
    at.onboard("gamma", "bronze");
    connect("acme", 6);
    String next =
        own(20, 5)
            .replaceFirst(
                "\\{", "{\"onUnavailable\":\"ADMIT\",\"buckets\":{\"connect\":{\"capacity\":9}},");

    Answer answer = dryRun(put("own", next));

    assertThat(answer.headers()).containsEntry("etag", "\"1\"");
    JsonNode document = answer.document();
    assertThat(document.get("outcome").textValue()).isEqualTo("CHANGED");
    assertThat(document.get("changes").toString())
        .isEqualTo(
            "{\"limits\":{\"tenantPerMinute\":{\"from\":30,\"to\":20},"
                + "\"tenantConnections\":{\"from\":10,\"to\":5}},"
                + "\"buckets\":{\"connect\":{\"capacity\":{\"to\":9}}}}");
    assertThat(document.get("tenants").findValuesAsText("tenantId"))
        .containsExactly("acme", "beta");
    assertThat(document.at("/tenants/0/consequences").findValuesAsText("kind"))
        .containsExactly("OVER_LIMIT", "TRIMMED");
    assertThat(document.at("/tenants/1/changes").toString())
        .isEqualTo("{\"buckets\":{\"connect\":{\"capacity\":{\"from\":3,\"to\":9}}}}");
    assertThat(document.get("totals").toString())
        .isEqualTo(
            "{\"tenants\":2,\"changed\":2,\"overLimit\":1,\"trimmed\":1,\"disconnected\":0,"
                + "\"removed\":0}");
  }

  @Test
  void a_dry_run_of_a_tier_shows_many_tenants_in_pages() {
    at.putTier("own", own(30, 10));
    for (int i = 0; i < 5; i++) {
      at.onboard("tenant-" + i, "own");
    }
    List<String> seen = new ArrayList<>();
    Map<String, String> query = new HashMap<>(Map.of("limit", "2"));
    JsonNode part;
    do {
      part = dryRun(put("own", own(50, 10)), query).document();
      assertThat(part.at("/totals/tenants").longValue()).isBetween(1L, 2L);
      seen.addAll(part.get("tenants").findValuesAsText("tenantId"));
      query.put("cursor", part.path("next").asText());
    } while (part.has("next"));

    assertThat(seen).containsExactly("tenant-0", "tenant-1", "tenant-2", "tenant-3", "tenant-4");
    assertThat(query.get("cursor")).isNotEqualTo("tenant-3");
  }

  @Test
  void a_dry_run_without_time_is_a_503() {
    at.putTier("own", own(30, 10));
    at.onboard("acme", "own");
    at.context = new RecordingContext(Duration.ofSeconds(8));

    assertThat(dryRun(put("own", own(50, 10))).status()).isEqualTo(503);
  }

  @Test
  void a_dry_run_of_a_new_or_removed_tier_shows_all_its_values() {
    at.putTier("free", own(30, 10));

    JsonNode created = dryRun(put("new", own(30, 10))).document();
    JsonNode removed = dryRun(delete("free")).document();

    assertThat(created.get("outcome").textValue()).isEqualTo("CREATED");
    assertThat(created.at("/changes/isolation").toString()).isEqualTo("{\"to\":\"POOL\"}");
    assertThat(removed.get("outcome").textValue()).isEqualTo("REMOVED");
    assertThat(removed.at("/changes/limits/sessionTTL").toString()).isEqualTo("{\"from\":200}");
    assertThat(at.getTier("free").status()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({
    "PATCH /tenants/{tenantId}, '', ''",
    "PATCH /tenants/{tenantId}, yes, ''",
    "PATCH /tenants/{tenantId}, TRUE, ''",
    "PATCH /tenants/{tenantId}, 'true,true', ''",
    "PUT /tiers/{tier}, 1, ''",
    "DELETE /tiers/{tier}, maybe, ''",
    "POST /tenants, true, ''",
    "DELETE /tenants/{tenantId}, yes, ''",
    "PUT /tiers/{tier}, true, QUNNRQ",
  })
  void an_invalid_or_unsupported_dry_run_is_refused(String route, String value, String cursor) {
    at.putTier("acme", own(30, 10));
    at.onboard("acme", "acme");
    Snapshot before = at.snapshot();
    APIGatewayV2HTTPEvent event = event(route, "acme", own(50, 10));
    if (route.startsWith("PATCH")) {
      event.setBody(TO_BRONZE);
    }
    event.setQueryStringParameters(
        cursor.isEmpty() ? Map.of("dryRun", value) : Map.of("dryRun", value, "cursor", cursor));

    Answer answer = at.send(event);

    assertThat(answer.status()).as("%s", answer).isEqualTo(400);
    assertThat(answer.document().at("/errors/0/field").textValue())
        .isEqualTo(cursor.isEmpty() ? "dryRun" : "cursor");
    assertThat(answer.document().at("/errors/0/value").textValue())
        .isEqualTo(cursor.isEmpty() ? value : cursor);
    assertThat(at.snapshot()).isEqualTo(before);
  }

  @Test
  void dry_run_false_makes_the_change() {
    at.onboard("acme", "gold");
    APIGatewayV2HTTPEvent event = patch(TO_BRONZE);
    event.setQueryStringParameters(Map.of("dryRun", "false"));

    assertThat(at.send(event).document().get("tier").textValue()).isEqualTo("bronze");
  }

  // Conditional changes

  @Test
  void responses_have_the_etag_of_the_version() {
    assertThat(at.onboard("acme", "gold").headers()).containsEntry("etag", "\"1\"");
    assertThat(at.patch("acme", TO_BRONZE).headers()).containsEntry("etag", "\"2\"");
    assertThat(at.get("acme").headers()).containsEntry("etag", "\"2\"");
    assertThat(at.getTier("gold").headers()).containsEntry("etag", "\"0\"");
    assertThat(at.putTier("own", own(30, 10)).headers()).containsEntry("etag", "\"1\"");
    assertThat(at.putTier("own", own(50, 10)).headers()).containsEntry("etag", "\"2\"");
    assertThat(at.getTier("own").headers()).containsEntry("etag", "\"2\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"1\"", "*", "\"7\", \"1\"", " \"1\" ", "\"a,b\",\"1\""})
  void a_change_with_a_matching_condition_is_made(String tag) {
    at.putTier("own", own(30, 10));
    at.putTier("free", own(30, 10));
    at.onboard("acme", "silver");

    assertThat(ifMatch(tag, patch(TO_BRONZE)).status()).isEqualTo(200);
    assertThat(ifMatch(tag, put("own", own(50, 10))).status()).isEqualTo(200);
    assertThat(ifMatch(tag, delete("free")).status()).isEqualTo(204);
    at.onboard("beta", "bronze");
    assertThat(ifMatch(tag, event("DELETE /tenants/{tenantId}", "beta", "")).status())
        .isEqualTo(204);
    at.assertConsistent();
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"2\"", "\"0\"", "W/\"1\"", "\"*\"", "\"\"", "\"a\", \"b\""})
  void a_change_with_another_version_in_its_condition_is_refused(String tag) {
    at.putTier("own", own(30, 10));
    at.onboard("acme", "gold");
    Snapshot before = at.snapshot();

    for (APIGatewayV2HTTPEvent event :
        List.of(
            patch(TO_BRONZE),
            patch("{}"),
            event("DELETE /tenants/{tenantId}", "acme", ""),
            put("own", own(50, 10)),
            put("own", own(30, 10)),
            delete("own"))) {
      Answer answer = ifMatch(tag, event);

      assertThat(answer.status()).as("%s", answer).isEqualTo(412);
      assertThat(answer.headers())
          .containsEntry("content-type", "application/problem+json")
          .containsEntry("etag", "\"1\"");
      assertThat(answer.document().get("type").textValue())
          .isEqualTo("urn:tollgate:problem:precondition-failed");
      assertThat(answer.document().get("version").longValue()).isEqualTo(1);
      assertThat(answer.document().get("detail").textValue()).contains("has version 1");
      assertThat(dryRun(event)).as("%s", answer).isEqualTo(answer);
    }
    assertThat(at.snapshot()).isEqualTo(before);
  }

  @Test
  void a_condition_never_matches_what_does_not_exist() {
    assertThat(ifMatch("*", patch(TO_BRONZE)).status()).isEqualTo(404);
    assertThat(ifMatch("*", event("DELETE /tenants/{tenantId}", "acme", "")).status())
        .isEqualTo(412);
    for (String tag : List.of("*", "\"0\"")) {
      Answer answer = ifMatch(tag, put("own", own(30, 10)));
      assertThat(answer.status()).isEqualTo(412);
      assertThat(answer.document().has("version")).isFalse();
      assertThat(ifMatch(tag, delete("own")).status()).isEqualTo(404);
    }
    assertThat(at.getTier("own").status()).isEqualTo(404);
  }

  @Test
  void a_default_tier_that_was_never_stored_has_version_0() {
    assertThat(ifMatch("\"1\"", put("gold", own(30, 10))).status()).isEqualTo(412);
    assertThat(ifMatch("\"0\"", put("gold", own(30, 10))).headers()).containsEntry("etag", "\"1\"");
    assertThat(ifMatch("\"0\"", delete("silver")).status()).isEqualTo(204);
    assertThat(ifMatch("\"0\"", delete("gold")).status()).isEqualTo(412);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1",
        "\"1",
        "1\"",
        "'1'",
        "\"1\" \"2\"",
        "\"1\",",
        ",\"1\"",
        "*,\"1\"",
        "w/\"1\"",
        "\"1\"x"
      })
  void a_malformed_condition_is_refused(String tag) {
    at.putTier("own", own(30, 10));
    at.onboard("acme", "gold");
    Snapshot before = at.snapshot();

    for (APIGatewayV2HTTPEvent event :
        List.of(
            patch(TO_BRONZE),
            event("DELETE /tenants/{tenantId}", "acme", ""),
            put("own", own(50, 10)),
            delete("own"))) {
      Answer answer = ifMatch(tag, event);

      assertThat(answer.status()).as("%s", answer).isEqualTo(400);
      assertThat(answer.document().at("/errors/0/field").textValue()).isEqualTo("If-Match");
      assertThat(answer.document().at("/errors/0/value").textValue()).isEqualTo(tag);
    }
    assertThat(at.snapshot()).isEqualTo(before);
  }

  @Test
  void only_one_of_two_conditional_changes_of_a_tenant_is_made() {
    at.onboard("acme", "gold");
    for (int round = 1; round <= 20; round++) {
      String tag = etag(at.get("acme"));
      int first = 2 * round;

      List<Integer> statuses =
          Race.of(
              2,
              i ->
                  ifMatch(tag, patch("{\"overrides\":{\"tenantConnections\":" + (first + i) + "}}"))
                      .status());

      assertThat(statuses).containsExactlyInAnyOrder(200, 412);
    }
  }

  @Test
  void only_one_of_two_conditional_changes_of_a_tier_is_made() {
    at.putTier("own", own(30, 1_000));
    for (int round = 1; round <= 20; round++) {
      String tag = etag(at.getTier("own"));
      int first = 2 * round;

      List<Integer> statuses =
          Race.of(2, i -> ifMatch(tag, put("own", own(30, first + i))).status());

      assertThat(statuses).containsExactlyInAnyOrder(200, 412);
    }
  }

  @Test
  void a_concurrent_change_of_a_tenant_is_not_overwritten() {
    at.onboard("acme", "gold");
    at.faults.plan(
        3,
        Faults.concurrently(
            () -> at.tenants.replace(at.tenant("acme").orElseThrow().withNextVersion())));

    Answer answer = ifMatch("\"1\"", patch(TO_BRONZE));

    assertThat(answer.status()).isEqualTo(412);
    assertThat(answer.document().get("version").longValue()).isEqualTo(2);
    assertThat(at.tenant("acme").orElseThrow().tier().value()).isEqualTo("gold");
  }

  @Test
  void a_concurrently_changed_tenant_is_not_offboarded() {
    at.onboard("acme", "gold");
    at.faults.plan(
        2,
        Faults.concurrently(
            () -> at.tenants.replace(at.tenant("acme").orElseThrow().withNextVersion())));

    assertThat(ifMatch("\"1\"", event("DELETE /tenants/{tenantId}", "acme", "")).status())
        .isEqualTo(412);
    assertThat(at.get("acme").document().get("status").textValue()).isEqualTo("ACTIVE");
  }

  @Test
  void a_concurrent_change_of_a_tier_is_not_overwritten() {
    at.putTier("own", own(30, 10));
    TierName own = new TierName("own");
    for (APIGatewayV2HTTPEvent event : List.of(put("own", own(50, 10)), delete("own"))) {
      long version = at.tiers.find(own).orElseThrow().version();
      at.faults.plan(
          event.getRouteKey().startsWith("PUT") ? 2 : 3,
          Faults.concurrently(
              () -> at.tiers.put(at.tiers.find(own).orElseThrow().withVersionAfter(version))));

      Answer answer = ifMatch("\"" + version + "\"", event);

      assertThat(answer.status()).isEqualTo(412);
      assertThat(answer.document().get("version").longValue()).isEqualTo(version + 1);
      assertThat(at.getTier("own").document().at("/limits/tenantPerMinute").longValue())
          .isEqualTo(30);
    }
  }

  // Progress of roll-outs

  @Test
  void a_tier_shows_the_progress_of_its_roll_out() {
    assertThat(at.getTier("gold").document().get("rollout").toString())
        .isEqualTo(
            "{\"version\":0,\"rolledOut\":0,\"complete\":true,\"tenants\":0,\"unsettled\":0,"
                + "\"more\":false}");
    at.putTier("own", own(30, 10));
    for (String id : List.of("acme", "beta", "gamma")) {
      at.onboard(id, "own");
    }
    at.context = new RecordingContext(Duration.ofSeconds(8));
    at.putTier("own", own(50, 10));

    assertThat(at.getTier("own").document().get("rollout").toString())
        .isEqualTo(
            "{\"version\":2,\"rolledOut\":1,\"complete\":false,\"tenants\":3,\"unsettled\":3,"
                + "\"more\":false}");

    at.context = new RecordingContext(Duration.ofSeconds(50));
    at.buckets.outage().begin();
    at.sweep();

    assertThat(at.getTier("own").document().get("rollout").toString())
        .isEqualTo(
            "{\"version\":2,\"rolledOut\":2,\"complete\":true,\"tenants\":3,\"unsettled\":3,"
                + "\"more\":false}");

    at.buckets.outage().end();
    at.sweep();

    assertThat(at.getTier("own").document().at("/rollout/unsettled").longValue()).isZero();
  }

  @Test
  void the_progress_of_a_roll_out_covers_the_first_thousand_tenants() {
    at.putTier("own", own(30, 10));
    Tenant listed =
        Tenant.onboarded(ACME, at.tiers.find(new TierName("own")).orElseThrow(), Overrides.NONE);
    for (int i = 0; i < 1_001; i++) {
      at.tenants.create(
          new Tenant(
              new TenantId("tenant-" + i),
              listed.tier(),
              listed.overrides(),
              listed.status(),
              listed.limits(),
              listed.isolation(),
              listed.buckets(),
              listed.onUnavailable(),
              1,
              i % 2,
              listed.onboardedAt()));
    }

    JsonNode rollout = at.getTier("own").document().get("rollout");

    assertThat(rollout.get("tenants").longValue()).isEqualTo(1_000);
    assertThat(rollout.get("unsettled").longValue()).isBetween(499L, 501L);
    assertThat(rollout.get("more").booleanValue()).isTrue();
  }

  @Test
  void a_consequence_shows_the_last_known_level_of_a_bucket() {
    at.onboard("acme", "silver");
    at.tokens.outage().begin();

    assertThat(
            dryRun(patch(TO_BRONZE)).document().at("/tenants/0/consequences/0/level").longValue())
        .isEqualTo(at.buckets.find(bucket("acme", "connect")).orElseThrow().level());
  }
}
