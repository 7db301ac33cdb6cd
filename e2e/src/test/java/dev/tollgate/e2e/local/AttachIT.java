package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** The chat of {@code examples/attach}, protected as {@code docs/how-to} says. */
final class AttachIT {
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @TempDir private static Path checkout;
  private static LocalDeployment deployment;

  @BeforeAll
  static void start() throws Exception {
    deployment = LocalDeployment.attached(AttachedChat.synthesize(checkout));
  }

  @AfterAll
  static void stop() {
    if (deployment != null) {
      deployment.close();
    }
  }

  /** A socket, or the status that refused it. */
  private record Socket(int status, Optional<WebSocket> open, BlockingQueue<String> frames) {
    void close() throws Exception {
      open.orElseThrow().sendClose(WebSocket.NORMAL_CLOSURE, "").join();
      deployment.cloud().settle();
    }
  }

  private static CompletableFuture<Socket> open(String query) {
    BlockingQueue<String> frames = new LinkedBlockingQueue<>();
    WebSocket.Listener listener =
        new WebSocket.Listener() {
          @Override
          public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            frames.add(data.toString());
            socket.request(1);
            return CompletableFuture.completedFuture(null);
          }
        };
    return HTTP.newWebSocketBuilder()
        .buildAsync(URI.create(deployment.outputs().get("WebSocketURL") + query), listener)
        .handle((socket, thrown) -> socket(socket, thrown, frames));
  }

  private static Socket socket(WebSocket socket, Throwable thrown, BlockingQueue<String> frames) {
    if (thrown == null) {
      return new Socket(101, Optional.of(socket), frames);
    }
    Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
    if (cause instanceof WebSocketHandshakeException refused) {
      return new Socket(refused.getResponse().statusCode(), Optional.empty(), frames);
    }
    throw new AssertionError(thrown);
  }

  private static Socket enter(String workspace, String name) {
    return open("?workspace=" + workspace + "&name=" + name).join();
  }

  private static JsonNode control(String method, String path, String body) throws Exception {
    Deployment.Answer answer = deployment.control(method, path, body);
    assertThat(answer.status()).as(answer.body().toString()).isLessThan(300);
    return answer.body();
  }

  private static void onboard(String tenant, String overrides) throws Exception {
    control(
        "POST",
        "/tenants",
        """
        {"tenantId":"%s","tier":"gold","overrides":%s}"""
            .formatted(tenant, overrides));
  }

  private static long open(JsonNode tenant) {
    return tenant.path("connections").asLong();
  }

  private static JsonNode tenant(String tenant) throws Exception {
    return control("GET", "/tenants/" + tenant, "");
  }

  /** The tokens in the bucket of connections. */
  private static long level(String tenant) throws Exception {
    for (JsonNode bucket : tenant(tenant).path("buckets")) {
      if (bucket.path("action").asText().equals("connect")) {
        return bucket.path("level").asLong();
      }
    }
    throw new AssertionError("no bucket");
  }

  /** How many rows a table has of this tenant or workspace. */
  private static long rows(String table, String key, String value) {
    try (DynamoDbClient tables = deployment.inspect(DynamoDbClient.builder())) {
      String name =
          tables.listTables().tableNames().stream()
              .filter(each -> each.contains(table))
              .findFirst()
              .orElseThrow();
      return tables.scan(scan -> scan.tableName(name)).items().stream()
          .filter(row -> row.containsKey(key) && row.get(key).s().equals(value))
          .count();
    }
  }

  @Test
  void change_has_at_most_twenty_lines() throws Exception {
    assertThat(AttachedChat.addedLines()).hasSizeLessThanOrEqualTo(20);
  }

  @Test
  void the_applications_routes_work_and_its_functions_get_each_event_once() throws Exception {
    onboard("acme", "{}");
    Socket ann = enter("acme", "ann");
    Socket bob = enter("acme", "bob");
    assertThat(List.of(ann.status(), bob.status())).containsExactly(101, 101);
    assertThat(rows("Members", "workspace", "acme")).isEqualTo(2);
    assertThat(open(tenant("acme"))).isEqualTo(2);

    String frame = "{\"action\":\"say\",\"text\":\"hi\"}";
    ann.open().orElseThrow().sendText(frame, true).join();

    assertThat(ann.frames().poll(60, TimeUnit.SECONDS)).isEqualTo(frame);
    assertThat(bob.frames().poll(60, TimeUnit.SECONDS)).isEqualTo(frame);
    ann.close();
    assertThat(rows("Members", "workspace", "acme")).isEqualTo(1);
    assertThat(open(tenant("acme"))).isEqualTo(1);
    bob.close();
    assertThat(open(tenant("acme"))).isZero();
    assertThat(rows("Session", "tenantId", "acme")).isZero();
  }

  @Test
  void an_unknown_tenant_is_denied_and_a_handshake_without_one_is_unauthorized() {
    assertThat(enter("nobody", "ann").status()).isEqualTo(403);
    assertThat(open("?name=ann").join().status()).isEqualTo(401);
  }

  @Test
  @Tag("nightly")
  void of_sixty_racing_sockets_ten_are_admitted_where_ten_are_allowed() throws Exception {
    onboard("crowd", "{\"tenantConnections\":10}");

    List<Socket> sockets =
        IntStream.range(0, 60).mapToObj(i -> open("?workspace=crowd&name=ann")).toList().stream()
            .map(CompletableFuture::join)
            .toList();

    assertThat(sockets).filteredOn(socket -> socket.status() == 101).hasSize(10);
    assertThat(sockets).allMatch(socket -> socket.status() == 101 || socket.status() == 429);
    deployment.cloud().settle();
    assertThat(open(tenant("crowd"))).isEqualTo(10);
    assertThat(rows("Members", "workspace", "crowd")).isEqualTo(10);
    assertThat(rows("Session", "tenantId", "crowd")).isEqualTo(10);
    for (Socket socket : sockets) {
      if (socket.status() == 101) {
        socket.close();
      }
    }
    assertThat(open(tenant("crowd"))).isZero();
  }

  @Test
  void an_application_that_refuses_or_throws_undoes_the_admission() throws Exception {
    onboard("strict", "{}");
    Socket first = enter("strict", "ann");
    assertThat(first.status()).isEqualTo(101);
    long level = level("strict");

    for (int i = 0; i < 3; i++) {
      assertThat(enter("strict", "007").status()).isEqualTo(403);
      assertThat(open("?workspace=strict").join().status()).isEqualTo(500);
    }

    deployment.cloud().settle();
    assertThat(level("strict")).isEqualTo(level);
    assertThat(open(tenant("strict"))).isEqualTo(1);
    assertThat(rows("Session", "tenantId", "strict")).isEqualTo(1);
    first.close();
  }

  @Test
  @Tag("nightly")
  void counts_after_lost_disconnects_are_repaired() throws Exception {
    onboard("ghosts", "{\"tenantConnections\":2}");
    List<Socket> sockets = new ArrayList<>(List.of(enter("ghosts", "ann"), enter("ghosts", "bob")));
    deployment.cloud().faults().loseEvents((function, event) -> function.contains("Disconnect"));
    for (Socket socket : sockets) {
      socket.close();
    }
    deployment.cloud().faults().loseEvents((function, event) -> false);
    assertThat(enter("ghosts", "eve").status()).isEqualTo(429);

    deployment.advance(Duration.ofMinutes(2));

    Socket later = enter("ghosts", "eve");
    assertThat(later.status()).isEqualTo(101);
    assertThat(open(tenant("ghosts"))).isEqualTo(1);
    later.close();
  }

  @Test
  void attaching_adds_these_requests_to_a_handshake_and_to_its_end() throws Exception {
    onboard("counted", "{}");
    enter("counted", "ann").close();
    List<Socket> socket = new ArrayList<>();

    List<String> opening = requests(() -> socket.add(enter("counted", "ann")));
    List<String> closing = requests(() -> socket.get(0).close());

    // The last PutItem is the chat's own.
    assertThat(opening)
        .containsExactlyInAnyOrder(
            "BatchGetItem",
            "ReceiveMessage",
            "UpdateItem",
            "UpdateItem",
            "DeleteMessageBatch",
            "Invoke",
            "PutItem");
    // The other DeleteItem is the chat's own.
    assertThat(closing)
        .containsExactlyInAnyOrder(
            "UpdateItem", "UpdateItem", "DeleteItem", "Invoke", "DeleteItem");
  }

  private static List<String> requests(LocalDeployment.Action action) throws Exception {
    return deployment.requestsOf(action).stream()
        .filter(request -> !LocalDeployment.isForCredentials(request))
        .map(Request::operation)
        .toList();
  }
}
