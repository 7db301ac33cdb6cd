package dev.tollgate.handlers.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.amazonaws.services.lambda.runtime.events.APIGatewayCustomAuthorizerEvent;
import com.amazonaws.services.lambda.runtime.events.IamPolicyResponse;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import com.sun.net.httpserver.HttpServer;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.ApplicationFunction;
import dev.tollgate.core.connect.ApplicationFunction.Answered;
import dev.tollgate.core.connect.OpenedConnections;
import dev.tollgate.core.connect.OpenedFacts;
import dev.tollgate.core.connect.OpenedSessions;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Subject;
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
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attacks on handshakes of an attached API; a failing test is a defect. */
final class AttachedAttackTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final AdmissionFixture fixture = new AdmissionFixture();
  private final Tenant acme = fixture.onboard("acme", "gold", Map.of(Limit.TENANT_CONNECTIONS, 2L));
  private final OpenedConnections connections =
      new OpenedConnections(fixture.sessions(), fixture.sessions(), OpenedSessions.PER_SUBJECT);
  private final Metrics metrics = new Metrics(fixture.clock());
  private final RecordingContext context = LambdaEvents.context();
  private final AtomicInteger requests = new AtomicInteger();
  private RSAKey key;
  private HttpServer issuer;
  private String url;
  private ApplicationFunction application = (event, limit) -> new Answered("{\"statusCode\":200}");

  @BeforeEach
  void publish() throws Exception {
    key = new RSAKeyGenerator(2_048).keyID("one").generate();
    issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    url = "http://127.0.0.1:" + issuer.getAddress().getPort();
    issuer.createContext(
        "/",
        exchange -> {
          requests.incrementAndGet();
          String body =
              exchange.getRequestURI().getPath().endsWith("configuration")
                  ? "{\"issuer\":\"" + url + "\",\"jwks_uri\":\"" + url + "/keys\"}"
                  : new JWKSet(key).toString(true);
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    issuer.start();
  }

  @AfterEach
  void stop() {
    issuer.stop(0);
  }

  private ConnectAuthorizer authorizer(String place) {
    return new ConnectAuthorizer(
        TenantSource.of(
            Map.of(
                "TOKEN_PLACE", place,
                "TOKEN_ISSUER", url,
                "TOKEN_AUDIENCES", "chat",
                "TOKEN_ALGORITHMS", "RS256",
                "TOKEN_CLOCK_SKEW_SECONDS", "60",
                "TENANT_CLAIM", "tenant",
                "SUBJECT_CLAIM", "sub"),
            fixture.clock()),
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

  private AttachedConnect connect() {
    return new AttachedConnect(
        new Registration(
            connections,
            fixture.heldTokens(),
            fixture.tally(),
            fixture.enforcement(),
            Runnable::run,
            pause -> {},
            fixture.clock()),
        (event, limit) -> application.invoke(event, limit),
        metrics,
        Tracing.OFF);
  }

  private String token(String tenant, String sub) throws Exception {
    String input =
        Base64URL.encode("{\"alg\":\"RS256\",\"kid\":\"one\"}")
            + "."
            + Base64URL.encode(
                "{\"iss\":\""
                    + url
                    + "\",\"aud\":\"chat\",\"exp\":4000000000,\"tenant\":"
                    + tenant
                    + ",\"sub\":"
                    + sub
                    + "}");
    return input
        + "."
        + new RSASSASigner(key)
            .sign(new JWSHeader(JWSAlgorithm.RS256), input.getBytes(StandardCharsets.US_ASCII));
  }

  private IamPolicyResponse decide(ConnectAuthorizer authorizer, String token) {
    APIGatewayCustomAuthorizerEvent event = LambdaEvents.handshake(Map.of("token", token));
    event.setHeaders(
        Map.of(
            "authorization", "Bearer " + token,
            "sec-websocket-protocol", "chat, tollgate.bearer." + token));
    return authorizer.handleRequest(event, context);
  }

  private String event(String connectionId, String sub) throws Exception {
    String allowed =
        JSON.valueToTree(decide(authorizer("query:token"), token("\"acme\"", sub)).getContext())
            .toString();
    return "{\"requestContext\":{\"connectionId\":\""
        + connectionId
        + "\",\"authorizer\":"
        + allowed
        + "}}";
  }

  private String connect(String event) throws IOException {
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    connect()
        .handleRequest(
            new ByteArrayInputStream(event.getBytes(StandardCharsets.UTF_8)), answer, context);
    return answer.toString(StandardCharsets.UTF_8);
  }

  private long tokens() {
    return fixture.queue().level(AdmissionFixture.connects(acme));
  }

  @Test
  void control_a_valid_token_is_admitted() throws Exception {
    assertThat(connect(event("c1", "\"ann\""))).isEqualTo("{\"statusCode\":200}");
    assertThat(fixture.sessions().count(acme.id())).isEqualTo(1);
  }

  /** Fourteen characters of a stranger: the header is base64url of "null". */
  @ParameterizedTest
  @ValueSource(strings = {"query:token", "authorization", "subprotocol"})
  void a_header_that_is_json_null_does_not_make_the_function_fail(String place) {
    assertThatCode(() -> decide(authorizer(place), "bnVsbA.e30.AA")).doesNotThrowAnyException();
  }

  @Test
  void different_subjects_have_different_sessions() {
    TenantId tenant = new TenantId("acme");
    assertThat(SessionId.of(Subject.of(tenant, "ann\ud800")))
        .isNotEqualTo(SessionId.of(Subject.of(tenant, "ann?")));
  }

  @Test
  void a_subject_with_half_a_surrogate_pair_does_not_make_the_function_fail() throws Exception {
    IamPolicyResponse response =
        decide(authorizer("query:token"), token("\"acme\"", "\"ann\\ud800\""));
    assertThatCode(
            () -> {
              byte[] written = JSON.writeValueAsBytes(response);
              assertThat(written).isNotEmpty();
            })
        .doesNotThrowAnyException();
  }

  @Test
  void an_adapter_that_throws_undoes_the_admission() throws Exception {
    long full = tokens();
    application =
        (event, limit) -> {
          throw new UncheckedIOException("Cannot decode string.", new MalformedInputException(1));
        };
    try {
      connect(event("c1", "\"ann\""));
    } catch (UncheckedIOException failed) {
      // the function fails: API Gateway refuses the connection
    }
    assertThat(fixture.sessions().count(acme.id())).isZero();
    assertThat(tokens()).isEqualTo(full);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"statusCode\":4294967496}",
        "{\"statusCode\":200.9}",
        "{\"statusCode\":\" 200 \"}",
        "{\"statusCode\":\"200.7\"}",
        "{\"statusCode\":200} garbage",
        "{\"statusCode\":200}{\"statusCode\":403}",
        "{\"statusCode\":403,\"statusCode\":200}"
      })
  void garbage_of_the_application_is_no_acceptance(String answer) throws Exception {
    application = (event, limit) -> new Answered(answer);
    connect(event("c1", "\"ann\""));
    assertThat(fixture.sessions().count(acme.id())).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 101, 199, 300, 301, 304, 400, 599, 600, 0, -200})
  void every_other_status_undoes(int status) throws Exception {
    long full = tokens();
    application = (event, limit) -> new Answered("{\"statusCode\":" + status + "}");
    connect(event("c1", "\"ann\""));
    assertThat(fixture.sessions().count(acme.id())).isZero();
    assertThat(tokens()).isEqualTo(full);
  }

  /** The application refuses ann again and again; her next good handshake is not limited by it. */
  @Test
  void refusals_of_the_application_do_not_use_up_the_subjects_rate() throws Exception {
    application = (event, limit) -> new Answered("{\"statusCode\":503}");
    String answer = "";
    for (int i = 0; i < 200 && !answer.contains("429"); i++) {
      answer = connect(event("c" + i, "\"ann\""));
    }
    assertThat(answer).isEqualTo("{\"statusCode\":503}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "7",
        "[\"acme\"]",
        "{\"a\":1}",
        "null",
        "true",
        "\"\"",
        "\"ACME\"",
        "\"acme_x\"",
        "\"acme\\n\"",
        "\" acme\"",
        "\"\\u0430cme\""
      })
  void odd_tenants_are_denied(String tenant) throws Exception {
    IamPolicyResponse response = decide(authorizer("query:token"), token(tenant, "\"ann\""));
    assertThat(JSON.valueToTree(response).toString()).contains("\"Deny\"");
  }

  /** "The function logs the reason, without the token." */
  @Test
  void a_tenant_claim_is_not_logged() throws Exception {
    decide(authorizer("query:token"), token("\"ann@private.example\"", "\"ann\""));
    assertThat(String.join("\n", context.logged())).doesNotContain("private");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ",",
        "chat",
        "tollgate.bearer.",
        "chat,tollgate.bearer.",
        "a,tollgate.bearer.x,tollgate.bearer.y",
        "tollgate.bearer.x",
        "TOLLGATE.BEARER.x,chat",
        " , ,tollgate.bearer.x"
      })
  void odd_subprotocols_are_denied(String value) {
    APIGatewayCustomAuthorizerEvent event = LambdaEvents.handshake(Map.of());
    event.setHeaders(Map.of("SEC-websocket-protocol", value));
    assertThat(JSON.valueToTree(authorizer("subprotocol").handleRequest(event, context)).toString())
        .contains("\"Deny\"");
    event.setHeaders(null);
    assertThat(JSON.valueToTree(authorizer("subprotocol").handleRequest(event, context)).toString())
        .contains("\"Deny\"");
    assertThat(requests).hasValue(0);
  }

  /** Query parameters: a stranger names ann, the application refuses each time; then ann comes. */
  @Test
  void a_stranger_whom_the_application_refuses_does_not_make_ann_be_refused() throws Exception {
    ConnectAuthorizer parameters =
        new ConnectAuthorizer(
            TenantSource.of(
                Map.of("TENANT_PARAMETER", "w", "SUBJECT_PARAMETER", "u"), fixture.clock()),
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
    int tries = 0;
    String answer = "";
    application = (event, limit) -> new Answered("{\"statusCode\":403}");
    while (tries < 100 && !answer.contains("429")) {
      answer = connect(parameterEvent(parameters, "stranger" + tries++, "ann"));
    }
    application = (event, limit) -> new Answered("{\"statusCode\":200}");
    String bob = connect(parameterEvent(parameters, "bob", "bob"));
    String ann = connect(parameterEvent(parameters, "ann", "ann"));
    assertThat(bob).isEqualTo("{\"statusCode\":200}");
    assertThat(ann).as("after " + tries + " refusals").isEqualTo("{\"statusCode\":200}");
  }

  private String parameterEvent(ConnectAuthorizer parameters, String connectionId, String user) {
    return "{\"requestContext\":{\"connectionId\":\""
        + connectionId
        + "\",\"authorizer\":"
        + JSON.valueToTree(
                parameters
                    .handleRequest(LambdaEvents.handshake(Map.of("w", "acme", "u", user)), context)
                    .getContext())
            .toString()
        + "}}";
  }

  /** The queue fails while the application's refusal is undone. */
  @Test
  void a_failing_queue_does_not_hide_the_applications_answer() throws Exception {
    application =
        (event, limit) -> {
          fixture.queue().outage().begin("send");
          return new Answered("{\"statusCode\":403}");
        };
    assertThat(connect(event("c1", "\"ann\""))).isEqualTo("{\"statusCode\":403}");
    assertThat(fixture.sessions().count(acme.id())).isZero();
  }

  /** $disconnect is handled while the application's $connect still runs and then refuses. */
  @Test
  void a_disconnect_before_the_applications_refusal_is_not_subtracted_twice() throws Exception {
    connect(event("c0", "\"bob\""));
    long full = tokens();
    String event = event("c1", "\"ann\"");
    AttachedDisconnect disconnect =
        new AttachedDisconnect(
            new Disconnect(new dev.tollgate.core.connect.Disconnection(connections), Tracing.OFF),
            (e, l) -> new Answered("{}"));
    application =
        (e, limit) -> {
          try {
            disconnect.handleRequest(
                new ByteArrayInputStream(event.getBytes(StandardCharsets.UTF_8)),
                new ByteArrayOutputStream(),
                context);
          } catch (IOException failed) {
            throw new UncheckedIOException(failed);
          }
          return new Answered("{\"statusCode\":403}");
        };
    connect(event);
    assertThat(fixture.sessions().count(acme.id())).isEqualTo(1);
    assertThat(tokens()).isEqualTo(full);
  }

  /** The row of the connection cannot be removed at the moment of the refusal. */
  @Test
  void an_outage_of_a_moment_while_undoing_does_not_keep_the_count() throws Exception {
    application =
        (event, limit) -> {
          fixture.sessions().outage().begin("leave");
          return new Answered("{\"statusCode\":403}");
        };
    connect(event("c1", "\"ann\""));
    assertThat(fixture.sessions().count(acme.id())).isZero();
  }
}
