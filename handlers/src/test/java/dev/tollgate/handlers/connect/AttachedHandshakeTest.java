package dev.tollgate.handlers.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.amazonaws.services.lambda.runtime.events.APIGatewayCustomAuthorizerEvent;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.ApplicationFunction;
import dev.tollgate.core.connect.ApplicationFunction.Answered;
import dev.tollgate.core.connect.ApplicationFunction.Failed;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.connect.OpenedConnections;
import dev.tollgate.core.connect.OpenedFacts;
import dev.tollgate.core.connect.OpenedSessions;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.tracing.Tracing;
import dev.tollgate.handlers.LambdaEvents;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.http.testing.RecordingContext;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The functions of an attached API's routes, in front of the application's. */
final class AttachedHandshakeTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String WELCOME =
      "{\"statusCode\":200,\"headers\":{\"Sec-WebSocket-Protocol\":\"chat\"},\"other\":[1]}";

  private final AdmissionFixture fixture = new AdmissionFixture();
  private final Tenant acme = fixture.onboard("acme", "gold", Map.of(Limit.TENANT_CONNECTIONS, 2L));
  private final OpenedConnections connections =
      new OpenedConnections(fixture.sessions(), fixture.sessions(), OpenedSessions.PER_CONNECTION);
  private final Metrics metrics = new Metrics(fixture.clock());
  private final List<String> events = new ArrayList<>();
  private final List<Duration> limits = new ArrayList<>();
  private ApplicationFunction.Reply reply = new Answered(WELCOME);
  private boolean throwing;
  private RecordingContext context = LambdaEvents.context();

  private final ApplicationFunction application =
      (event, limit) -> {
        events.add(event);
        limits.add(limit);
        if (throwing) {
          throw new IllegalStateException("planted");
        }
        return reply;
      };
  private ConnectAuthorizer authorizer = authorizer(Map.of("TENANT_PARAMETER", "workspace"));
  private AttachedConnect connect = connect(connections);
  private final AttachedDisconnect disconnect =
      new AttachedDisconnect(
          new Disconnect(new Disconnection(connections), Tracing.OFF), application);

  @ParameterizedTest
  @ValueSource(strings = {"query:token", "authorization", "subprotocol"})
  void a_handshake_with_a_malformed_token_is_denied_before_anything_is_read(String place) {
    ConnectAuthorizer tokens =
        authorizer(
            Map.of(
                "TOKEN_PLACE", place,
                "TOKEN_ISSUER", "https://127.0.0.1:1",
                "TOKEN_AUDIENCES", "chat",
                "TOKEN_ALGORITHMS", "RS256",
                "TOKEN_CLOCK_SKEW_SECONDS", "60",
                "TENANT_CLAIM", "tenant"));
    APIGatewayCustomAuthorizerEvent event = LambdaEvents.handshake(Map.of("token", "a.b.c"));
    event.setHeaders(
        Map.of(
            "authorization",
            "Bearer a.b.c",
            "sec-websocket-protocol",
            "chat, tollgate.bearer.a.b.c"));

    assertThat(JSON.valueToTree(tokens.handleRequest(event, context)).toString())
        .contains("\"Deny\"");
    assertThat(context.logged()).containsExactly("denied: the token is malformed");
  }

  private AttachedConnect connect(OpenedConnections in) {
    return new AttachedConnect(
        new Registration(
            in,
            fixture.heldTokens(),
            fixture.tally(),
            fixture.enforcement(),
            Runnable::run,
            pause -> {},
            fixture.clock()),
        application,
        metrics,
        Tracing.OFF);
  }

  private ConnectAuthorizer authorizer(Map<String, String> source) {
    return new ConnectAuthorizer(
        TenantSource.of(source, fixture.clock()),
        new Admission(
            new OpenedFacts(fixture.facts(), fixture.clock()),
            fixture.claims(),
            fixture.sessions(),
            fixture.tally(),
            fixture.enforcement(),
            Runnable::run,
            pause -> {},
            fixture.clock()),
        metrics,
        Tracing.OFF);
  }

  /** The event of a route, with the context of a new handshake and what Tollgate does not read. */
  private String event(String connectionId) throws IOException {
    JsonNode allowed =
        JSON.valueToTree(
            authorizer.handleRequest(
                LambdaEvents.handshake(Map.of("workspace", "acme", "user", "ann")), context));
    return "{\"ünknown\" : [1.0],\"requestContext\":{\"connectionId\":\""
        + connectionId
        + "\",\"authorizer\":"
        + allowed.get("context")
        + "}}";
  }

  private String connect(String event) throws IOException {
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    connect.handleRequest(input(event), answer, context);
    return answer.toString(StandardCharsets.UTF_8);
  }

  private static ByteArrayInputStream input(String event) {
    return new ByteArrayInputStream(event.getBytes(StandardCharsets.UTF_8));
  }

  private long tokens() {
    return fixture.queue().level(AdmissionFixture.connects(acme));
  }

  @Test
  void event_and_answer_are_passed_on_unchanged() throws IOException {
    String event = event("c1");
    assertThat(connect(event)).isEqualTo(WELCOME);
    assertThat(events).containsExactly(event);
    assertThat(fixture.sessions().count(acme.id())).isEqualTo(1);
    assertThat(String.join("\n", context.logged())).contains("\"Outcome\":\"ADMITTED\"");

    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    disconnect.handleRequest(input(event), answer, context);
    assertThat(answer.toString(StandardCharsets.UTF_8)).isEqualTo(WELCOME);
    assertThat(events).containsExactly(event, event);
    assertThat(fixture.sessions().count(acme.id())).isZero();
  }

  @Test
  void application_is_not_invoked_for_a_connection_that_a_limit_refuses() throws IOException {
    connect(event("c1"));
    connect(event("c2"));
    assertThat(connect(event("c3"))).isEqualTo("{\"statusCode\":429}");
    assertThat(events).hasSize(2);
  }

  @Test
  void refusal_of_the_application_undoes_the_admission() throws IOException {
    long full = tokens();
    reply = new Answered("{\"statusCode\":\"402\",\"body\":\"pay\"}");
    assertThat(connect(event("c1"))).isEqualTo("{\"statusCode\":\"402\",\"body\":\"pay\"}");
    assertThat(fixture.sessions().count(acme.id())).isZero();
    assertThat(tokens()).isEqualTo(full);
    assertThat(String.join("\n", context.logged())).contains("\"Outcome\":\"APPLICATION_REFUSED\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "{}",
        "{\"statusCode\":\"none\"}",
        "{\"statusCode\":4294967496}",
        "{\"statusCode\":200.9}",
        "{\"statusCode\":\" 200 \"}",
        "{\"statusCode\":\"200.7\"}",
        "{\"statusCode\":200} more",
        "{\"statusCode\":200}{\"statusCode\":403}",
        "{\"statusCode\":403,\"statusCode\":200}",
        "[",
        "200",
        "failed",
        "thrown"
      })
  void failure_of_the_application_undoes_the_admission(String answer) throws IOException {
    long full = tokens();
    reply = answer.equals("failed") ? new Failed("it threw") : new Answered(answer);
    throwing = answer.equals("thrown");
    assertThat(connect(event("c1"))).isEqualTo("{\"statusCode\":500}");
    assertThat(fixture.sessions().count(acme.id())).isZero();
    assertThat(tokens()).isEqualTo(full);
    assertThat(String.join("\n", context.logged())).contains("\"Outcome\":\"APPLICATION_FAILED\"");
  }

  @Test
  void refusals_of_the_application_use_up_no_rate_of_the_subject() throws IOException {
    authorizer = authorizer(Map.of("TENANT_PARAMETER", "workspace", "SUBJECT_PARAMETER", "user"));
    connect =
        connect(
            new OpenedConnections(
                fixture.sessions(), fixture.sessions(), OpenedSessions.PER_SUBJECT));
    reply = new Answered("{\"statusCode\":403}");
    for (int i = 0; i < 100; i++) {
      assertThat(connect(event("stranger" + i))).isEqualTo("{\"statusCode\":403}");
    }
    reply = new Answered(WELCOME);
    assertThat(connect(event("ann"))).isEqualTo(WELCOME);
  }

  @Test
  void application_gets_the_time_that_undoing_leaves_and_none_if_none_is_left() throws IOException {
    context = new RecordingContext(Duration.ofSeconds(29));
    connect(event("c1"));
    assertThat(limits).containsExactly(Duration.ofSeconds(23));

    context = new RecordingContext(AttachedConnect.FOR_UNDOING);
    assertThat(connect(event("c2"))).isEqualTo("{\"statusCode\":500}");
    assertThat(limits).hasSize(1);
    assertThat(fixture.sessions().count(acme.id())).isEqualTo(1);
  }

  @Test
  void applications_disconnect_is_invoked_although_the_removal_failed() throws IOException {
    String event = event("c1");
    connect(event);
    fixture.sessions().outage().begin("leave");
    assertThatThrownBy(
            () -> disconnect.handleRequest(input(event), new ByteArrayOutputStream(), context))
        .isInstanceOf(Unavailable.class);
    assertThat(events).containsExactly(event, event);
  }

  @Test
  void subjects_share_a_session_and_others_have_one_for_each_connection() {
    TenantSource alone = TenantSource.of(Map.of("TENANT_PARAMETER", "w"), fixture.clock());
    TenantSource subjects =
        TenantSource.of(Map.of("TENANT_PARAMETER", "w", "SUBJECT_PARAMETER", "u"), fixture.clock());
    APIGatewayCustomAuthorizerEvent ann = LambdaEvents.handshake(Map.of("w", "acme", "u", "ann"));
    APIGatewayCustomAuthorizerEvent bob = LambdaEvents.handshake(Map.of("w", "acme", "u", "bob"));

    assertThat(alone.caller(ann)).isNotEqualTo(alone.caller(ann));
    assertThat(subjects.caller(ann)).isEqualTo(subjects.caller(ann));
    assertThat(subjects.caller(ann)).isNotEqualTo(subjects.caller(bob));
    assertThatThrownBy(() -> subjects.caller(LambdaEvents.handshake(Map.of("w", "acme"))))
        .isInstanceOf(InvalidValue.class);
  }
}
