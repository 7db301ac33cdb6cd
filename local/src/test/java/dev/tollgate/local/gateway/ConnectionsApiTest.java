package dev.tollgate.local.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.local.hosts.AllowedHosts;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.testing.Calls;
import dev.tollgate.local.testing.ManualClock;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.apigatewaymanagementapi.ApiGatewayManagementApiClient;
import software.amazon.awssdk.services.apigatewaymanagementapi.model.GetConnectionResponse;
import software.amazon.awssdk.services.apigatewaymanagementapi.model.GoneException;
import software.amazon.awssdk.services.apigatewaymanagementapi.model.PayloadTooLargeException;

@Timeout(30)
class ConnectionsApiTest {

  private static final Instant START = Instant.parse("2026-03-12T19:03:58Z");

  private final ManualClock clock = new ManualClock(START);
  private final ScriptedFunctions functions = new ScriptedFunctions();
  private final Queue<String> calls = new ConcurrentLinkedQueue<>();
  private final Gateway gateway =
      new Gateway(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
          AllowedHosts.LOCAL,
          functions,
          NoServices.INSTANCE,
          Environment.of("App", clock),
          handler ->
              Calls.of(
                  "PostToConnection",
                  exchange -> {
                    calls.add(exchange.getRequestMethod() + " " + exchange.getRequestPath());
                    handler.handleRequest(exchange);
                  }),
          line -> {});
  private ApiGatewayManagementApiClient management = client("production");

  @BeforeEach
  void addApi() {
    gateway.add(
        ScriptedFunctions.api(
            Map.of("$connect", "connect", "$disconnect", "disconnect"), Optional.empty()));
    functions.define("connect", "{\"statusCode\":200}");
    functions.define("disconnect", "{\"statusCode\":200}");
  }

  @AfterEach
  void close() {
    management.close();
    gateway.close();
    functions.close();
  }

  @Test
  void post_reaches_the_client() throws Exception {
    Client.Connected connected = connect();

    post(id(), "grüß dich");

    assertThat(connected.nextMessage()).isEqualTo("grüß dich");
    assertThat(calls).containsExactly("POST /ws1/production/@connections/" + id());
  }

  @Test
  void post_from_many_threads_arrives_whole() throws Exception {
    Client.Connected connected = connect();
    String text = "x".repeat(20_000);

    List.of(1, 2, 3, 4, 5, 6, 7, 8).parallelStream().forEach(i -> post(id(), text));

    for (int i = 0; i < 8; i++) {
      assertThat(connected.nextMessage()).isEqualTo(text);
    }
  }

  @Test
  void post_of_more_than_128_kb_is_too_large() throws Exception {
    Client.Connected connected = connect();

    post(id(), "x".repeat(128 * 1024));
    assertThat(connected.nextMessage()).hasSize(128 * 1024);
    assertThatThrownBy(() -> post(id(), "x".repeat(128 * 1024 + 1)))
        .isInstanceOf(PayloadTooLargeException.class);
  }

  @Test
  void post_to_a_connection_that_is_not_there_is_gone() throws Exception {
    assertThatThrownBy(() -> post("bm9ib2R5IQ==", "hi")).isInstanceOf(GoneException.class);

    connect().socket().sendClose(1000, "").join();
    functions.await("disconnect", 1);
    assertThatThrownBy(() -> post(id(), "hi")).isInstanceOf(GoneException.class);
  }

  @Test
  void post_before_connect_has_finished_is_gone() {
    functions.define(
        "connect",
        event -> {
          String id = event.at("/requestContext/connectionId").asText();
          assertThatThrownBy(() -> post(id, "hi")).isInstanceOf(GoneException.class);
          return ScriptedFunctions.success("{\"statusCode\":200}");
        });

    connect();

    assertThat(calls).hasSize(1);
  }

  @Test
  void post_right_after_connect_waits_for_the_handshake() throws Exception {
    for (int i = 0; i < 20; i++) {
      functions.events("connect").clear();
      Client.Connected connected = connect();
      post(id(), "welcome");
      assertThat(connected.nextMessage()).isEqualTo("welcome");
    }
  }

  @Test
  void post_to_another_stage_is_gone() {
    connect();

    management.close();
    management = client("test");
    assertThatThrownBy(() -> post(id(), "hi")).isInstanceOf(GoneException.class);
  }

  @Test
  void post_is_activity() throws Exception {
    connect();
    clock.advance(Duration.ofMinutes(9));
    post(id(), "hi");
    clock.advance(Duration.ofMinutes(9));
    gateway.settle();

    assertThat(functions.events("disconnect")).isEmpty();
  }

  @Test
  void get_describes_the_connection() {
    Client.connect(uri(), "User-Agent", "test");
    clock.advance(Duration.ofMinutes(1));
    post(id(), "hi");

    GetConnectionResponse connection = management.getConnection(r -> r.connectionId(id()));

    assertThat(connection.connectedAt()).isEqualTo(START);
    assertThat(connection.lastActiveAt()).isEqualTo(START.plusSeconds(60));
    assertThat(connection.identity().sourceIp()).isEqualTo("127.0.0.1");
    assertThat(connection.identity().userAgent()).isEqualTo("test");
    assertThatThrownBy(() -> management.getConnection(r -> r.connectionId("bm9ib2R5IQ==")))
        .isInstanceOf(GoneException.class);
  }

  @Test
  void delete_closes_the_socket_and_tells_the_disconnect_route() throws Exception {
    Client.Connected connected = connect();

    management.deleteConnection(r -> r.connectionId(id()));

    assertThat(connected.closeCode()).isEqualTo(1000);
    gateway.settle();
    assertThat(functions.events("disconnect")).hasSize(1);
    assertThatThrownBy(() -> management.deleteConnection(r -> r.connectionId(id())))
        .isInstanceOf(GoneException.class);
  }

  @Test
  void call_that_is_not_signed_is_forbidden() throws Exception {
    connect();
    URI uri =
        URI.create(
            "http://127.0.0.1:%d/ws1/production/%%40connections/%s"
                .formatted(
                    gateway.address().getPort(), URLEncoder.encode(id(), StandardCharsets.UTF_8)));

    HttpResponse<String> response =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString("hi")).build(),
                BodyHandlers.ofString());

    assertThat(response.statusCode()).isEqualTo(403);
    assertThat(response.body()).isEqualTo("{\"message\":\"Missing Authentication Token\"}");
  }

  private Client.Connected connect() {
    return Client.connect(uri());
  }

  private URI uri() {
    return URI.create(gateway.endpoint("ws", "ws1") + "/production");
  }

  /** Of the connection made last. */
  private String id() {
    var events = functions.events("connect");
    return events.get(events.size() - 1).at("/requestContext/connectionId").asText();
  }

  private void post(String id, String text) {
    management.postToConnection(r -> r.connectionId(id).data(SdkBytes.fromUtf8String(text)));
  }

  private ApiGatewayManagementApiClient client(String stage) {
    return ApiGatewayManagementApiClient.builder()
        .endpointOverride(
            URI.create("http://127.0.0.1:%d/ws1/%s".formatted(gateway.address().getPort(), stage)))
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret")))
        .httpClientBuilder(ApacheHttpClient.builder())
        .build();
  }
}
