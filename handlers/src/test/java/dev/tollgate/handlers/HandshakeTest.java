package dev.tollgate.handlers;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.IamPolicyResponse;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.session.Lifetime;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.http.testing.RecordingContext;
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
 * Authorizer, {@code $connect} and {@code $disconnect} after each other, as API Gateway invokes
 * them.
 */
final class HandshakeTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final AdmissionFixture town = new AdmissionFixture();
  private final Tenant acme = town.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 2L));
  private final SessionId session = town.open(acme);
  private final RecordingContext context = Events.context();
  private final Telemetry telemetry = new Telemetry(town.clock());
  private final ConnectAuthorizer authorizer =
      new ConnectAuthorizer(
          new Admission(
              town.facts(), town.gate(), town.tally(), Runnable::run, pause -> {}, town.clock()),
          telemetry);
  private final Connect connect =
      new Connect(
          new Registration(
              town.sessions(),
              town.heldTokens(),
              town.tally(),
              Runnable::run,
              duration -> {},
              town.clock()),
          telemetry);
  private final Disconnect disconnect = new Disconnect(new Disconnection(town.sessions()));

  private JsonNode authorize(Map<String, String> parameters) {
    IamPolicyResponse response = authorizer.handleRequest(Events.handshake(parameters), context);
    return JSON.valueToTree(response);
  }

  /** API Gateway hands every value of the context on as text. */
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
    return connect.handleRequest(Events.route(connectionId, authorized), context).getStatusCode();
  }

  private static String effect(JsonNode response) {
    return response.at("/policyDocument/Statement/0/Effect").asText();
  }

  @Test
  void a_connection_is_allowed_registered_and_taken_off_the_books() {
    JsonNode allowed = authorize(parameters());
    assertThat(effect(allowed)).isEqualTo("Allow");
    assertThat(allowed.at("/policyDocument/Statement/0/Resource/0").asText())
        .isEqualTo(Events.METHOD_ARN);
    assertThat(allowed.get("context")).allMatch(JsonNode::isValueNode);
    Map<String, Object> authorized = stringified(allowed);
    assertThat(connect.handleRequest(Events.route("c1", authorized), context).getStatusCode())
        .isEqualTo(200);
    assertThat(town.sessions().count(acme.id())).isEqualTo(1);
    disconnect.handleRequest(Events.route("c1", authorized), context);
    assertThat(town.sessions().count(acme.id())).isZero();
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
            lifetime);
    town.sessions().create(brief);

    JsonNode allowed = authorize(parameters());
    assertThat(stringified(allowed)).containsEntry("lastsUntil", "2026-03-01T12:00:30Z");
    assertThat(connect("c1")).isEqualTo(200);

    assertThat(town.sessions().find(acme.id(), session).orElseThrow().endsAt())
        .isEqualTo(AdmissionFixture.START.plusSeconds(30));
  }

  @Test
  void whoever_is_over_the_rate_is_allowed_by_the_authorizer_and_refused_with_429() {
    assertThat(connect("c1")).isEqualTo(200);
    assertThat(connect("c2")).isEqualTo(200);
    JsonNode third = authorize(parameters());
    assertThat(effect(third)).isEqualTo("Allow");
    assertThat(stringified(third)).containsEntry("verdict", "TENANT_RATE");
    assertThat(connect("c3")).isEqualTo(429);
    assertThat(town.sessions().count(acme.id())).isEqualTo(2);
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
  void ids_that_are_unknown_or_malformed_are_denied_and_change_nothing(String tenant, String id) {
    assertThat(effect(authorize(Map.of("tenantId", tenant, "sessionId", id)))).isEqualTo("Deny");
    assertThat(town.queue().available(AdmissionFixture.connects(acme))).isEqualTo(2);
  }

  @Test
  void a_session_that_is_sent_in_another_form_is_in_no_log_line() {
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
  void a_tenant_id_forges_no_log_line() {
    authorize(
        Map.of("tenantId", "x\r\n{\"_aws\":1}\u001b[2K\u2028y", "sessionId", session.value()));

    assertThat(context.logged())
        .containsExactly(
            "denied: tenantId: \"x\\u000d\\u000a{\\\"_aws\\\":1}\\u001b[2K\\u2028y\""
                + " (expected: [a-z0-9][a-z0-9-]{0,35})");
  }

  @Test
  void missing_parameters_are_denied() {
    assertThat(effect(authorize(Map.of()))).isEqualTo("Deny");
  }

  @ParameterizedTest
  @EnumSource(Refusal.class)
  void every_refusal_becomes_its_status(Refusal refusal) {
    Map<String, Object> authorized = TicketContext.of(acme.id(), session, refusal);
    assertThat(connect.handleRequest(Events.route("c1", authorized), context).getStatusCode())
        .isEqualTo(refusal.status());
    assertThat(town.sessions().count(acme.id())).isZero();
  }

  @Test
  void a_bucket_that_cannot_be_asked_admits_and_is_counted() {
    town.queue().outage().begin();
    assertThat(connect("c1")).isEqualTo(200);
    assertThat(context.logged())
        .anyMatch(line -> line.contains("\"Outcome\":\"ADMITTED_WITHOUT_TOKEN\""));
  }

  @Test
  void one_of_the_subprotocols_that_a_client_offers_comes_back() {
    var event = Events.route("c1", stringified(authorize(parameters())));
    event.setHeaders(Map.of("Sec-WebSocket-Protocol", "chat.v2, chat.v1"));
    assertThat(connect.handleRequest(event, context).getHeaders())
        .isEqualTo(Map.of("Sec-WebSocket-Protocol", "chat.v2"));
  }
}
