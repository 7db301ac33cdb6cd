package dev.tollgate.handlers.session;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.claim.FreedPlaces;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.enforcement.AdmitAll;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.memory.RecordingSockets;
import dev.tollgate.core.tracing.Tracing;
import dev.tollgate.handlers.LambdaEvents;
import dev.tollgate.http.testing.Exchange;
import dev.tollgate.http.testing.HttpContract;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SessionApiTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpContract CONTRACT =
      HttpContract.of(Path.of("../docs/openapi/session.yaml"));

  private final AdmissionFixture fixture = new AdmissionFixture();
  private final Tenant acme =
      fixture.onboard(
          "acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 1L, Limit.SESSIONS_PER_SUBJECT, 4L));
  private final RecordingSockets sockets = new RecordingSockets();
  private final SessionApi api = api(true, Optional.empty());
  private final SessionApi withTokens = api(false, Optional.of("custom:tenant"));

  private SessionApi api(boolean listsTenants, Optional<String> tenantClaim) {
    return new SessionApi(
        fixture.tenants(),
        fixture.facts(),
        new SessionLifecycle(
            fixture.sessions(), fixture.sessions(), sockets, new SecureRandom(), fixture.clock()),
        new FreedPlaces(fixture.buckets(), fixture.clock()),
        fixture.enforcement(),
        new SessionSettings("wss://sockets.example/production", listsTenants, tenantClaim),
        Tracing.OFF,
        fixture.clock());
  }

  private APIGatewayV2HTTPResponse call(String routeKey, Map<String, String> query) {
    return call(api, LambdaEvents.http(routeKey, query));
  }

  private static APIGatewayV2HTTPResponse call(SessionApi api, APIGatewayV2HTTPEvent event) {
    APIGatewayV2HTTPResponse response = api.handleRequest(event, LambdaEvents.context());
    Exchange.of(event, response).ifPresent(CONTRACT::check);
    return response;
  }

  private APIGatewayV2HTTPResponse call(String routeKey, SessionId session) {
    return call(routeKey, Map.of("tenantId", "acme", "sessionId", session.value()));
  }

  private static JsonNode body(APIGatewayV2HTTPResponse response) {
    try {
      return JSON.readTree(response.getBody());
    } catch (JsonProcessingException malformed) {
      throw new AssertionError(response.getBody(), malformed);
    }
  }

  private void join(SessionId session, String connectionId) {
    join(acme, session, connectionId);
  }

  private void join(Tenant tenant, SessionId session, String connectionId) {
    fixture
        .sessions()
        .join(
            tenant.id(),
            session,
            connectionId,
            10,
            Gcra.perMinute(30),
            Optional.empty(),
            fixture.clock().instant(),
            fixture.clock().instant());
    fixture.sessions().countUp(tenant.id(), 1000);
  }

  @Test
  void a_session_is_created_with_a_generated_id() {
    APIGatewayV2HTTPResponse created = call("PUT /session", Map.of("tenantId", "acme"));
    assertThat(created.getStatusCode()).isEqualTo(201);
    JsonNode document = body(created);
    assertThat(document.get("tenantId").asText()).isEqualTo("acme");
    assertThat(document.get("expiresAt").asText()).isEqualTo("2026-03-01T12:05:00Z");
    assertThat(document.get("webSocketUrl").asText()).isEqualTo("wss://sockets.example/production");
    SessionId id = new SessionId(document.get("sessionId").asText());
    assertThat(fixture.sessions().find(acme.id(), id)).isPresent();
  }

  @Test
  void sessions_are_limited_to_ten_times_the_tenants_connections_a_minute() {
    for (int i = 0; i < 10; i++) {
      assertThat(call("PUT /session", Map.of("tenantId", "acme")).getStatusCode()).isEqualTo(201);
    }
    APIGatewayV2HTTPResponse refused = call("PUT /session", Map.of("tenantId", "acme"));
    assertThat(refused.getStatusCode()).isEqualTo(429);
    assertThat(refused.getHeaders())
        .containsEntry("retry-after", "6")
        .containsEntry("x-ratelimit-limit", "10")
        .containsEntry("x-ratelimit-remaining", "0")
        .containsEntry("x-ratelimit-reset", "6");
    fixture.clock().advance(Duration.ofSeconds(6));
    assertThat(call("PUT /session", Map.of("tenantId", "acme")).getStatusCode()).isEqualTo(201);
  }

  private Duration toldBy(Admission admission, Tenant tenant, SessionId session) {
    AdmissionDecision decision = admission.decide(tenant.id(), session);
    Instant told = ((AdmissionDecision.Refused) decision).retryAt().orElseThrow();
    return Duration.between(fixture.clock().instant(), told);
  }

  @Test
  void places_of_sessions_that_ended_do_not_make_a_new_session_wait() {
    Tenant busy = fixture.onboard("busy", "gold", Map.of(Limit.TENANT_PER_MINUTE, 60L));
    Admission admission = fixture.admission();
    while (admission.decide(busy.id(), fixture.open(busy)) instanceof AdmissionDecision.Ticketed) {}
    List<SessionId> gone = Stream.generate(() -> fixture.open(busy)).limit(400).toList();
    List<Duration> slots = gone.stream().map(id -> toldBy(admission, busy, id)).toList();
    assertThat(slots.get(399)).isGreaterThan(Duration.ofMinutes(6));
    SessionId staying = fixture.open(busy);
    Duration promised = toldBy(admission, busy, staying);

    for (SessionId id : gone) {
      Map<String, String> query = Map.of("tenantId", "busy", "sessionId", id.value());
      assertThat(call("DELETE /session", query).getStatusCode()).isEqualTo(204);
      call("DELETE /session", query);
    }

    Set<Duration> told = new HashSet<>();
    for (int i = 0; i < 60; i++) {
      Duration wait = toldBy(fixture.admission(), busy, fixture.open(busy));
      assertThat(wait).isLessThanOrEqualTo(Duration.ofMinutes(2));
      assertThat(told.add(wait)).as("a slot of its own").isTrue();
    }
    assertThat(toldBy(admission, busy, staying)).isEqualTo(promised);
  }

  @Test
  void place_of_a_session_whose_socket_cannot_be_closed_is_free() {
    Tenant busy = fixture.onboard("busy", "gold", Map.of(Limit.TENANT_PER_MINUTE, 60L));
    Admission admission = fixture.admission();
    while (admission.decide(busy.id(), fixture.open(busy)) instanceof AdmissionDecision.Ticketed) {}
    SessionId session = fixture.open(busy);
    join(busy, session, "c1");
    Duration slot = toldBy(admission, busy, session);
    sockets.outage().begin();

    Map<String, String> query = Map.of("tenantId", "busy", "sessionId", session.value());
    assertThat(call("DELETE /session", query).getStatusCode()).isEqualTo(503);

    assertThat(toldBy(fixture.admission(), busy, fixture.open(busy))).isEqualTo(slot);
  }

  @Test
  void put_with_the_id_of_a_live_session_renews_it() {
    JsonNode created = body(call("PUT /session", Map.of("tenantId", "acme")));
    SessionId session = new SessionId(created.get("sessionId").asText());
    join(session, "c1");
    Session before = fixture.sessions().find(acme.id(), session).orElseThrow();
    fixture.clock().advance(Duration.ofSeconds(299));

    APIGatewayV2HTTPResponse renewed = call("PUT /session", session);

    assertThat(renewed.getStatusCode()).isEqualTo(200);
    assertThat(body(renewed))
        .isEqualTo(((ObjectNode) created).put("expiresAt", "2026-03-01T12:09:59Z"));
    assertThat(fixture.sessions().list(acme.id()))
        .containsExactly(
            new Session(
                acme.id(),
                session,
                before.connections(),
                Instant.parse("2026-03-01T12:09:59Z"),
                before.arrival(),
                before.joinedAt(),
                before.messageAt(),
                before.processed(),
                before.lifetime(),
                before.place(),
                before.placeTaken()));
    assertThat(call("PUT /session", session).getStatusCode()).isEqualTo(200);
  }

  @Test
  void a_renewal_does_not_count_as_a_creation() {
    SessionId session = fixture.open(acme);
    for (int i = 0; i < 20; i++) {
      assertThat(call("PUT /session", session).getStatusCode()).isEqualTo(200);
    }
    for (int i = 0; i < 10; i++) {
      assertThat(call("PUT /session", Map.of("tenantId", "acme")).getStatusCode()).isEqualTo(201);
    }
    assertThat(call("PUT /session", Map.of("tenantId", "acme")).getStatusCode()).isEqualTo(429);
    assertThat(call("PUT /session", session).getStatusCode()).isEqualTo(200);
  }

  @Test
  void a_renewal_never_shortens_a_session() {
    SessionId session = fixture.open(acme);

    assertThat(body(call("PUT /session", session)).get("expiresAt").asText())
        .isEqualTo("2026-03-01T13:00:00Z");
  }

  @Test
  void an_expired_session_is_not_renewed_even_if_its_row_exists() {
    SessionId session = fixture.open(acme);
    fixture.clock().advance(Duration.ofHours(1));

    assertThat(call("PUT /session", session).getStatusCode()).isEqualTo(404);
    assertThat(fixture.sessions().find(acme.id(), session).orElseThrow().endsAt())
        .isEqualTo(AdmissionFixture.START.plusSeconds(3_600));
  }

  @Test
  void a_session_shows_its_limits_connections_and_admission() {
    SessionId session = fixture.open(acme);
    join(session, "c1");
    APIGatewayV2HTTPResponse shown = call("GET /session", session);
    assertThat(shown.getStatusCode()).isEqualTo(200);
    assertThat(body(shown).at("/limits/sessionPerMinute").asLong()).isEqualTo(30);
    assertThat(body(shown).get("connections").asInt()).isEqualTo(1);
    assertThat(body(shown).at("/admission/admitted").asBoolean()).isTrue();
    assertThat(shown.getHeaders())
        .containsEntry(
            "ratelimit-policy",
            "\"connect\";q=1;w=60, \"session\";q=30;w=60, "
                + "\"connections\";q=1000;qu=\"concurrent-requests\", "
                + "\"session-connections\";q=10;qu=\"concurrent-requests\"")
        .containsEntry(
            "ratelimit",
            "\"connect\";r=1;t=61, \"session\";r=29;t=0, \"connections\";r=999, \"session-connections\";r=9")
        .containsEntry("x-ratelimit-limit", "1")
        .containsEntry("x-ratelimit-remaining", "1")
        .containsEntry("x-ratelimit-reset", "61")
        .doesNotContainKey("retry-after");
  }

  @Test
  void a_limit_that_others_use_up_has_no_reset() {
    SessionId session = fixture.open(acme);
    for (int i = 0; i < 10; i++) {
      join(session, "c" + i);
    }

    assertThat(call("GET /session", session).getHeaders())
        .containsEntry("x-ratelimit-limit", "10")
        .containsEntry("x-ratelimit-remaining", "0")
        .doesNotContainKey("x-ratelimit-reset");
  }

  @Test
  void a_session_shows_when_to_retry_if_the_bucket_is_empty() {
    SessionId session = fixture.open(acme);
    fixture
        .buckets()
        .rememberEmpty(
            fixture.buckets().find(AdmissionFixture.connects(acme)).orElseThrow(),
            new EmptyHint(AdmissionFixture.START, AdmissionFixture.START.plusSeconds(61), 0));
    fixture.clock().advance(Duration.ofMillis(500));
    APIGatewayV2HTTPResponse shown = call("GET /session", session);
    assertThat(shown.getHeaders()).containsEntry("retry-after", "61");
    assertThat(body(shown).at("/admission/reason").asText()).isEqualTo("TENANT_RATE");
    assertThat(body(shown).at("/admission/retryAfterSeconds").asLong()).isEqualTo(61);
    assertThat(body(shown).at("/admission/nextAttemptAt").asText())
        .isEqualTo("2026-03-01T12:01:01Z");
  }

  @Test
  void a_session_is_admitted_while_limits_are_lifted() {
    SessionId session = fixture.open(acme);
    for (int i = 0; i < 10; i++) {
      join(session, "c" + i);
    }
    assertThat(body(call("GET /session", session)).at("/admission/reason").asText())
        .isEqualTo("SESSION_CONNECTIONS");
    Instant now = fixture.clock().instant();
    fixture.admitAll().turnOn(new AdmitAll(now, now.plusSeconds(60), "a test", "me"));
    fixture.clock().advance(Duration.ofSeconds(5));

    APIGatewayV2HTTPResponse shown = call("GET /session", session);
    assertThat(body(shown).at("/admission/admitted").asBoolean()).isTrue();
    assertThat(shown.getHeaders()).doesNotContainKey("retry-after");
  }

  @Test
  void a_session_shows_when_to_retry_if_the_bucket_was_never_filled() {
    SessionId session = fixture.open(acme);
    fixture.buckets().remove(AdmissionFixture.connects(acme));
    fixture
        .buckets()
        .open(
            Bucket.opened(
                AdmissionFixture.connects(acme),
                new BucketSpec(Rate.perMinute(5), 5),
                AdmissionFixture.START));

    APIGatewayV2HTTPResponse shown = call("GET /session", session);

    assertThat(body(shown).at("/admission/admitted").asBoolean()).isFalse();
    assertThat(body(shown).at("/admission/reason").asText()).isEqualTo("TENANT_RATE");
    assertThat(shown.getHeaders()).containsEntry("retry-after", "60");
  }

  @Test
  void ending_a_session_closes_its_sockets_and_lowers_the_count_once() {
    SessionId session = fixture.open(acme);
    join(session, "c1");
    join(session, "c2");
    assertThat(call("DELETE /session", session).getStatusCode()).isEqualTo(204);
    assertThat(sockets.closed()).containsExactlyInAnyOrder("c1", "c2");
    assertThat(fixture.sessions().count(acme.id())).isZero();
    assertThat(call("DELETE /session", session).getStatusCode()).isEqualTo(404);
  }

  @Test
  void an_expired_session_is_not_found_even_if_its_row_exists() {
    SessionId session = fixture.open(acme);
    fixture.clock().advance(Duration.ofHours(2));
    assertThat(call("GET /session", session).getStatusCode()).isEqualTo(404);
  }

  @Test
  void a_session_of_another_tenant_is_not_found() {
    SessionId session = fixture.open(acme);
    fixture.onboard("other", "gold", Map.of());
    Map<String, String> query = Map.of("tenantId", "other", "sessionId", session.value());
    assertThat(call("GET /session", query).getStatusCode()).isEqualTo(404);
    assertThat(call("PUT /session", query).getStatusCode()).isEqualTo(404);
    assertThat(call("DELETE /session", query).getStatusCode()).isEqualTo(404);
    assertThat(fixture.sessions().find(acme.id(), session)).isPresent();
  }

  @Test
  void a_suspended_tenant_gets_no_session() {
    fixture
        .tenants()
        .replace(acme.changed(Tier.DEFAULTS.get(2), Overrides.NONE, TenantStatus.SUSPENDED));
    SessionId session = fixture.open(acme);
    for (APIGatewayV2HTTPResponse refused :
        List.of(call("PUT /session", Map.of("tenantId", "acme")), call("PUT /session", session))) {
      assertThat(refused.getStatusCode()).isEqualTo(403);
      assertThat(body(refused).get("type").asText()).isEqualTo("urn:tollgate:problem:suspended");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "PUT /session, '', '', 400, tenantId",
    "PUT /session, ACME, '', 400, tenantId",
    "PUT /session, nobody, 00000000000000000000000000000000, 404, ",
    "PUT /session, nobody, xyz, 400, sessionId",
    "PUT /session, acme, '', 400, sessionId",
    "PUT /session, acme, xyz, 400, sessionId",
    "PUT /session, acme, 0000000000000000000000000000000G, 400, sessionId",
    "PUT /session, acme, 00000000000000000000000000000000, 404, ",
    "GET /session, acme, '', 400, sessionId",
    "GET /session, acme, xyz, 400, sessionId",
    "GET /session, acme, 00000000000000000000000000000000, 404, ",
    "DELETE /session, acme, ../../etc/passwd, 400, sessionId",
    "DELETE /session, nobody, 00000000000000000000000000000000, 404, ",
  })
  void an_invalid_parameter_is_named_in_the_problem(
      String route, String tenant, String session, int status, String field) {
    APIGatewayV2HTTPResponse refused =
        call(route, Map.of("tenantId", tenant, "sessionId", session));
    assertThat(refused.getStatusCode()).isEqualTo(status);
    assertThat(refused.getHeaders()).containsEntry("content-type", "application/problem+json");
    if (field != null) {
      assertThat(body(refused).at("/errors/0/field").asText()).isEqualTo(field);
    }
    assertThat(fixture.sessions().list(acme.id())).isEmpty();
  }

  @Test
  void tenants_are_listed_only_if_the_deployment_allows_it() {
    assertThat(call("GET /tenant", Map.of()).getBody()).isEqualTo("{\"tenants\":[\"acme\"]}");
    APIGatewayV2HTTPResponse refused =
        withTokens.handleRequest(
            LambdaEvents.http("GET /tenant", Map.of()), LambdaEvents.context());
    assertThat(refused.getStatusCode()).isEqualTo(404);
  }

  @Test
  void tenants_are_listed_in_pages_of_twenty_five() {
    for (int i = 0; i < 30; i++) {
      fixture.onboard("other-" + i, "bronze", Map.of());
    }

    JsonNode first = body(call("GET /tenant", Map.of()));
    assertThat(first.get("tenants")).hasSize(25);
    JsonNode rest = body(call("GET /tenant", Map.of("cursor", first.get("next").asText())));
    assertThat(rest.get("tenants")).hasSize(6);
    assertThat(rest.has("next")).isFalse();
  }

  /** A call with a token with these claims, in a deployment that requires tokens. */
  private APIGatewayV2HTTPResponse callWith(
      Map<String, String> claims, String routeKey, Map<String, String> query) {
    return call(withTokens, LambdaEvents.http(routeKey, query, claims));
  }

  private static Map<String, String> claims(String sub, String exp) {
    return Map.of("custom:tenant", "acme", "sub", sub, "exp", exp);
  }

  /** Claims of a token of acme that ends an hour from the start. */
  private static Map<String, String> claims(String sub) {
    return claims(sub, String.valueOf(AdmissionFixture.START.getEpochSecond() + 3_600));
  }

  private APIGatewayV2HTTPResponse open(Map<String, String> claims) {
    return callWith(claims, "PUT /session", Map.of("tenantId", "acme"));
  }

  private static void assertUnusableToken(APIGatewayV2HTTPResponse refused, String claim) {
    assertThat(refused.getStatusCode()).isEqualTo(403);
    assertThat(body(refused).get("type").asText()).isEqualTo("urn:tollgate:problem:unusable-token");
    assertThat(body(refused).get("detail").asText()).contains("`" + claim + "`");
  }

  @Test
  void a_subject_over_its_session_limit_is_refused_with_the_time_to_retry() {
    Map<String, String> ann = claims("ann");
    List<JsonNode> opened = Stream.generate(() -> open(ann)).limit(4).map(this::created).toList();
    fixture.clock().advance(Duration.ofSeconds(9));

    APIGatewayV2HTTPResponse refused = open(ann);

    assertThat(refused.getStatusCode()).isEqualTo(429);
    assertThat(refused.getHeaders()).containsEntry("retry-after", "301");
    assertThat(body(refused).get("type").asText())
        .isEqualTo("urn:tollgate:problem:subject-quota-exceeded");
    assertThat(refused.getBody()).doesNotContain("ann");
    Map<String, String> first =
        Map.of("tenantId", "acme", "sessionId", opened.get(0).get("sessionId").asText());
    assertThat(callWith(ann, "PUT /session", first).getStatusCode()).isEqualTo(200);
    assertThat(open(ann).getStatusCode()).isEqualTo(429);
    assertThat(callWith(ann, "DELETE /session", first).getStatusCode()).isEqualTo(204);
    assertThat(open(ann).getStatusCode()).isEqualTo(201);
    assertThat(open(ann).getStatusCode()).isEqualTo(429);
  }

  private JsonNode created(APIGatewayV2HTTPResponse response) {
    assertThat(response.getStatusCode()).isEqualTo(201);
    return body(response);
  }

  @ParameterizedTest
  @CsvSource({"1772366430", "1772366430.9", "1.77236643E9", "1.77236643e+09"})
  void a_session_ends_with_the_token_that_created_it(String exp) {
    JsonNode session = created(open(claims("ann", exp)));

    assertThat(session.get("expiresAt").asText()).isEqualTo("2026-03-01T12:00:30Z");
    assertThat(session.get("lastsUntil").asText()).isEqualTo("2026-03-01T12:00:30Z");
  }

  @Test
  void a_session_shows_the_latest_end_of_its_lifetime() {
    JsonNode session = created(call("PUT /session", Map.of("tenantId", "acme")));
    SessionId id = new SessionId(session.get("sessionId").asText());

    assertThat(session.get("lastsUntil").asText()).isEqualTo("2026-03-02T12:00:00Z");
    assertThat(body(call("GET /session", id)).get("lastsUntil").asText())
        .isEqualTo("2026-03-02T12:00:00Z");
    assertThat(body(call("GET /session", fixture.open(acme))).has("lastsUntil")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"''", "' '"})
  void a_token_without_subject_is_refused(String sub) {
    assertUnusableToken(open(claims(sub)), "sub");
    assertUnusableToken(open(Map.of("custom:tenant", "acme", "exp", "1772369999")), "sub");
    assertThat(fixture.sessions().list(acme.id())).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "soon", "1772366400", "-1", "1E+2147483647", "NaN", "9999999999999"})
  void a_token_without_valid_expiry_is_refused(String exp) {
    assertUnusableToken(open(claims("ann", exp)), "exp");
    assertUnusableToken(open(Map.of("custom:tenant", "acme", "sub", "ann")), "exp");
    assertThat(fixture.sessions().list(acme.id())).isEmpty();
  }

  @Test
  void a_token_of_the_tenant_creates_shows_and_ends_sessions() {
    Map<String, String> claims = claims("ann");
    APIGatewayV2HTTPResponse created = callWith(claims, "PUT /session", Map.of("tenantId", "acme"));
    assertThat(created.getStatusCode()).isEqualTo(201);
    Map<String, String> query =
        Map.of("tenantId", "acme", "sessionId", body(created).get("sessionId").asText());
    assertThat(callWith(claims, "GET /session", query).getStatusCode()).isEqualTo(200);
    assertThat(callWith(claims, "DELETE /session", query).getStatusCode()).isEqualTo(204);
  }

  /** Claims in the form in which API Gateway passes them on: each as a text. */
  @ParameterizedTest
  @CsvSource({
    "custom:tenant, other",
    "custom:tenant, ACME",
    "custom:tenant, acme-2",
    "custom:tenant, acm",
    "custom:tenant, 'acme '",
    "custom:tenant, ''",
    "custom:tenant, [acme]",
    "custom:tenant, acme other",
    "tenant, acme",
    "Custom:Tenant, acme",
  })
  void a_token_without_the_requested_tenant_is_refused(String claim, String value) {
    SessionId session = fixture.open(acme);
    Map<String, String> query = Map.of("tenantId", "acme", "sessionId", session.value());
    for (String route : List.of("PUT /session", "GET /session", "DELETE /session")) {
      assertNotYourTenant(callWith(Map.of(claim, value), route, query));
    }
    assertThat(fixture.sessions().list(acme.id())).hasSize(1);
  }

  @Test
  void a_refused_token_does_not_reveal_whether_the_tenant_exists() {
    Map<String, String> claims = Map.of("custom:tenant", "other");
    JsonNode existing = body(callWith(claims, "PUT /session", Map.of("tenantId", "acme")));
    JsonNode unknown = body(callWith(claims, "PUT /session", Map.of("tenantId", "nobody")));
    assertThat(existing.get("detail").asText())
        .isEqualTo(
            "Claim `custom:tenant` of the token does not name tenant `acme`. Use a token of this"
                + " tenant.");
    assertThat(unknown.toString().replace("nobody", "acme")).isEqualTo(existing.toString());
  }

  @Test
  void a_request_without_token_is_refused_if_tokens_are_required() {
    APIGatewayV2HTTPEvent signed = LambdaEvents.http("PUT /session", Map.of("tenantId", "acme"));
    assertThat(signed.getRequestContext().getAuthorizer()).isNotNull();
    assertNotYourTenant(call(withTokens, signed));
    signed.getRequestContext().setAuthorizer(null);
    assertNotYourTenant(call(withTokens, signed));
    assertThat(fixture.sessions().list(acme.id())).isEmpty();
  }

  private static void assertNotYourTenant(APIGatewayV2HTTPResponse refused) {
    assertThat(refused.getStatusCode()).isEqualTo(403);
    assertThat(body(refused).get("type").asText())
        .isEqualTo("urn:tollgate:problem:not-your-tenant");
  }
}
