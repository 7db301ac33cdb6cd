package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PushClientTest {
  private static final String SESSION = "5fea77560ea4451aa703a558b933e274";
  private static final String SENT = "{\"id\":\"order-1\",\"sockets\":2,\"gone\":1,\"failed\":3}";

  private final List<Request> requests = new CopyOnWriteArrayList<>();
  private HttpServer server;
  private PushClient client;
  private int status = 200;
  private String answer = SENT;

  private record Request(String line, Headers headers, String body) {}

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::serve);
    server.start();
    client = PushClient.of(environment(url() + "/"));
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private static Map<String, String> environment(String url) {
    return Map.of(
        "CONTROL_PLANE_URL", url,
        "AWS_REGION", "eu-central-1",
        "AWS_ACCESS_KEY_ID", "own",
        "AWS_SECRET_ACCESS_KEY", "secret",
        "AWS_SESSION_TOKEN", "token");
  }

  private void serve(HttpExchange exchange) throws IOException {
    try (exchange) {
      requests.add(
          new Request(
              exchange.getRequestMethod() + " " + exchange.getRequestURI(),
              exchange.getRequestHeaders(),
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
      byte[] body = answer.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
      exchange.getResponseBody().write(body);
    }
  }

  @Test
  void push_to_a_session_tells_how_many_sockets_took_it() {
    PushClient.Delivery delivery =
        client.toSession("acme", SESSION, PushMessage.of("{\"a\": 1.0}").withId("order-1"));

    assertThat(delivery).isEqualTo(new PushClient.Delivery("order-1", 2, 1, 3));
    assertThat(requests).hasSize(1);
    assertThat(requests.get(0).line()).isEqualTo("POST /tenants/acme/push");
    assertThat(requests.get(0).body())
        .isEqualTo(
            "{\"sessionId\":\"" + SESSION + "\",\"id\":\"order-1\",\"message\":{\"a\": 1.0}}");
    assertThat(requests.get(0).headers().getFirst("Content-Type")).isEqualTo("application/json");
  }

  @Test
  void push_to_a_subject_escapes_its_name() {
    client.toSubject("acme", "auth0|\"ann\"", PushMessage.of("\"é\""));

    assertThat(requests.get(0).body())
        .isEqualTo("{\"subject\":\"auth0|\\\"ann\\\"\",\"message\":\"é\"}");
  }

  @Test
  void push_to_a_tenant_is_queued() {
    status = 202;
    answer = "{\"id\":\"made-up\"}";

    assertThat(client.toTenant("acme", PushMessage.of("[]"))).isEqualTo("made-up");
    assertThat(requests.get(0).body()).isEqualTo("{\"all\":true,\"message\":[]}");
  }

  @Test
  void requests_are_signed() {
    client.toSession("acme", SESSION, PushMessage.of("1"));

    Headers headers = requests.get(0).headers();
    assertThat(headers.getFirst("Authorization"))
        .matches(
            "AWS4-HMAC-SHA256 Credential=own/[0-9]{8}/eu-central-1/execute-api/aws4_request,"
                + " SignedHeaders=[a-z0-9;-]*host[a-z0-9;-]*, Signature=[0-9a-f]{64}");
    assertThat(headers.getFirst("X-Amz-Security-Token")).isEqualTo("token");
    assertThat(headers.getFirst("X-Amz-Date")).isNotNull();
  }

  @Test
  void region_is_that_of_the_host() {
    assertThat(
            PushClient.of(environment("https://a1.execute-api.eu-west-1.amazonaws.com"))
                .region()
                .id())
        .isEqualTo("eu-west-1");
  }

  @Test
  void refusal_has_the_detail_of_the_problem() {
    status = 404;
    answer = "{\"title\":\"Not found\",\"status\":404,\"detail\":\"No tenant named `acme`.\"}";

    PushFailed refused = failure();

    assertThat(refused).hasMessage("404: No tenant named `acme`.");
    assertThat(refused.status()).hasValue(404);
    assertThat(requests).hasSize(1);
  }

  @Test
  void refusal_by_the_gateway_has_its_message() {
    status = 403;
    answer = "{\"message\":\"Forbidden\"}";

    assertThat(failure()).hasMessage("403: Forbidden");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "<html>", "[1]", "7"})
  void answer_of_another_form_is_a_failure_with_its_text(String body) {
    status = 502;
    answer = body;

    assertThat(failure()).hasMessage("502: " + body);
    assertThat(failure().status()).hasValue(502);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "<html>", "[]", "{\"id\":\"a\"}", "{\"id\":\"a\",\"sockets\":null}"})
  void success_of_another_form_is_a_failure(String body) {
    answer = body;

    assertThat(failure().status()).hasValue(200);
  }

  @Test
  void missing_answer_is_a_failure_without_a_status() {
    server.stop(0);

    assertThat(failure().status()).isEmpty();
  }

  @Test
  @Timeout(20)
  void an_answer_that_stops_after_its_headers_is_a_failure_without_a_status() {
    CountDownLatch failed = new CountDownLatch(1);
    server.removeContext("/");
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, SENT.length());
          exchange.getResponseBody().flush();
          try {
            failed.await();
          } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
          }
          exchange.close();
        });
    client = PushClient.of(environment(url()), Duration.ofMillis(500));

    assertThat(failure().status()).isEmpty();
    failed.countDown();
  }

  private PushFailed failure() {
    return catchThrowableOfType(
        PushFailed.class, () -> client.toSession("acme", SESSION, PushMessage.of("1")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "{", "a", "1,\"all\":true", "1}", "1 2", "'a'", "{\"a\":1}}"})
  void message_must_be_one_JSON_value(String json) {
    assertThatIllegalArgumentException().isThrownBy(() -> PushMessage.of(json));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"\uD83D\"", "\"\uDE00\uD83D\""})
  void half_a_character_is_refused_and_not_replaced(String json) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PushMessage.of(json))
        .withMessageContaining("surrogate");
  }

  @Test
  void whole_characters_and_escapes_of_halves_arrive_unchanged() {
    client.toTenant("acme", PushMessage.of("\"\uD83D\uDE00\u2028\\ud83d\\u0000\""));

    assertThat(requests.get(0).body()).contains("\"\uD83D\uDE00\u2028\\ud83d\\u0000\"");
  }

  @Test
  void control_plane_may_have_a_path() {
    PushClient.of(environment(url() + "/control")).toTenant("acme", PushMessage.of("1"));

    assertThat(requests.get(0).line()).isEqualTo("POST /control/tenants/acme/push");
  }

  @Test
  void tenant_cannot_name_another_path() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> client.toTenant("acme/../x", PushMessage.of("1")));
    assertThat(requests).isEmpty();
  }

  @Test
  void missing_or_malformed_URL_is_named() {
    assertThatIllegalStateException()
        .isThrownBy(() -> PushClient.of(Map.of()))
        .withMessageContaining("CONTROL_PLANE_URL");
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> PushClient.of(environment("https://host/?query")))
        .withMessageContaining("CONTROL_PLANE_URL");
  }
}
