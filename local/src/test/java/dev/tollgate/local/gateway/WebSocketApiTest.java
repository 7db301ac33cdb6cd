package dev.tollgate.local.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.local.gateway.mapping.Integration;
import dev.tollgate.local.gateway.mapping.ServiceCalls;
import dev.tollgate.local.hosts.AllowedHosts;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.testing.ManualClock;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class WebSocketApiTest {

  private static final Instant START = Instant.parse("2026-03-12T19:03:58.390Z");
  private static final String ALLOW =
      """
      {"principalId":"acme","context":{"tenantId":"acme","limit":3,"ok":true},
       "policyDocument":{"Version":"2012-10-17","Statement":[{"Effect":"Allow",
       "Action":"execute-api:Invoke","Resource":"%s"}]}}""";

  private final ManualClock clock = new ManualClock(START);
  private final ScriptedFunctions functions = new ScriptedFunctions();
  private volatile ServiceCalls service = NoServices.INSTANCE;
  private RouteLimits limits = RouteLimits.NONE;
  private final Gateway gateway =
      new Gateway(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
          new AllowedHosts(Set.of("laptop.lan")),
          functions,
          (integration, target, headers, body) -> service.call(integration, target, headers, body),
          Environment.of("App", clock),
          handler -> handler,
          line -> {});

  @BeforeEach
  void addApi() {
    gateway.add(
        ScriptedFunctions.api(
            Map.of(
                "$connect", "connect",
                "$disconnect", "disconnect",
                "$default", "default",
                "say", "say"),
            Optional.of(
                new WebSocketApiSpec.Authorizer(
                    "authorizer",
                    List.of(
                        "route.request.querystring.tenantId",
                        "route.request.querystring.sessionId")))));
    functions.define(
        "authorizer",
        event -> ScriptedFunctions.success(ALLOW.formatted(event.path("methodArn").asText())));
    for (String function : List.of("connect", "disconnect", "default", "say")) {
      functions.define(function, "{\"statusCode\":200}");
    }
  }

  @AfterEach
  void close() {
    gateway.close();
    functions.close();
  }

  @Test
  void handshake_that_all_allow_connects() {
    Client.Connected connected = connect();

    assertThat(functions.events("connect")).hasSize(1);
    connected.socket().abort();
  }

  @Test
  void handshake_of_another_sites_page_is_forbidden_before_the_authorizer() throws Exception {
    assertThat(Client.status(uri(), "Origin", "https://evil.example")).isEqualTo(403);
    assertThat(Client.status(uri(), "Origin", "null")).isEqualTo(403);
    assertThat(functions.events("authorizer")).isEmpty();

    assertThat(Client.status(uri(), "Origin", "http://localhost:3000")).isEqualTo(101);
  }

  @Test
  void page_that_was_opened_by_an_allowed_name_connects_to_the_address_that_it_is_told()
      throws Exception {
    int port = gateway.address().getPort();

    assertThat(Client.status(uri(), "Origin", "http://laptop.lan:" + port)).isEqualTo(101);
    assertThat(Client.status(uri(), "Origin", "http://laptop.lan:" + (port - 1))).isEqualTo(403);
    assertThat(Client.status(uri(), "Origin", "http://other.lan:" + port)).isEqualTo(403);
  }

  @Test
  void authorizer_gets_the_event_of_api_gateway() {
    connect("X-Thing", "one");

    JsonNode event = functions.events("authorizer").get(0);
    assertThat(event.path("type").asText()).isEqualTo("REQUEST");
    assertThat(event.path("methodArn").asText())
        .isEqualTo("arn:aws:execute-api:us-east-1:000000000000:ws1/production/$connect");
    assertThat(event.path("headers").path("X-Thing").asText()).isEqualTo("one");
    assertThat(event.path("multiValueHeaders").path("X-Thing").toString()).isEqualTo("[\"one\"]");
    assertThat(event.path("queryStringParameters").toString())
        .isEqualTo("{\"sessionId\":\"s1\",\"tenantId\":\"acme\"}");
    assertThat(event.path("multiValueQueryStringParameters").toString())
        .isEqualTo("{\"sessionId\":[\"s1\"],\"tenantId\":[\"acme\"]}");
    assertThat(event.path("stageVariables").isObject()).isTrue();
    JsonNode context = event.path("requestContext");
    assertThat(context.path("routeKey").asText()).isEqualTo("$connect");
    assertThat(context.path("eventType").asText()).isEqualTo("CONNECT");
    assertThat(context.path("messageDirection").asText()).isEqualTo("IN");
    assertThat(context.path("stage").asText()).isEqualTo("production");
    assertThat(context.path("apiId").asText()).isEqualTo("ws1");
    assertThat(context.path("requestTime").asText()).isEqualTo("12/Mar/2026:19:03:58 +0000");
    assertThat(context.path("requestTimeEpoch").asLong()).isEqualTo(START.toEpochMilli());
    assertThat(context.path("connectedAt").asLong()).isEqualTo(START.toEpochMilli());
    assertThat(context.path("identity").path("sourceIp").asText()).isEqualTo("127.0.0.1");
    assertThat(context.path("connectionId").asText()).matches("[\\w-]{15}=");
    assertThat(context.has("authorizer")).isFalse();
  }

  @Test
  void connect_route_gets_the_authorizers_context_as_strings() {
    connect();

    JsonNode event = functions.events("connect").get(0);
    assertThat(event.path("queryStringParameters").path("tenantId").asText()).isEqualTo("acme");
    assertThat(event.has("methodArn")).isFalse();
    assertThat(event.path("isBase64Encoded").isBoolean()).isTrue();
    JsonNode authorizer = event.path("requestContext").path("authorizer");
    assertThat(authorizer.path("principalId").asText()).isEqualTo("acme");
    assertThat(authorizer.path("limit").toString()).isEqualTo("\"3\"");
    assertThat(authorizer.path("ok").toString()).isEqualTo("\"true\"");
    assertThat(authorizer.path("integrationLatency").isNumber()).isTrue();
    assertThat(event.at("/requestContext/connectionId"))
        .isEqualTo(functions.events("authorizer").get(0).at("/requestContext/connectionId"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?tenantId=acme", "?tenantId=&sessionId=s1", "?sessionId=s1"})
  void handshake_without_an_identity_source_is_401_and_the_authorizer_not_asked(String query) {
    assertThat(Client.status(uri(query))).isEqualTo(401);
    assertThat(functions.events("authorizer")).isEmpty();
  }

  @Test
  void handshake_the_authorizer_fails_has_the_documented_status() {
    Map<InvocationResult, Integer> statuses =
        Map.of(
            ScriptedFunctions.error("Unauthorized"),
            401,
            ScriptedFunctions.error("other"),
            500,
            InvocationResult.Failure.timedOut("1", Duration.ofSeconds(1)),
            500,
            new InvocationResult.Throttled("x"),
            500,
            ScriptedFunctions.success(ALLOW.formatted("*").replace("Allow", "Deny")),
            403,
            ScriptedFunctions.success(ALLOW.formatted("arn:other")),
            403,
            ScriptedFunctions.success(ALLOW.formatted("*").replace("true", "[]")),
            500);
    statuses.forEach(
        (end, status) -> {
          functions.define("authorizer", event -> end);
          assertThat(Client.status(uri())).as(end.toString()).isEqualTo(status);
        });
    assertThat(functions.events("connect")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"429, 429", "400, 400", "503, 503", "302, 302", "1008, 500", "0, 500"})
  void handshake_that_connect_refuses_has_its_status(int answered, int status) {
    functions.define("connect", "{\"statusCode\":" + answered + "}");

    assertThat(Client.status(uri())).isEqualTo(status);
  }

  @Test
  void handshake_that_connect_refuses_has_neither_its_headers_nor_its_body() throws Exception {
    functions.define(
        "connect", "{\"statusCode\":429,\"headers\":{\"Retry-After\":\"7\"},\"body\":\"no\"}");

    HttpResponse<?> response = Client.refusal(uri());

    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(response.headers().firstValue("retry-after")).isEmpty();
    assertThat(response.headers().firstValue("content-length")).hasValue("0");
    gateway.settle();
    assertThat(functions.events("disconnect")).isEmpty();
  }

  @Test
  void handshake_that_connect_fails_is_500() {
    for (InvocationResult end :
        List.of(
            ScriptedFunctions.error("no"),
            ScriptedFunctions.success("{}"),
            ScriptedFunctions.success("null"),
            ScriptedFunctions.success("not json"),
            new InvocationResult.NotFound("connect"))) {
      functions.define("connect", event -> end);
      assertThat(Client.status(uri())).as(end.toString()).isEqualTo(500);
    }
  }

  @Test
  void handshake_forwards_the_subprotocol_alone() {
    functions.define(
        "connect",
        "{\"statusCode\":200,\"headers\":{\"sec-websocket-protocol\":\"chat\",\"x\":\"y\"}}");

    assertThat(connect("Sec-WebSocket-Protocol", "chat").socket().getSubprotocol())
        .isEqualTo("chat");
  }

  @Test
  void handshake_with_a_long_url_is_414() {
    String query = "?tenantId=acme&sessionId=";
    String path = "/ws1/production";

    assertThat(Client.status(uri(query + "s".repeat(4096 - (path + query).length()))))
        .isEqualTo(101);
    assertThat(Client.status(uri(query + "s".repeat(4097 - (path + query).length()))))
        .isEqualTo(414);
  }

  @Test
  void request_without_upgrade_or_to_another_stage_is_refused() throws Exception {
    URI http = URI.create(uri().toString().replace("ws:", "http:"));

    assertThat(get(http)).isEqualTo(426);
    assertThat(get(URI.create(http.toString().replace("production", "test")))).isEqualTo(403);
  }

  @Test
  void disconnect_route_learns_of_the_clients_close_once() throws Exception {
    Client.Connected connected = connect();

    connected.socket().sendClose(4001, "enough").join();

    JsonNode event = disconnected();
    assertThat(event.at("/requestContext/eventType").asText()).isEqualTo("DISCONNECT");
    assertThat(event.at("/requestContext/routeKey").asText()).isEqualTo("$disconnect");
    assertThat(event.at("/requestContext/disconnectStatusCode").asInt()).isEqualTo(4001);
    assertThat(event.at("/requestContext/disconnectReason").asText()).isEqualTo("enough");
    assertThat(event.at("/requestContext/authorizer/tenantId").asText()).isEqualTo("acme");
    assertThat(event.at("/requestContext/connectionId"))
        .isEqualTo(functions.events("connect").get(0).at("/requestContext/connectionId"));
    assertThat(event.at("/headers/Host").asText())
        .isEqualTo("ws1.execute-api.us-east-1.amazonaws.com");
  }

  @Test
  void disconnect_route_learns_of_a_broken_socket() throws Exception {
    connect().socket().abort();

    assertThat(disconnected().at("/requestContext/disconnectStatusCode").asInt()).isEqualTo(1006);
  }

  @Test
  void disconnect_route_learns_of_a_close_without_a_status() throws Exception {
    try (Socket socket = rawConnect()) {
      socket.getOutputStream().write(new byte[] {(byte) 0x88, (byte) 0x80, 0, 0, 0, 0});

      JsonNode context = disconnected().path("requestContext");
      assertThat(context.path("disconnectStatusCode").asInt()).isEqualTo(1005);
      assertThat(context.path("disconnectReason").asText())
          .isEqualTo("Client-side close frame status not set");
    }
  }

  @Test
  void messages_of_a_connection_are_handled_one_after_the_other() throws Exception {
    Client.Connected first = connect();
    Client.Connected second = connect();
    CompletableFuture<Boolean> release = new CompletableFuture<>();
    functions.define(
        "say",
        event -> {
          if (event.path("body").asText().contains("wait")) {
            release.join();
          }
          return ScriptedFunctions.success("{\"statusCode\":200}");
        });

    first.send("{\"action\":\"say\",\"message\":\"wait\"}");
    functions.await("say", 1);
    first.send("{\"action\":\"other\"}");
    second.send("{\"action\":\"say\"}");
    functions.await("say", 2);
    assertThat(functions.events("default")).isEmpty();

    release.complete(true);
    functions.await("default", 1);
  }

  @Test
  void function_is_heard_on_a_route_with_a_response_only() throws Exception {
    functions.define("say", "{\"statusCode\":200,\"body\":\"hello\"}");
    Integration say = ScriptedFunctions.integration("say");
    Client.Connected client =
        connectTo(
            "ws3",
            Map.of(
                "loud", new WebSocketApiSpec.Route(say, true),
                "still", new WebSocketApiSpec.Route(say, false)));

    client.send("{\"action\":\"still\"}");
    client.send("{\"action\":\"loud\"}");
    client.send("{\"action\":\"unknown\"}");

    assertThat(client.nextMessage()).isEqualTo("hello");
    assertThat(client.nextMessage()).contains("Forbidden");
  }

  @Test
  void service_gets_what_parameters_and_template_make_of_a_message() throws Exception {
    service =
        (integration, target, headers, body) ->
            new ServiceCalls.Answer(
                200,
                new ObjectMapper()
                    .createObjectNode()
                    .put("role", integration.roleArn())
                    .put("target", integration.method() + " " + target)
                    .put("headers", headers.toString())
                    .put("body", body)
                    .put("timeout", integration.timeout().toString())
                    .toString());
    Client.Connected client =
        connectTo(
            "ws3",
            Map.of(
                "say",
                new WebSocketApiSpec.Route(
                    new Integration.Service(
                        "arn:role",
                        "sqs",
                        "POST",
                        "/1/{stage}_{who}",
                        Map.of(
                            "integration.request.path.stage", "context.stage",
                            "integration.request.path.who", "route.request.body.who",
                            "integration.request.header.X", "'text'",
                            "integration.request.querystring.q", "stageVariables.colour"),
                        "$input.path('$.who')-$stageVariables.colour-$context.routeKey",
                        Duration.ofSeconds(3),
                        List.of(new Integration.Response("$default", Optional.empty()))),
                    true)));

    client.send("{\"action\":\"say\",\"who\":\"a/b c\"}");

    JsonNode request = new ObjectMapper().readTree(client.nextMessage());
    assertThat(request.path("role").asText()).isEqualTo("arn:role");
    assertThat(request.path("target").asText()).isEqualTo("POST /1/test_a%2Fb%20c?q=red");
    assertThat(request.path("headers").asText()).isEqualTo("{X=text}");
    assertThat(request.path("body").asText()).isEqualTo("a/b c-red-say");
    assertThat(request.path("timeout").asText()).isEqualTo("PT3S");
  }

  @ParameterizedTest
  @CsvSource({"200, fine", "404, refused", "500, other", "302, other"})
  void answer_of_a_service_is_chosen_by_its_status(int status, String frame) throws Exception {
    service = (integration, target, headers, body) -> new ServiceCalls.Answer(status, "{}");
    Client.Connected client =
        connectTo(
            "ws3",
            Map.of(
                "say",
                service(
                    "x",
                    new Integration.Response("$default", Optional.of("other")),
                    new Integration.Response("/2\\d\\d/", Optional.of("fine")),
                    new Integration.Response("/4\\d\\d/", Optional.of("refused")))));

    client.send("{\"action\":\"say\"}");

    assertThat(client.nextMessage()).isEqualTo(frame);
  }

  @Test
  void integration_that_fails_is_answered_by_the_gateway() throws Exception {
    Integration.Response fine = new Integration.Response("/200/", Optional.of("fine"));
    Client.Connected client =
        connectTo(
            "ws3",
            Map.of(
                "request", service("#if(", fine),
                "response",
                    service(
                        "x",
                        new Integration.Response("$default", Optional.of("$input.path('$.a')"))),
                "status", service("x", fine),
                "mock",
                    new WebSocketApiSpec.Route(
                        new Integration.Mock("no JSON", List.of(fine)), true)));
    service = (integration, target, headers, body) -> new ServiceCalls.Answer(400, "<no JSON>");
    for (String action : List.of("request", "response", "status", "mock")) {
      client.send("{\"action\":\"" + action + "\"}");
      assertInternalError(client);
    }
    service =
        (integration, target, headers, body) -> {
          throw new HttpTimeoutException("request timed out");
        };
    client.send("{\"action\":\"response\"}");
    assertComplaint(client, "Endpoint request timed out");
  }

  @Test
  void function_that_takes_too_long_is_answered_by_the_gateway() throws Exception {
    CompletableFuture<InvocationResult> never = new CompletableFuture<>();
    functions.define("say", event -> never.join());
    Client.Connected client = connect();
    client.send("{\"action\":\"say\"}");
    functions.await("say", 1);

    clock.advance(Duration.ofMinutes(1));
    gateway.sweep();

    assertComplaint(client, "Endpoint request timed out");
  }

  @ParameterizedTest
  @CsvSource({"authorizer, 29, 500", "connect, 60, 504"})
  void handshake_is_refused_if_a_function_takes_too_long(String function, int seconds, int status)
      throws Exception {
    CompletableFuture<InvocationResult> never = new CompletableFuture<>();
    functions.define(function, event -> never.join());
    CompletableFuture<Integer> refused = CompletableFuture.supplyAsync(() -> Client.status(uri()));
    functions.await(function, 1);

    clock.advance(Duration.ofSeconds(seconds).minusMillis(1));
    gateway.sweep();
    assertThat(refused).isNotDone();
    clock.advance(Duration.ofMillis(1));
    gateway.sweep();

    assertThat(refused.get(5, TimeUnit.SECONDS)).isEqualTo(status);
  }

  @Test
  void message_beyond_the_limit_of_its_route_is_answered_by_the_gateway() throws Exception {
    RateLimit one = new RateLimit(1, 1);
    limits = new RouteLimits(RateLimit.OF_ACCOUNTS, Map.of("say", one, "$connect", one));
    WebSocketApiSpec.Route route =
        new WebSocketApiSpec.Route(ScriptedFunctions.integration("say"), false);
    Client.Connected client = connectTo("ws3", Map.of("say", route, "shout", route));

    client.send("{\"action\":\"say\"}");
    client.send("{\"action\":\"say\"}");
    assertComplaint(client, "Too Many Requests");
    client.send("{\"action\":\"shout\"}");
    functions.await("say", 2);

    clock.advance(Duration.ofSeconds(1_000));
    client.send("{\"action\":\"say\"}");
    functions.await("say", 3);
  }

  @Test
  void handshake_beyond_the_limit_of_its_route_is_throttled() throws Exception {
    limits = new RouteLimits(new RateLimit(1, 1), Map.of());
    connectTo("ws3", Map.of());
    URI other = URI.create(gateway.endpoint("ws", "ws3") + "/test");

    assertThat(Client.status(other)).isEqualTo(429);
    assertThat(Client.refusal(other).headers().map()).doesNotContainKey("retry-after");
    assertThat(Client.status(uri())).isEqualTo(101);

    clock.advance(Duration.ofSeconds(1_000));
    assertThat(Client.status(other)).isEqualTo(101);
  }

  @Test
  void mock_answers_by_itself() throws Exception {
    Client.Connected client =
        connectTo(
            "ws3",
            Map.of(
                "$default",
                new WebSocketApiSpec.Route(
                    new Integration.Mock(
                        "{\"statusCode\":404}",
                        List.of(
                            new Integration.Response("/404/", Optional.of("$context.routeKey")))),
                    true)));

    client.send("not JSON");

    assertThat(client.nextMessage()).isEqualTo("$default");
  }

  @Test
  void templates_cannot_reach_the_machine() throws Exception {
    service = (integration, target, headers, body) -> new ServiceCalls.Answer(200, body);
    Client.Connected client =
        connectTo(
            "ws3",
            Map.of(
                "say",
                service(
                    "[$!input.getClass().getClassLoader()]",
                    new Integration.Response("$default", Optional.empty()))));

    client.send("{\"action\":\"say\"}");

    assertThat(client.nextMessage()).isEqualTo("[]");
  }

  private static WebSocketApiSpec.Route service(
      String template, Integration.Response... responses) {
    return new WebSocketApiSpec.Route(
        new Integration.Service(
            "arn:role",
            "sqs",
            "POST",
            "/",
            Map.of(),
            template,
            Duration.ofSeconds(29),
            List.of(responses)),
        true);
  }

  private static void assertInternalError(Client.Connected client) throws Exception {
    assertComplaint(client, "Internal server error");
  }

  private static void assertComplaint(Client.Connected client, String message) throws Exception {
    JsonNode answer = new ObjectMapper().readTree(client.nextMessage());
    assertThat(answer.path("message").asText()).isEqualTo(message);
    assertThat(answer.path("connectionId").asText()).hasSize(16);
    assertThat(answer.path("requestId").asText()).hasSize(16);
  }

  /** Connects to an API of some routes, without an authorizer. */
  private Client.Connected connectTo(String apiId, Map<String, WebSocketApiSpec.Route> routes) {
    gateway.add(
        new WebSocketApiSpec(
            apiId,
            "test",
            "$request.body.action",
            routes,
            Optional.empty(),
            limits,
            Map.of("colour", "red")));
    return Client.connect(URI.create(gateway.endpoint("ws", apiId) + "/test"));
  }

  @Test
  void connection_idle_for_ten_minutes_is_closed() throws Exception {
    Client.Connected connected = connect();

    clock.advance(Duration.ofMinutes(9));
    connected.send("{}");
    functions.await("default", 1);
    clock.advance(Duration.ofMinutes(9).plusSeconds(59));
    gateway.settle();
    assertThat(functions.events("disconnect")).isEmpty();

    clock.advance(Duration.ofSeconds(1));
    gateway.settle();
    assertThat(connected.closeCode()).isEqualTo(1001);
    assertThat(disconnected().at("/requestContext/disconnectStatusCode").asInt()).isEqualTo(1001);
  }

  @Test
  void connection_is_kept_alive_by_pings() throws Exception {
    Client.Connected connected = connect();
    for (int i = 0; i < 3; i++) {
      clock.advance(Duration.ofMinutes(9));
      connected.socket().sendPing(ByteBuffer.allocate(0)).join();
      connected.send("{\"action\":\"say\"}");
      functions.await("say", i + 1);
      gateway.settle();
    }
    assertThat(functions.events("disconnect")).isEmpty();
  }

  @Test
  void connection_open_for_two_hours_is_closed_however_busy() throws Exception {
    Client.Connected connected = connect();
    for (int i = 1; i <= 13; i++) {
      clock.advance(Duration.ofMinutes(9));
      connected.send("{}");
      functions.await("default", i);
    }
    assertThat(functions.events("disconnect")).isEmpty();

    clock.advance(Duration.ofMinutes(3));
    gateway.settle();

    assertThat(connected.closeCode()).isEqualTo(1001);
    assertThat(disconnected().at("/requestContext/disconnectReason").asText())
        .isEqualTo("Going away");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"action\":\"say\",\"x\":1}|say",
        "{\"action\":\"other\"}|default",
        "{\"action\":{}}|default",
        "{\"action\":\"$connect\"}|default",
        "{}|default",
        "[1]|default",
        "not json|default",
      })
  void message_takes_the_route_that_it_selects(String message, String function) throws Exception {
    connect().send(message);

    functions.await(function, 1);
    JsonNode event = functions.events(function).get(0);
    assertThat(event.path("body").asText()).isEqualTo(message);
    JsonNode context = event.path("requestContext");
    assertThat(context.path("eventType").asText()).isEqualTo("MESSAGE");
    assertThat(context.path("routeKey").asText())
        .isEqualTo(function.equals("say") ? "say" : "$default");
    assertThat(context.path("messageId").asText()).isNotEmpty();
    assertThat(context.path("authorizer").path("tenantId").asText()).isEqualTo("acme");
    assertThat(functions.events("connect")).hasSize(1);
  }

  @Test
  void message_without_a_route_is_forbidden() throws Exception {
    gateway.add(
        new WebSocketApiSpec(
            "ws2",
            "test",
            "${request.body.action}",
            Map.of(),
            Optional.empty(),
            RouteLimits.NONE,
            Map.of()));
    Client.Connected connected =
        Client.connect(URI.create(gateway.endpoint("ws", "ws2") + "/test"));

    connected.send("hello");

    JsonNode answer = new ObjectMapper().readTree(connected.nextMessage());
    assertThat(answer.path("message").asText()).isEqualTo("Forbidden");
    assertThat(answer.path("connectionId").asText()).hasSize(16);
    assertThat(answer.path("requestId").asText()).hasSize(16);
  }

  @Test
  void message_whose_function_fails_is_answered_so() throws Exception {
    functions.define("say", event -> ScriptedFunctions.error("no"));
    Client.Connected connected = connect();

    connected.send("{\"action\":\"say\"}");

    assertThat(connected.nextMessage()).contains("\"message\":\"Internal server error\"");
  }

  @Test
  void message_of_more_than_128_kb_closes_with_1009() throws Exception {
    Client.Connected connected = connect();
    WebSocket socket = connected.socket();
    String frame = "x".repeat(32 * 1024);
    for (int i = 0; i < 4; i++) {
      socket.sendText(frame, i == 3).join();
    }
    functions.await("default", 1);
    assertThat(functions.events("default").get(0).path("body").asText()).hasSize(128 * 1024);

    for (int i = 0; i < 4; i++) {
      socket.sendText(frame, false).join();
    }
    socket.sendText("x", true).join();

    assertThat(connected.closeCode()).isEqualTo(1009);
    assertThat(disconnected().at("/requestContext/disconnectStatusCode").asInt()).isEqualTo(1009);
  }

  @Test
  void frame_of_more_than_32_kb_closes_with_1009() throws Exception {
    try (Socket socket = rawConnect()) {
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      for (int length : List.of(32 * 1024, 32 * 1024 + 1)) {
        out.writeShort(0x81FF); // final text frame, masked, its length in 8 bytes
        out.writeLong(length);
        out.writeInt(0); // the mask
        out.write("x".repeat(length).getBytes(StandardCharsets.US_ASCII));
      }

      DataInputStream in = new DataInputStream(socket.getInputStream());
      assertThat(in.readUnsignedByte()).isEqualTo(0x88);
      assertThat(in.readUnsignedByte()).isGreaterThanOrEqualTo(2);
      assertThat(in.readUnsignedShort()).isEqualTo(1009);
    }
    functions.await("default", 1);
    assertThat(disconnected().at("/requestContext/disconnectStatusCode").asInt()).isEqualTo(1009);
  }

  @Test
  void binary_frame_closes_with_1003() throws Exception {
    Client.Connected connected = connect();

    connected.socket().sendBinary(ByteBuffer.wrap(new byte[] {1}), true).join();

    assertThat(connected.closeCode()).isEqualTo(1003);
    assertThat(disconnected().at("/requestContext/disconnectStatusCode").asInt()).isEqualTo(1003);
  }

  @Test
  void handshakes_that_wait_for_their_authorizer_hold_up_nobody() throws Exception {
    CountDownLatch waiting = new CountDownLatch(200);
    CountDownLatch release = new CountDownLatch(1);
    functions.define(
        "authorizer",
        event -> {
          if (event.at("/queryStringParameters/tenantId").asText().equals("slow")) {
            waiting.countDown();
            try {
              release.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }
          return ScriptedFunctions.success(ALLOW.formatted("*"));
        });
    List<CompletableFuture<Integer>> slow =
        IntStream.range(0, 200)
            .mapToObj(
                i ->
                    CompletableFuture.supplyAsync(
                        () -> Client.status(uri("?tenantId=slow&sessionId=s" + i)),
                        work -> new Thread(work).start()))
            .toList();
    assertThat(waiting.await(20, TimeUnit.SECONDS)).isTrue();

    assertThat(Client.status(uri())).isEqualTo(101);

    release.countDown();
    assertThat(slow).allSatisfy(status -> assertThat(status.join()).isEqualTo(101));
  }

  @Test
  void close_closes_the_sockets_and_tells_the_disconnect_route() throws Exception {
    List<Client.Connected> all = List.of(connect(), connect(), connect());

    gateway.close();

    for (Client.Connected one : all) {
      assertThat(one.closeCode()).isEqualTo(1001);
    }
    assertThat(functions.events("disconnect")).hasSize(3);
  }

  @Test
  void sockets_that_close_together_start_few_disconnect_functions_at_once() throws Exception {
    int sockets = Gateway.MOST_DISCONNECTIONS + 8;
    CountDownLatch release = new CountDownLatch(1);
    functions.define(
        "disconnect",
        event -> {
          try {
            release.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return ScriptedFunctions.success("{}");
        });
    for (int i = 0; i < sockets; i++) {
      connect().socket().abort();
    }

    functions.await("disconnect", Gateway.MOST_DISCONNECTIONS);

    release.countDown();
    functions.await("disconnect", sockets);
  }

  private Client.Connected connect(String... headers) {
    return Client.connect(uri(), headers);
  }

  private URI uri() {
    return uri("?tenantId=acme&sessionId=s1");
  }

  private URI uri(String query) {
    return URI.create(gateway.endpoint("ws", "ws1") + "/production" + query);
  }

  private static int get(URI uri) throws Exception {
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding())
        .statusCode();
  }

  private JsonNode disconnected() throws InterruptedException {
    functions.await("disconnect", 1);
    gateway.settle();
    assertThat(functions.events("disconnect")).hasSize(1);
    return functions.events("disconnect").get(0);
  }

  /** A connected socket, for frames that no client library sends. */
  private Socket rawConnect() throws Exception {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.address().getPort());
    socket.setSoTimeout(10_000);
    OutputStream out = socket.getOutputStream();
    out.write(
        ("GET "
                + uri().getRawPath()
                + "?"
                + uri().getRawQuery()
                + " HTTP/1.1\r\n"
                + "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII));
    InputStream in = socket.getInputStream();
    StringBuilder head = new StringBuilder();
    while (!head.toString().endsWith("\r\n\r\n")) {
      head.append((char) in.read());
    }
    assertThat(head.toString()).startsWith("HTTP/1.1 101");
    return socket;
  }
}
