package dev.tollgate.handlers.connect;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayCustomAuthorizerEvent;
import com.amazonaws.services.lambda.runtime.events.IamPolicyResponse;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.session.Lifetime;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.tracing.Segment;
import dev.tollgate.core.tracing.Tracing;
import dev.tollgate.handlers.LambdaEvents;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.http.testing.RecordingContext;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The authorizer, {@code $connect} and {@code $disconnect}, invoked in the order of API Gateway.
 */
final class HandshakeTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final AdmissionFixture fixture = new AdmissionFixture();
  private final Tenant acme = fixture.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 2L));
  private final SessionId session = fixture.open(acme);
  private final RecordingContext context = LambdaEvents.context();
  private final Metrics metrics = new Metrics(fixture.clock());
  private final ConnectAuthorizer authorizer =
      new ConnectAuthorizer(fixture.admission(), metrics, Tracing.OFF);
  private final Connect connect =
      new Connect(
          new Registration(
              fixture.sessions(),
              fixture.heldTokens(),
              fixture.tally(),
              fixture.enforcement(),
              Runnable::run,
              duration -> {},
              fixture.clock()),
          metrics,
          Tracing.OFF);
  private final Disconnect disconnect =
      new Disconnect(new Disconnection(fixture.sessions()), Tracing.OFF);

  private JsonNode authorize(Map<String, String> parameters) {
    IamPolicyResponse response =
        authorizer.handleRequest(LambdaEvents.handshake(parameters), context);
    return JSON.valueToTree(response);
  }

  /** API Gateway passes every value of the context on as text. */
  private static Map<String, Object> stringified(JsonNode response) {
    Map<String, Object> context = new LinkedHashMap<>();
    response
        .get("context")
        .properties()
        .forEach(e -> context.put(e.getKey(), e.getValue().asText()));
    return context;
  }

  private Map<String, String> parameters() {
    return Map.of("tenantId", "acme", "sessionId", session.value());
  }

  private int connect(String connectionId) {
    Map<String, Object> authorized = stringified(authorize(parameters()));
    return connect
        .handleRequest(LambdaEvents.route(connectionId, authorized), context)
        .getStatusCode();
  }

  private static String effect(JsonNode response) {
    return response.at("/policyDocument/Statement/0/Effect").asText();
  }

  @Test
  void a_connection_is_authorized_registered_and_removed() {
    JsonNode allowed = authorize(parameters());
    assertThat(effect(allowed)).isEqualTo("Allow");
    assertThat(allowed.at("/policyDocument/Statement/0/Resource/0").asText())
        .isEqualTo(LambdaEvents.METHOD_ARN);
    assertThat(allowed.get("context")).allMatch(JsonNode::isValueNode);
    Map<String, Object> authorized = stringified(allowed);
    assertThat(connect.handleRequest(LambdaEvents.route("c1", authorized), context).getStatusCode())
        .isEqualTo(200);
    assertThat(fixture.sessions().count(acme.id())).isEqualTo(1);
    disconnect.handleRequest(LambdaEvents.route("c1", authorized), context);
    assertThat(fixture.sessions().count(acme.id())).isZero();
  }

  @Test
  void a_trace_header_of_the_client_is_not_continued() {
    List<String> headers = new ArrayList<>();
    ConnectAuthorizer traced =
        new ConnectAuthorizer(
            fixture.admission(),
            metrics,
            (name, header) -> {
              headers.add(header.get());
              return Segment.NONE;
            });
    APIGatewayCustomAuthorizerEvent event = LambdaEvents.handshake(parameters());
    event.setHeaders(
        Map.of(
            "X-Amzn-Trace-Id",
            "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"));

    traced.handleRequest(event, context);

    assertThat(headers).containsExactly("");
  }

  @Test
  void a_connection_extends_its_session_no_further_than_the_authorizer_said() {
    Lifetime lifetime =
        new Lifetime(
            Optional.of(AdmissionFixture.START),
            Optional.of(AdmissionFixture.START.plusSeconds(30)));
    Session brief =
        new Session(
            acme.id(),
            session,
            Set.of(),
            AdmissionFixture.START.plusSeconds(20),
            Optional.empty(),
            Map.of(),
            Optional.empty(),
            Map.of(),
            lifetime,
            Optional.empty(),
            false);
    fixture.sessions().create(brief);

    JsonNode allowed = authorize(parameters());
    assertThat(stringified(allowed)).containsEntry("lastsUntil", "2026-03-01T12:00:30Z");
    assertThat(connect("c1")).isEqualTo(200);

    assertThat(fixture.sessions().find(acme.id(), session).orElseThrow().endsAt())
        .isEqualTo(AdmissionFixture.START.plusSeconds(30));
  }

  @Test
  void places_and_slots_are_published_as_metrics() {
    fixture.retune(AdmissionFixture.connects(acme), BucketSpec.ofRate(Rate.perMinute(3)));
    assertThat(connect("c1")).isEqualTo(200);
    assertThat(connect("c2")).isEqualTo(200);
    assertThat(connect("c3")).isEqualTo(429);
    Instant slot = slot();
    Duration wait = Duration.between(fixture.clock().instant(), slot);
    assertThat(connect("c4")).as("early").isEqualTo(429);

    assertThat(published("SlotWait")).containsExactly(wait.toMillis());
    assertThat(published("SlotDelay")).isEmpty();
    fixture.passUntil(slot.plusMillis(1_200));
    assertThat(connect("c5")).isEqualTo(200);
    assertThat(published("SlotWait")).hasSize(1);
    assertThat(published("SlotDelay")).containsExactly(1_200L);
  }

  private Instant slot() {
    Bucket bucket = fixture.buckets().find(AdmissionFixture.connects(acme)).orElseThrow();
    return bucket.line().orElseThrow().slot(1);
  }

  /** The published values of a metric in milliseconds, each with the tenant as a property. */
  private List<Long> published(String metric) {
    return context.logged().stream()
        .filter(line -> line.contains("\"Name\":\"" + metric + "\",\"Unit\":\"Milliseconds\""))
        .map(HandshakeTest::parsed)
        .filter(line -> line.path("tenantId").asText().equals("acme"))
        .map(line -> line.path(metric).longValue())
        .toList();
  }

  private static JsonNode parsed(String line) {
    try {
      return JSON.readTree(line);
    } catch (JsonProcessingException malformed) {
      throw new AssertionError(line, malformed);
    }
  }

  @Test
  void a_connection_over_the_rate_passes_the_authorizer_and_gets_429() {
    assertThat(connect("c1")).isEqualTo(200);
    assertThat(connect("c2")).isEqualTo(200);
    JsonNode third = authorize(parameters());
    assertThat(effect(third)).isEqualTo("Allow");
    assertThat(stringified(third)).containsEntry("verdict", "TENANT_RATE");
    assertThat(connect("c3")).isEqualTo(429);
    assertThat(fixture.sessions().count(acme.id())).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({
    "nobody, 00000000000000000000000000000000",
    "acme, 00000000000000000000000000000000",
    "ACME, 00000000000000000000000000000000",
    "acme, short",
    "'acme,acme', 00000000000000000000000000000000",
    "'', ''",
  })
  void unknown_or_malformed_ids_are_denied_without_a_token(String tenant, String id) {
    assertThat(effect(authorize(Map.of("tenantId", tenant, "sessionId", id)))).isEqualTo("Deny");
    assertThat(fixture.queue().available(AdmissionFixture.connects(acme))).isEqualTo(2);
  }

  @Test
  void why_a_handshake_got_no_token_is_logged() {
    fixture.queue().outage().begin();

    assertThat(connect("c1")).isEqualTo(200);
    assertThat(context.logged())
        .anySatisfy(line -> assertThat(line).startsWith("tenant acme: admitted without a token: "));

    fixture.queue().outage().beginWithoutCredentials();
    assertThat(connect("c2")).isEqualTo(503);
    assertThat(context.logged())
        .anySatisfy(
            line -> assertThat(line).contains("\"Outcome\":\"UNDECIDED\"", "\"failure\":\""));
  }

  @Test
  void a_handshake_without_credentials_is_undecided_whatever_the_tier_says() {
    fixture.facts().outage().beginWithoutCredentials();

    assertThat(connect("c1")).isEqualTo(503);
    assertThat(context.logged())
        .anySatisfy(
            line -> assertThat(line).contains("\"Outcome\":\"UNDECIDED\"", "\"failure\":\""));
  }

  @Test
  void a_malformed_session_id_is_not_logged() {
    String upper = session.value().toUpperCase(Locale.ROOT);
    for (String form : List.of(upper, session.value() + " ", "\n" + session.value(), upper + "x")) {
      authorize(Map.of("tenantId", "acme", "sessionId", form));
      authorize(Map.of("tenantId", form, "sessionId", session.value()));
    }

    assertThat(context.logged())
        .hasSize(8)
        .allSatisfy(
            line -> assertThat(line.toLowerCase(Locale.ROOT)).doesNotContain(session.value()));
  }

  @Test
  void a_tenant_id_cannot_forge_a_log_line() {
    authorize(
        Map.of("tenantId", "x\r\n{\"_aws\":1}\u001b[2K\u2028y", "sessionId", session.value()));

    assertThat(context.logged())
        .containsExactly(
            "denied: tenantId: \"x\\u000d\\u000a{\\\"_aws\\\":1}\\u001b[2K\\u2028y\""
                + " (expected: 1 to 36 lower-case letters, digits and hyphens; no hyphen first)");
  }

  @Test
  void missing_parameters_are_denied() {
    assertThat(effect(authorize(Map.of()))).isEqualTo("Deny");
  }

  @ParameterizedTest
  @EnumSource(Refusal.class)
  void every_refusal_has_its_status(Refusal refusal) {
    Map<String, Object> authorized = AuthorizerContext.of(acme.id(), session, refusal);
    assertThat(connect.handleRequest(LambdaEvents.route("c1", authorized), context).getStatusCode())
        .isEqualTo(refusal.status());
    assertThat(fixture.sessions().count(acme.id())).isZero();
  }

  @Test
  void a_connection_is_admitted_without_token_if_its_bucket_is_unavailable() {
    fixture.queue().outage().begin();
    assertThat(connect("c1")).isEqualTo(200);
    assertThat(context.logged())
        .anyMatch(
            line ->
                line.contains("\"Outcome\":\"ADMITTED_WITHOUT_TOKEN\"")
                    && line.contains("\"connectionId\":\"c1\""));
  }

  @Test
  void the_first_subprotocol_that_a_client_offers_is_selected() {
    var event = LambdaEvents.route("c1", stringified(authorize(parameters())));
    event.setHeaders(Map.of("Sec-WebSocket-Protocol", "chat.v2, chat.v1"));
    assertThat(connect.handleRequest(event, context).getHeaders())
        .isEqualTo(Map.of("Sec-WebSocket-Protocol", "chat.v2"));
  }
}
