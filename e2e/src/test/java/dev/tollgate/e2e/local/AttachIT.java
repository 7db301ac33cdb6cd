package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.lawbook.Allowance;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Terms;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
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
@Tag("nightly")
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
  void of_sixty_racing_sockets_ten_are_admitted_where_ten_are_allowed() throws Exception {
    onboard("crowd", "{\"tenantPerMinute\":60,\"tenantConnections\":10}");
    fill();
    assertThat(level("crowd")).isEqualTo(60);

    List<Socket> sockets = storm("crowd", 60);

    assertThat(sockets).hasSize(10);
    assertCounted("crowd", 10);
    assertThat(level("crowd")).as("refused handshakes spend no token").isEqualTo(50);
    for (Socket socket : sockets) {
      socket.close();
    }
    assertThat(open(tenant("crowd"))).isZero();
  }

  /** Opens sockets at once. Returns those that were admitted; the others were refused with 429. */
  private static List<Socket> storm(String tenant, int attempts) throws Exception {
    List<Socket> sockets = new ArrayList<>();
    List<Request> requests =
        deployment.requestsOf(
            () ->
                IntStream.range(0, attempts)
                    .mapToObj(i -> open("?workspace=" + tenant + "&name=ann"))
                    .toList()
                    .forEach(opening -> sockets.add(opening.join())));
    assertThat(sockets).extracting(Socket::status).isSubsetOf(101, 429);
    sockets.removeIf(socket -> socket.status() == 429);
    for (String operation : List.of("Invoke OnConnect", "PutItem Members")) {
      assertThat(requests)
          .extracting(request -> request.operation() + " " + request.resource().orElse(""))
          .filteredOn(request -> request.startsWith(operation))
          .as(operation + ", once for each admitted handshake")
          .hasSize(sockets.size());
    }
    return sockets;
  }

  /** Asserts that this many sockets are open to Tollgate and to the application. */
  private static void assertCounted(String tenant, int sockets) throws Exception {
    assertThat(open(tenant(tenant))).isEqualTo(sockets);
    assertThat(rows("Members", "workspace", tenant)).isEqualTo(sockets);
    assertThat(rows("Session", "tenantId", tenant)).isEqualTo(sockets);
  }

  /** Passes the time to right after a fill. */
  private static void fill() throws Exception {
    Instant now = deployment.clock().instant();
    Instant filled = now.truncatedTo(ChronoUnit.MINUTES).plusSeconds(121);
    deployment.advance(Duration.between(now, filled));
  }

  @Test
  void storms_are_admitted_up_to_capacity_and_rate_and_spend_exactly_the_tokens() throws Exception {
    onboard("storm", "{\"tenantPerMinute\":12,\"tenantConnections\":100}");
    fill();
    assertThat(level("storm")).isEqualTo(12);
    Instant start = deployment.clock().instant();
    Allowance allowance =
        new Allowance(
            new Terms(Rate.perMinute(12), 12, /* slack= */ 12, Duration.ofSeconds(2)), start);
    List<Socket> open = new ArrayList<>();
    List<Integer> admitted = new ArrayList<>();
    // Due tokens may appear only after a refused handshake has requested them: hence the third.
    for (int pause : List.of(0, 30, 3)) {
      deployment.advance(Duration.ofSeconds(pause));
      List<Socket> sockets = storm("storm", 40);
      admitted.add(sockets.size());
      open.addAll(sockets);
      allowance.spend(sockets.size(), deployment.clock().instant());
    }
    System.out.printf("storms: admitted %s, %s%n", admitted, allowance);

    assertThat(allowance.excess()).as("%s", allowance).isZero();
    assertThat(admitted.get(0)).as("the tokens of a full bucket").isEqualTo(12);
    assertThat(admitted.get(1) + admitted.get(2)).as("the tokens of 33 seconds").isEqualTo(6);
    assertThat(level("storm")).isZero();
    assertCounted("storm", 18);
    for (Socket socket : open) {
      socket.close();
    }
    assertCounted("storm", 0);
  }

  /** A refused client has no session in which it could keep a place, so all compete. */
  @Test
  void refused_clients_compete_and_get_each_token_that_is_due() throws Exception {
    int waiting = 10;
    onboard("no-line", "{\"tenantPerMinute\":30,\"tenantConnections\":100}");
    fill();
    List<Socket> open = new ArrayList<>(storm("no-line", 30 + waiting));
    assertThat(open).hasSize(30);
    List<Integer> admitted = new ArrayList<>();
    int attempts = 0;
    while (open.size() < 30 + waiting && admitted.size() <= waiting) {
      deployment.advance(Duration.ofSeconds(2));
      int left = 30 + waiting - open.size();
      attempts += left;
      List<Socket> returned = storm("no-line", left);
      admitted.add(returned.size());
      open.addAll(returned);
    }
    System.out.printf("no line: %s admitted, %s attempts of %s%n", admitted, attempts, waiting);

    assertThat(open).as("one more round than tokens").hasSize(30 + waiting);
    assertCounted("no-line", open.size());
    for (Socket socket : open) {
      socket.close();
    }
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
  void counts_after_lost_disconnects_are_repaired() throws Exception {
    onboard("ghosts", "{\"tenantPerMinute\":60,\"tenantConnections\":20}");
    List<Socket> sockets = storm("ghosts", 20);
    deployment.cloud().faults().loseEvents((function, event) -> function.contains("Disconnect"));
    for (Socket socket : sockets.subList(0, 14)) {
      socket.close();
    }
    deployment.cloud().faults().loseEvents((function, event) -> false);
    assertThat(enter("ghosts", "eve").status()).isEqualTo(429);
    Instant lost = deployment.clock().instant();

    while (open(tenant("ghosts")) > 6) {
      deployment.advance(Duration.ofSeconds(10));
      assertThat(Duration.between(lost, deployment.clock().instant()))
          .as("as docs/explanation/counts.md says")
          .isLessThanOrEqualTo(Duration.ofMinutes(2));
    }
    System.out.println(
        "lost: repaired after " + Duration.between(lost, deployment.clock().instant()));

    assertThat(rows("Members", "workspace", "ghosts"))
        .as("the application's $disconnect did not run")
        .isEqualTo(20);
    List<Socket> later = storm("ghosts", 30);
    assertThat(later).hasSize(14);
    assertThat(open(tenant("ghosts"))).isEqualTo(20);
    for (Socket socket : sockets.subList(14, 20)) {
      socket.close();
    }
    for (Socket socket : later) {
      socket.close();
    }
    assertThat(open(tenant("ghosts"))).isZero();
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
