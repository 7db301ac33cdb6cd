package dev.tollgate.controlplane;

import static dev.tollgate.controlplane.ControlPlaneFixture.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.controlplane.ControlPlaneFixture.Snapshot;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.http.testing.HttpApiEvents;
import dev.tollgate.http.testing.RecordingContext;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ControlPlaneApiTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final String OWN =
      """
      {"tier":"own","isolation":"POOL","fillMode":"PRODUCER","onUnavailable":"REFUSE",
       "buckets":{"send-email":{"ratePerMinute":0.2,"capacity":5},"connect":{"capacity":90}},
       "limits":{"tenantPerMinute":30,"sessionPerMinute":5,"connectionsPerSession":2,
                 "tenantConnections":10,"sessionTTL":200,"messagesPerMinute":60}}""";

  /** The minutes until a silo is closed, surely empty and removed. */
  private static final int MINUTES_TO_DRAIN = 3;

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  @Test
  void post_of_a_new_tenant_provides_its_resources() {
    Answer answer =
        at.post(
            "{\"tenantId\":\"acme\",\"tier\":\"gold\",\"overrides\":{\"tenantConnections\":10}}");

    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.headers())
        .containsEntry("location", "/tenants/acme")
        .containsEntry("content-type", "application/json");
    JsonNode document = answer.document();
    assertThat(fields(document))
        .containsExactly(
            "tenantId",
            "tier",
            "status",
            "version",
            "overrides",
            "limits",
            "isolation",
            "line",
            "connections",
            "buckets");
    assertThat(document.toString())
        .startsWith(
            "{\"tenantId\":\"acme\",\"tier\":\"gold\",\"status\":\"ACTIVE\",\"version\":1,"
                + "\"overrides\":{\"tenantConnections\":10},"
                + "\"limits\":{\"tenantPerMinute\":180,\"sessionPerMinute\":30,"
                + "\"connectionsPerSession\":10,\"tenantConnections\":10,\"sessionTTL\":300,"
                + "\"messagesPerMinute\":6000,\"sessionLifetime\":86400,"
                + "\"sessionsPerSubject\":10},\"isolation\":\"SILO\",\"line\":true,"
                + "\"connections\":0,"
                + "\"buckets\":[{\"action\":\"connect\",\"ratePerMinute\":180,\"capacity\":180,"
                + "\"level\":180,\"fillMode\":\"PRODUCER\",\"state\":\"ACTIVE\",\"nextTokenAt\":");
    assertThat(answer.bucket("message").get("level").longValue()).isEqualTo(6000);
    at.assertConsistent();
    assertThat(at.pauses).containsExactly(Duration.ofSeconds(1));
    assertThat(at.context.logged()).isEmpty();
  }

  @Test
  void a_tenant_of_the_pool_is_onboarded_without_waiting_for_its_queues() {
    at.onboard("acme", "bronze");

    assertThat(at.pauses).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"TokenQueue.countTokens", "TokenQueue.put"})
  void a_queue_that_is_unknown_right_after_its_creation_is_filled_a_second_later(String call) {
    ControlPlaneFixture rehearsal = new ControlPlaneFixture();
    rehearsal.onboard("acme", "bronze");
    at.faults.plan(
        rehearsal.faults.calls().indexOf(call) + 1,
        unknown -> {
          throw new MissingQueue(bucket("acme", "connect"));
        });

    Answer answer = at.onboard("acme", "bronze");

    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.bucket("connect").get("level").longValue()).isEqualTo(60);
    assertThat(at.pauses).containsExactly(Duration.ofSeconds(1));
    at.assertConsistent();
  }

  @ParameterizedTest
  @CsvSource({"20000, 20000", "20001, 0"})
  void a_new_bucket_is_filled_at_once_unless_it_is_too_large(int capacity, long filled) {
    Answer answer =
        at.post(
            "{\"tenantId\":\"acme\",\"tier\":\"gold\",\"overrides\":{\"messagesPerMinute\":%d}}"
                .formatted(capacity));

    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.bucket("message").get("level").longValue()).isEqualTo(filled);

    at.clock.advance(Duration.ofSeconds(60));
    assertThat(at.fill(bucket("acme", "message")))
        .isInstanceOfSatisfying(
            BucketFill.Filled.class, topped -> assertThat(topped.level()).isEqualTo(capacity));
  }

  @Test
  void a_first_fill_that_takes_long_is_continued_by_the_next_fills() {
    at.putTier(
        "own",
        OWN.replace(
            "\"ratePerMinute\":0.2,\"capacity\":5", "\"ratePerMinute\":10,\"capacity\":20000"));
    Duration call = Duration.ofMillis(20);
    at.faults.each(() -> Optional.of(Faults.concurrently(() -> at.clock.advance(call))));
    Instant start = at.clock.instant();

    Answer answer = at.onboard("acme", "own");

    assertThat(answer.status()).isEqualTo(201);
    assertThat(at.clock.instant()).isBefore(start.plusSeconds(29));
    BucketId send = bucket("acme", "send-email");
    assertThat(at.tokens.level(send)).isBetween(1_000L, 19_990L);
    at.clock.advance(Duration.ofSeconds(60));
    at.fill(send);
    assertThat(at.tokens.level(send)).isEqualTo(20_000);
  }

  /** One step mints all tokens of such a bucket, and takes ten seconds here. */
  @Test
  void a_first_fill_whose_step_would_end_too_late_is_left_to_the_next_fill() {
    String large = "{\"ratePerMinute\":20000,\"capacity\":20000}";
    at.putTier(
        "own",
        OWN.replace(
            "{\"ratePerMinute\":0.2,\"capacity\":5}",
            large + ",\"send-fax\":" + large + ",\"send-text\":" + large));
    List<BucketId> buckets =
        Stream.of("send-email", "send-fax", "send-text")
            .map(action -> bucket("acme", action))
            .toList();
    ToLongFunction<BucketId> level = id -> at.tokens.has(id) ? at.tokens.level(id) : 0;
    at.faults.each(
        () ->
            Optional.of(
                call -> {
                  long before = buckets.stream().mapToLong(level).sum();
                  Object result = call.go();
                  long sent = buckets.stream().mapToLong(level).sum() - before;
                  at.clock.advance(Duration.ofMillis(sent / 2));
                  return result;
                }));
    Instant start = at.clock.instant();

    Answer answer = at.onboard("acme", "own");

    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.bucket("send-text").get("state").textValue()).isNotEqualTo("PROVISIONING");
    assertThat(at.clock.instant()).isBefore(start.plusSeconds(29));
    assertThat(buckets).extracting(level::applyAsLong).containsExactly(20_000L, 20_000L, 0L);
    at.fill(buckets.get(2));
    assertThat(at.tokens.level(buckets.get(2))).isEqualTo(20_000);
  }

  @Test
  void a_repeated_post_returns_the_tenant_and_changes_nothing() {
    Answer first = at.onboard("acme", "bronze");
    Snapshot before = at.snapshot();
    at.faults.none();

    Answer second = at.onboard("acme", "bronze");

    assertThat(second.status()).isEqualTo(200);
    assertThat(second.document()).isEqualTo(first.document());
    assertThat(at.snapshot()).isEqualTo(before);
    assertThat(at.faults.calls())
        .containsExactly(
            "Tiers.find",
            "Tenants.create",
            "Tenants.find",
            "Buckets.list",
            "TokenQueue.countTokens",
            "TokenQueue.countTokens",
            "Tiers.find",
            "Connections.count");
  }

  @Test
  void post_of_a_tenant_with_other_settings_is_a_conflict() {
    at.onboard("acme", "bronze");

    Map<String, String> details =
        Map.of(
            "{\"tenantId\":\"acme\",\"tier\":\"gold\"}",
            "in tier `bronze`, not `gold` (change it with `tollgate tenants set-tier` or PATCH).",
            "{\"tenantId\":\"acme\",\"tier\":\"bronze\",\"overrides\":{\"sessionTTL\":100}}",
            "with overrides none, not sessionTTL=100 (change them with `tollgate tenants override`"
                + " or PATCH).");
    for (Map.Entry<String, String> other : details.entrySet()) {
      Answer answer = at.post(other.getKey());

      assertThat(answer.status()).isEqualTo(409);
      assertThat(answer.document().get("detail").textValue())
          .isEqualTo("Tenant `acme` already exists " + other.getValue());
      assertThat(answer.document().get("type").textValue())
          .isEqualTo("urn:tollgate:problem:conflict");
      assertThat(answer.document().at("/tenant/tier").textValue()).isEqualTo("bronze");
      assertThat(answer.document().at("/tenant/overrides").isEmpty()).isTrue();
    }
    assertThat(at.tenant("acme").orElseThrow().version()).isEqualTo(1);
  }

  @Test
  void post_and_patch_of_an_offboarding_tenant_are_conflicts() {
    at.onboard("acme", "bronze");
    at.queues.outage().begin();
    assertThat(at.delete("acme").status()).isEqualTo(202);

    assertThat(at.onboard("acme", "bronze").status()).isEqualTo(409);
    assertThat(at.patch("acme", "{\"tier\":\"gold\"}").status()).isEqualTo(409);
    assertThat(at.get("acme").document().get("status").textValue()).isEqualTo("OFFBOARDING");
  }

  @Test
  void a_post_in_base64_is_decoded() {
    String body = "{\"tenantId\":\"acme\",\"tier\":\"bronze\"}";
    var event =
        HttpApiEvents.of(
            "POST /tenants",
            Map.of(),
            Base64.getEncoder().encodeToString(body.getBytes(StandardCharsets.UTF_8)));
    event.setIsBase64Encoded(true);

    assertThat(at.send(event).status()).isEqualTo(201);
  }

  @Test
  void the_recorded_event_onboards_its_tenant() {
    Answer answer = at.send(HttpApiEvents.recorded("http-api-event.json"));

    assertThat(answer.status()).isEqualTo(201);
    assertThat(at.tenant("acme")).isPresent();
  }

  @Test
  void a_post_is_a_503_if_a_table_is_unavailable() {
    at.tenants.outage().begin("create");

    Answer answer = at.onboard("acme", "bronze");

    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.headers()).containsEntry("retry-after", "1");
  }

  @Test
  void a_post_without_time_is_finished_by_the_sweep() {
    at.context = new RecordingContext(Duration.ofSeconds(8));
    Answer answer = at.onboard("acme", "bronze");

    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.bucket("connect").get("state").textValue()).isEqualTo("PROVISIONING");
    assertThat(answer.bucket("connect").has("nextTokenAt")).isFalse();
    assertThat(at.context.logged()).anyMatch(line -> line.contains("no time left"));
    assertThat(at.snapshot().queues()).isEmpty();

    at.context = new RecordingContext(Duration.ofSeconds(50));
    at.sweep();

    at.assertConsistent();
    assertThat(at.get("acme").bucket("connect").get("state").textValue()).isEqualTo("ACTIVE");
  }

  @Test
  void get_of_an_unknown_tenant_is_a_404() {
    Answer answer = at.get("acme");

    assertThat(answer.status()).isEqualTo(404);
    assertThat(answer.document().get("type").textValue())
        .isEqualTo("urn:tollgate:problem:not-found");
    assertThat(answer.document().get("instance").textValue()).isNotEmpty();
  }

  @Test
  void get_shows_the_level_of_the_queue_or_else_the_last_known_level() {
    at.onboard("acme", "bronze");
    at.tokens.settle(
        bucket("acme", "connect"),
        at.tokens.reserve(bucket("acme", "connect"), 10, Duration.ofSeconds(30), Search.SHORT));

    assertThat(at.get("acme").bucket("connect").get("level").longValue()).isEqualTo(50);

    at.tokens.outage().begin();
    JsonNode unseen = at.get("acme").bucket("connect");

    assertThat(unseen.get("level").longValue()).isEqualTo(60);
    assertThat(unseen.get("levelEstimated").booleanValue()).isTrue();
    assertThat(unseen.get("state").textValue()).isEqualTo("ACTIVE");
  }

  @Test
  void get_shows_when_the_next_token_is_due() {
    at.onboard("acme", "bronze");

    assertThat(at.get("acme").bucket("connect").get("nextTokenAt").textValue())
        .isEqualTo(at.clock.instant().plusSeconds(2).toString());
  }

  @Test
  void get_shows_the_number_of_open_connections() {
    at.onboard("acme", "bronze");
    at.sessions.countUp(ACME, 10);

    assertThat(at.get("acme").document().get("connections").longValue()).isEqualTo(1);
  }

  @Test
  void a_get_is_a_503_if_a_table_is_unavailable() {
    at.onboard("acme", "bronze");
    at.buckets.outage().begin();

    assertThat(at.get("acme").status()).isEqualTo(503);
  }

  @Test
  void an_unexpected_exception_is_hidden_from_the_caller() {
    at.faults.plan(
        1,
        call -> {
          throw new IllegalStateException("arn:aws:dynamodb:secret");
        });

    Answer answer = at.get("acme");

    assertThat(answer.status()).isEqualTo(500);
    assertThat(answer.document().toString()).doesNotContain("secret");
    assertThat(at.context.logged()).anyMatch(line -> line.contains("secret"));
  }

  @Test
  void a_patch_of_the_tier_changes_rates_without_a_fill() {
    at.onboard("acme", "bronze");
    at.faults.none();

    Answer answer = at.patch("acme", "{\"tier\":\"silver\"}");

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.document().get("version").longValue()).isEqualTo(2);
    assertThat(answer.bucket("connect").get("ratePerMinute").longValue()).isEqualTo(120);
    assertThat(answer.bucket("connect").get("level").longValue()).isEqualTo(60);
    assertThat(at.faults.calls()).doesNotContain("TokenQueue.put");
    at.assertConsistent();

    at.clock.advance(Duration.ofSeconds(60));
    assertThat(at.fill(bucket("acme", "connect")))
        .isInstanceOfSatisfying(
            BucketFill.Filled.class, topped -> assertThat(topped.level()).isEqualTo(120));
  }

  @Test
  void a_patch_of_overrides_replaces_all_overrides() {
    at.post("{\"tenantId\":\"acme\",\"tier\":\"bronze\",\"overrides\":{\"sessionTTL\":100}}");

    at.patch("acme", "{\"overrides\":{\"tenantConnections\":3}}");

    Tenant tenant = at.tenant("acme").orElseThrow();
    assertThat(tenant.overrides()).isEqualTo(Overrides.of(Map.of(Limit.TENANT_CONNECTIONS, 3L)));
    assertThat(tenant.limits().get(Limit.SESSION_TTL)).isEqualTo(200);
  }

  @Test
  void a_patch_without_bucket_changes_asks_no_queue_and_no_schedule() {
    at.onboard("acme", "bronze");
    at.faults.none();

    at.patch("acme", "{\"overrides\":{\"tenantConnections\":3}}");

    assertThat(at.faults.calls())
        .containsExactly(
            "Tenants.find",
            "Tiers.find",
            "Tenants.replace",
            "Tiers.find",
            "Buckets.list",
            "Tenants.markObserved",
            "Tenants.find",
            "Buckets.list",
            "TokenQueue.countTokens",
            "TokenQueue.countTokens",
            "Tiers.find",
            "Connections.count");
    at.assertConsistent();
  }

  @Test
  void a_patch_of_one_rate_writes_one_schedule() {
    at.onboard("acme", "bronze");
    at.faults.none();

    at.patch("acme", "{\"overrides\":{\"tenantPerMinute\":3}}");

    assertThat(at.faults.calls()).containsOnlyOnce("FillSchedules.put", "BucketQueues.ensure");
    at.assertConsistent();
  }

  @Test
  void a_patch_without_changes_writes_no_version() {
    at.onboard("acme", "bronze");
    Snapshot before = at.snapshot();

    for (String nothing :
        List.of("{}", "{\"tier\":\"bronze\"}", "{\"overrides\":{}}", "{\"status\":\"ACTIVE\"}")) {
      assertThat(at.patch("acme", nothing).status()).isEqualTo(200);
    }

    assertThat(at.snapshot()).isEqualTo(before);
  }

  @Test
  void patch_of_an_unknown_tenant_is_a_404() {
    assertThat(at.patch("acme", "{\"tier\":\"gold\"}").status()).isEqualTo(404);
  }

  @Test
  void a_patch_is_a_conflict_if_the_tier_was_deleted() {
    at.putTier("own", OWN);
    at.onboard("acme", "own");
    at.tiers.remove(at.tenant("acme").orElseThrow().tier(), 1);

    assertThat(at.patch("acme", "{\"overrides\":{\"sessionTTL\":100}}").status()).isEqualTo(409);
    assertThat(at.patch("acme", "{\"tier\":\"gold\"}").status()).isEqualTo(200);
  }

  @Test
  void suspending_stops_the_fills_and_keeps_the_tokens() {
    at.onboard("acme", "bronze");

    Answer answer = at.patch("acme", "{\"status\":\"SUSPENDED\"}");

    assertThat(answer.document().get("status").textValue()).isEqualTo("SUSPENDED");
    assertThat(answer.bucket("connect").get("state").textValue()).isEqualTo("SUSPENDED");
    assertThat(answer.bucket("connect").get("level").longValue()).isEqualTo(60);
    assertThat(at.schedules.schedules().values()).noneMatch(schedule -> schedule.enabled());
    at.assertConsistent();

    at.patch("acme", "{\"status\":\"ACTIVE\"}");

    assertThat(at.schedules.schedules().values()).allMatch(schedule -> schedule.enabled());
  }

  @Test
  void a_bucket_added_during_suspension_is_filled_on_activation() {
    at.onboard("acme", "bronze");
    at.patch("acme", "{\"status\":\"SUSPENDED\"}");
    at.putTier("own", OWN);
    at.patch("acme", "{\"tier\":\"own\"}");
    assertThat(at.tokens.level(bucket("acme", "send-email"))).isZero();

    at.patch("acme", "{\"status\":\"ACTIVE\"}");

    assertThat(at.tokens.level(bucket("acme", "send-email"))).isEqualTo(5);
    at.assertConsistent();
  }

  @Test
  void delete_removes_all_resources_of_the_tenant() {
    at.onboard("acme", "bronze");
    SessionId session = new SessionId("0".repeat(32));
    at.sessions.create(
        new Session(
            ACME, session, Set.of(), ControlPlaneFixture.START.plusSeconds(60), Optional.empty()));
    at.sessions.join(
        ACME,
        session,
        "socket",
        2,
        Gcra.perMinute(5),
        Optional.empty(),
        ControlPlaneFixture.START,
        ControlPlaneFixture.START);
    at.sessions.countUp(ACME, 10);

    Answer answer = at.delete("acme");

    assertThat(answer.status()).isEqualTo(204);
    assertThat(at.tenant("acme")).isEmpty();
    assertThat(at.snapshot().queues()).isEmpty();
    assertThat(at.sessions.list(ACME)).isEmpty();
    assertThat(at.sessions.count(ACME)).isZero();
    assertThat(at.sockets.closed()).containsExactly("socket");
    at.assertConsistent();
  }

  @Test
  void a_repeated_delete_gets_the_same_response() {
    at.onboard("acme", "bronze");

    assertThat(at.delete("acme").status()).isEqualTo(204);
    assertThat(at.delete("acme").status()).isEqualTo(204);
    assertThat(at.get("acme").status()).isEqualTo(404);
  }

  @Test
  void delete_is_a_202_until_everything_is_removed() {
    at.onboard("acme", "bronze");
    at.queues.outage().begin("delete");

    Answer answer = at.delete("acme");

    assertThat(answer.status()).isEqualTo(202);
    assertThat(answer.document().get("status").textValue()).isEqualTo("OFFBOARDING");
    assertThat(answer.bucket("connect").get("state").textValue()).isEqualTo("REMOVING");
    assertThat(at.schedules.schedules()).isEmpty();
    assertThat(at.delete("acme").status()).isEqualTo(202);

    at.queues.outage().end();

    assertThat(at.delete("acme").status()).isEqualTo(204);
    at.assertConsistent();
  }

  @Test
  void a_tenant_onboarded_again_within_a_minute_waits_for_its_queues() {
    at.onboard("acme", "bronze");
    at.delete("acme");
    at.clock.advance(Duration.ofSeconds(10));

    Answer answer = at.onboard("acme", "bronze");

    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.bucket("connect").get("state").textValue()).isEqualTo("PROVISIONING");
    assertThat(answer.bucket("connect").get("level").longValue()).isZero();
    assertThat(at.schedules.schedules()).isEmpty();
    at.clock.advance(Duration.ofSeconds(30));
    at.sweep();
    assertThat(at.get("acme").bucket("connect").get("state").textValue()).isEqualTo("PROVISIONING");

    at.clock.advance(Duration.ofSeconds(30));
    at.sweep();

    at.assertConsistent();
    assertThat(at.tokens.level(bucket("acme", "connect"))).isEqualTo(60);
    assertThat(at.get("acme").bucket("connect").get("state").textValue()).isEqualTo("ACTIVE");
  }

  @Test
  void tenants_are_listed_in_pages() {
    for (String id : List.of("acme", "beta", "gamma")) {
      at.onboard(id, "bronze");
    }

    JsonNode all = at.list(Map.of()).document();
    assertThat(all.get("tenants")).hasSize(3);
    assertThat(all.has("next")).isFalse();
    assertThat(fields(all.at("/tenants/0")))
        .containsExactly(
            "tenantId", "tier", "status", "version", "overrides", "limits", "isolation", "line");

    List<String> seen = new ArrayList<>();
    JsonNode part = at.list(Map.of("limit", "2")).document();
    part.get("tenants").forEach(tenant -> seen.add(tenant.get("tenantId").textValue()));
    String next = part.get("next").textValue();
    assertThat(next).isNotEqualTo("beta");
    part = at.list(Map.of("limit", "2", "cursor", next)).document();
    part.get("tenants").forEach(tenant -> seen.add(tenant.get("tenantId").textValue()));

    assertThat(part.has("next")).isFalse();
    assertThat(seen).containsExactly("acme", "beta", "gamma");
  }

  @Test
  void a_tier_with_a_session_lifetime_below_an_overridden_ttl_is_refused() {
    at.putTier("own", OWN);
    at.post("{\"tenantId\":\"acme\",\"tier\":\"own\",\"overrides\":{\"sessionTTL\":300}}");
    String shorter = OWN.replace(":200", ":200,\"sessionLifetime\":299");

    Answer refused = at.putTier("own", shorter);

    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.document().get("detail").asText())
        .contains("acme: sessionTTL: 300 (expected: at most sessionLifetime, which is 299)");
    assertThat(at.putTier("own", shorter.replace("299", "300")).status()).isEqualTo(200);
  }

  @Test
  void the_document_of_a_tier_can_be_put_again() {
    Answer put = at.putTier("own", OWN);

    assertThat(put.status()).isEqualTo(201);
    assertThat(put.document().toString())
        .isEqualTo(
            "{\"tier\":\"own\",\"isolation\":\"POOL\",\"limits\":{\"tenantPerMinute\":30,"
                + "\"sessionPerMinute\":5,\"connectionsPerSession\":2,\"tenantConnections\":10,"
                + "\"sessionTTL\":200,\"messagesPerMinute\":60,\"sessionLifetime\":86400,"
                + "\"sessionsPerSubject\":10},\"buckets\":{\"connect\":"
                + "{\"capacity\":90},\"send-email\":{\"ratePerMinute\":0.2,\"capacity\":5}},"
                + "\"fillMode\":\"PRODUCER\",\"hibernateAfterMinutes\":15,"
                + "\"onUnavailable\":\"REFUSE\",\"line\":true,\"version\":1}");
    Answer got = at.getTier("own");
    ObjectNode written = got.document().deepCopy();
    written.remove("rollout");
    assertThat(written).isEqualTo(put.document());

    Answer again = at.putTier("own", got.document().toString());

    assertThat(again.status()).isEqualTo(200);
    assertThat(again.document()).isEqualTo(put.document());
  }

  @Test
  void a_tier_needs_only_isolation_and_limits() {
    at.putTier("own", OWN);

    Answer answer = at.putTier("own", minimal(30));

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.document().get("buckets").isEmpty()).isTrue();
    assertThat(answer.document().get("fillMode").textValue()).isEqualTo("PRODUCER");
    assertThat(answer.document().get("hibernateAfterMinutes").longValue()).isEqualTo(15);
    assertThat(answer.document().get("onUnavailable").textValue()).isEqualTo("ADMIT");
  }

  @Test
  void a_tier_is_replaced_only_if_its_version_is_as_expected() {
    at.putTier("own", OWN);

    String asVersionOne = minimal(30).replaceFirst("\\{", "{\"version\":1,");

    assertThat(at.putTier("own", asVersionOne.replace(":1,", ":7,")).status()).isEqualTo(409);
    assertThat(at.putTier("own", asVersionOne).status()).isEqualTo(200);
    assertThat(at.putTier("own", asVersionOne).status()).isEqualTo(200);
    assertThat(at.getTier("own").document().get("version").longValue()).isEqualTo(2);
  }

  @Test
  void a_tier_change_applies_to_exactly_its_tenants() {
    at.putTier("own", OWN);
    at.onboard("acme", "own");
    at.post("{\"tenantId\":\"beta\",\"tier\":\"own\",\"overrides\":{\"tenantPerMinute\":7}}");
    at.onboard("gamma", "bronze");

    Answer answer = at.putTier("own", minimal(50));

    assertThat(answer.status()).isEqualTo(200);
    assertThat(at.get("acme").bucket("connect").get("ratePerMinute").longValue()).isEqualTo(50);
    assertThat(at.get("beta").bucket("connect").get("ratePerMinute").longValue()).isEqualTo(7);
    assertThat(at.tenant("gamma").orElseThrow().version()).isEqualTo(1);
    assertThat(at.buckets.find(bucket("acme", "send-email"))).isEmpty();
    at.assertConsistent();
  }

  @Test
  void a_tier_change_applies_to_more_tenants_than_a_page() {
    at.putTier("own", OWN);
    for (int i = 0; i < 250; i++) {
      at.onboard("tenant-" + i, "own");
    }

    assertThat(at.putTier("own", minimal(50)).status()).isEqualTo(202);
    at.sweep();

    assertThat(at.chunks).isEmpty();
    assertThat(at.tenants.list(Optional.empty(), 1_000).items())
        .hasSize(250)
        .allMatch(Tenant::isSettled)
        .allMatch(tenant -> tenant.limits().get(Limit.TENANT_PER_MINUTE) == 50);
    assertThat(at.schedules.schedules()).hasSize(500);
  }

  @Test
  void concurrent_changes_end_with_one_of_them_reconciled() throws InterruptedException {
    at.onboard("acme", "bronze");
    List<String> edits =
        List.of(
            "{\"tier\":\"silver\"}",
            "{\"tier\":\"gold\"}",
            "{\"overrides\":{\"tenantPerMinute\":7}}",
            "{\"overrides\":{}}",
            "{\"status\":\"SUSPENDED\"}",
            "{\"status\":\"ACTIVE\"}");
    List<Thread> threads = new ArrayList<>();
    for (String edit : edits) {
      threads.add(
          new Thread(
              () -> {
                for (int i = 0; i < 50; i++) {
                  at.patch("acme", edit);
                }
              }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }

    at.sweep(MINUTES_TO_DRAIN);

    at.assertConsistent();
  }

  @Test
  void a_tier_change_applies_to_a_suspended_tenant_which_stays_suspended() {
    at.putTier("own", OWN);
    at.onboard("acme", "own");
    at.patch("acme", "{\"status\":\"SUSPENDED\"}");

    at.putTier("own", minimal(50));

    assertThat(at.tenant("acme").orElseThrow().status()).isEqualTo(TenantStatus.SUSPENDED);
    at.assertConsistent();
  }

  @Test
  void a_tier_change_without_time_is_finished_by_the_sweep() {
    at.putTier("own", OWN);
    at.onboard("acme", "own");
    at.context = new RecordingContext(Duration.ofSeconds(8));

    assertThat(at.putTier("own", minimal(50)).status()).isEqualTo(202);
    assertThat(at.tenant("acme").orElseThrow().version()).isEqualTo(1);

    at.context = new RecordingContext(Duration.ofSeconds(50));

    assertThat(at.sweep()).containsEntry("changedTiers", 1L).containsEntry("rolledOutTiers", 1L);
    at.assertConsistent();
    assertThat(at.sweep()).containsEntry("changedTiers", 0L);
    assertThat(at.putTier("own", minimal(50)).status()).isEqualTo(200);
  }

  @Test
  void a_tier_with_tenants_is_not_deleted() {
    at.putTier("own", OWN);
    at.onboard("acme", "own");

    assertThat(at.deleteTier("own").status()).isEqualTo(409);
    at.delete("acme");
    assertThat(at.deleteTier("own").status()).isEqualTo(204);
    assertThat(at.deleteTier("own").status()).isEqualTo(404);
    assertThat(at.getTier("own").status()).isEqualTo(404);
  }

  @Test
  void tiers_are_listed() {
    at.putTier("own", OWN);

    JsonNode tiers = at.send(HttpApiEvents.of("GET /tiers")).document().get("tiers");

    assertThat(tiers.findValuesAsText("tier")).containsExactly("bronze", "gold", "own", "silver");
  }

  @Test
  void a_failing_tenant_does_not_stop_the_sweep() {
    at.context = new RecordingContext(Duration.ofSeconds(8));
    at.onboard("acme", "bronze");
    at.onboard("beta", "bronze");
    at.context = new RecordingContext(Duration.ofSeconds(50));
    at.faults.plan(
        3,
        call -> {
          throw new IllegalStateException("a row that cannot be read");
        });

    assertThat(at.sweep())
        .containsEntry("unsettledTenants", 2L)
        .containsEntry("settledTenants", 1L);
    assertThat(at.context.logged()).anyMatch(line -> line.contains("a row that cannot be read"));

    at.faults.none();
    assertThat(at.sweep())
        .containsEntry("unsettledTenants", 1L)
        .containsEntry("settledTenants", 1L);
    at.assertConsistent();
  }

  @Test
  void onboarding_makes_a_minimal_number_of_requests() {
    at.onboard("acme", "bronze");

    assertThat(at.faults.calls())
        .containsExactly(
            "Tiers.find",
            "Tenants.create",
            "Tiers.find",
            "Connections.createCount",
            "Buckets.list",
            "BucketQueues.owner",
            "Buckets.open",
            "BucketQueues.ensure",
            "BucketQueues.owner",
            "Buckets.open",
            "BucketQueues.ensure",
            "FillSchedules.put",
            "Buckets.find",
            "TokenQueue.countTokens",
            "Buckets.replace",
            "TokenQueue.put",
            "FillSchedules.put",
            "Buckets.find",
            "TokenQueue.countTokens",
            "Buckets.replace",
            "TokenQueue.put",
            "Silos.find",
            "Tenants.markObserved",
            "Tenants.find",
            "Buckets.list",
            "TokenQueue.countTokens",
            "TokenQueue.countTokens",
            "Tiers.find",
            "Connections.count");
  }

  private static String minimal(int perMinute) {
    return """
        {"isolation":"POOL","limits":{"tenantPerMinute":%d,"sessionPerMinute":5,
         "connectionsPerSession":2,"tenantConnections":10,"sessionTTL":200,
         "messagesPerMinute":60}}"""
        .formatted(perMinute);
  }

  private static List<String> fields(JsonNode document) {
    List<String> names = new ArrayList<>();
    document.fieldNames().forEachRemaining(names::add);
    return names;
  }
}
