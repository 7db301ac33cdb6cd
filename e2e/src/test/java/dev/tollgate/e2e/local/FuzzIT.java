package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.acceptance.Contracts;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.http.testing.Fuzz;
import dev.tollgate.http.testing.Leaks;
import dev.tollgate.http.testing.RandomInput;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Responses to random input match the contracts and reveal nothing of the implementation. Refused
 * input changes nothing, and other clients are served. {@link Fuzz} describes how to repeat a case
 * or run more cases.
 */
@Tag("nightly")
final class FuzzIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  /** Instants that no schedule sends, and one invalid date. */
  private static final List<String> TIMES =
      List.of(
          "+999999999-12-31T23:59:59.999999999Z",
          "-999999999-01-01T00:00:00Z",
          "9999-12-31T23:59:59Z",
          "2262-04-11T23:47:16.854775808Z",
          "1970-01-01T00:00:00Z",
          "2026-02-30T00:00:00Z");

  /** A session's socket is closed after this many refused frames at once. */
  private static final int MAX_REFUSED = 60;

  /** The tenant whose state no case may change. */
  private static final String UNTOUCHED = "watch";

  private static final String NEW_TENANT =
      "{\"tenantId\":\"fuzz-a\",\"tier\":\"fuzz-tier\","
          + "\"overrides\":{\"tenantConnections\":10,\"sessionTTL\":60}}";
  private static final String CHANGE =
      "{\"tier\":\"fuzz-tier\",\"overrides\":{\"messagesPerMinute\":7,\"line\":false},\"status\":\"ACTIVE\"}";
  private static final String TIER =
      "{\"isolation\":\"POOL\",\"limits\":{\"tenantPerMinute\":60,\"sessionPerMinute\":5,"
          + "\"connectionsPerSession\":2,\"tenantConnections\":10,\"sessionTTL\":200,"
          + "\"messagesPerMinute\":60},\"buckets\":{\"send-email\":{\"ratePerMinute\":0.2,"
          + "\"capacity\":5}},\"fillMode\":\"PRODUCER\",\"hibernateAfterMinutes\":15,"
          + "\"onUnavailable\":\"ADMIT\",\"line\":true}";

  /** The tenant whose messages are checked between the cases. */
  private static final String SERVED = "fuzz-served";

  /** Tenants and tiers that an accepted request of these tests may have changed. */
  private static final Set<String> CHANGED = new HashSet<>();

  private static int watched;

  @BeforeAll
  static void tenants() throws InterruptedException {
    assertThat(DEPLOYMENT.onboard(UNTOUCHED, "gold", "{}").status()).isEqualTo(201);
    for (String tenant : List.of("fuzz-other", SERVED)) {
      assertThat(DEPLOYMENT.onboard(tenant, "gold", "{}").status()).isEqualTo(201);
      CHANGED.add(tenant);
    }
    assertThat(DEPLOYMENT.control("PUT", "/tiers/fuzz-tier", TIER).status()).isEqualTo(201);
    for (String tenant : List.of("fuzz-pooledsqs", "fuzz-silosqs")) {
      assertThat(DEPLOYMENT.onboard(tenant, "gold", "{}").status()).isEqualTo(201);
      CHANGED.add(tenant);
    }
    // The sweep creates silos within a minute.
    DEPLOYMENT.advance(Duration.ofMinutes(2));
  }

  /** Checks that a socket opens and that a message on it gets a reply. */
  private static void assertServed() throws InterruptedException {
    Handshake client = DEPLOYMENT.connect(SERVED, DEPLOYMENT.open(SERVED));
    assertThat(client.status()).isEqualTo(101);
    client.send("{\"action\":\"PooledSQS\",\"id\":\"s-%d\",\"message\":1}".formatted(watched++));
    client.frames().await("reply", 1);
    DEPLOYMENT.close(client);
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Returns one of the names in three of four cases. */
  private static String name(RandomInput random, String... names) {
    return random.onceIn(4) ? random.text() : random.oneOf(names);
  }

  private static String segment(String name) {
    String encoded = encoded(name);
    return encoded.matches("\\.{0,2}") ? "%20" : encoded;
  }

  /** Returns a query with some of these parameters and random values. */
  private static String query(RandomInput random, List<String> names) {
    StringBuilder query = new StringBuilder();
    while (!names.isEmpty() && random.onceIn(3)) {
      String value =
          random.onceIn(2) ? random.text() : random.oneOf("true", "false", "1", "100", "0");
      query
          .append(query.isEmpty() ? '?' : '&')
          .append(random.oneOf(names))
          .append('=')
          .append(encoded(value));
    }
    return query.toString();
  }

  private static void check(Answer answer) {
    assertThat(answer.status()).as("%s", answer).isBetween(200, 499);
    Leaks.check(answer.toString());
    if (answer.status() < 400) {
      return;
    }
    boolean ofTheGateway =
        Set.of(400, 404, 413).contains(answer.status()) && answer.body().size() == 1;
    if (!ofTheGateway) {
      assertThat(answer.header("content-type")).isEqualTo("application/problem+json");
      assertThat(answer.body().path("detail").asText()).isNotBlank();
    }
  }

  /**
   * Runs cases, checks between them that other clients are served, and checks that refused input
   * changed nothing.
   */
  private static void fuzz(int cases, Fuzz.Case test, Fuzz.Case after) throws Exception {
    DeploymentState before = DeploymentState.of(DEPLOYMENT);
    Fuzz.each(cases, test, 200, after);
    Set<String> changes = before.changesTo(DeploymentState.of(DEPLOYMENT), CHANGED);
    assertThat(changes).as("changed by refused input").isEmpty();
  }

  @Test
  void the_control_plane_refuses_random_input_without_any_change() throws Exception {
    fuzz(
        60,
        FuzzIT::control,
        after ->
            assertThat(DEPLOYMENT.control("GET", "/tenants/" + UNTOUCHED).status()).isEqualTo(200));
    assertServed();
  }

  private static void control(RandomInput random) {
    String tenant = "/tenants/" + segment(name(random, "fuzz-a", "fuzz-b"));
    String tier = "/tiers/" + segment(name(random, "fuzz-tier", "fuzz-tin"));
    Call call =
        random.oneOf(
            new Call("POST", "/tenants", NEW_TENANT, "dryRun"),
            new Call("POST", "/tenants", NEW_TENANT.replace("-a", "-b")),
            new Call("PATCH", tenant, CHANGE, "dryRun"),
            new Call("PUT", tier, TIER, "dryRun", "limit", "cursor"),
            new Call("PUT", tier, TIER.replace("PRODUCER", "SHARED")),
            new Call("GET", "/tenants", "", "limit", "cursor", "prefix", "tier", "pending"),
            new Call("GET", "/activity", "", "tenantIds"),
            new Call("GET", tenant, ""),
            new Call("DELETE", tenant, "", "dryRun"),
            new Call("DELETE", tenant + "/line", "", "dryRun"),
            new Call("GET", tenant + "/sessions", "", "limit", "cursor"),
            new Call(
                "DELETE", tenant + "/sessions/" + segment(name(random, "0a", "0b")), "", "dryRun"),
            new Call("GET", tenant + "/dead-letters", ""),
            new Call("POST", tenant + "/dead-letters/redrive", "{\"a\":1}", "limit", "dryRun"),
            new Call("POST", tenant + "/push", "{\"all\":true,\"message\":[1]}", "dryRun"),
            new Call("GET", tier, ""),
            new Call("DELETE", tier, "", "dryRun"),
            new Call("GET", "/drift", "", "cursor"),
            new Call("POST", "/repairs", "{\"a\":1}", "cursor", "dryRun"));
    byte[] body =
        random.bytes(
            call.body().isEmpty() || random.onceIn(8) ? call.body() : random.mutated(call.body()));
    Map<String, String> headers = new HashMap<>();
    headers.put(
        "content-type",
        random.onceIn(8)
            ? random.oneOf(
                "text/plain",
                "application/json; charset=UTF-8",
                "application/json; charset=utf-16",
                "application/x-www-form-urlencoded",
                "application/octet-stream",
                "application/JSON",
                "json",
                random.plainText())
            : "application/json");
    if (random.onceIn(8)) {
      headers.put("content-encoding", random.oneOf("gzip", "br", "identity"));
    }
    if (random.onceIn(6)) {
      headers.put(
          random.oneOf("if-match", "idempotency-key"),
          random.oneOf(
              "\"1\"",
              "*",
              random.plainText(),
              "\"" + random.plainText() + "\"",
              "\"\\\\\"".repeat(500)));
    }
    Answer answer =
        DEPLOYMENT.send(
            DEPLOYMENT.cloud().outputs().get("ControlPlaneURL")
                + call.path()
                + query(random, call.parameters()),
            call.method(),
            body,
            headers);
    check(answer);
    if (answer.status() < 300) {
      touched(call, answer);
    }
  }

  private static void touched(Call call, Answer answer) {
    String last = call.path().substring(call.path().lastIndexOf('/') + 1);
    if (!List.of("tenants", "line").contains(last) && !call.method().equals("GET")) {
      CHANGED.add(last);
    }
    if (call.method().equals("POST")) {
      CHANGED.add(answer.body().path("tenantId").asText());
    }
    if (call.method().equals("PUT")) {
      CHANGED.addAll(List.of("fuzz-a", "fuzz-b"));
    }
  }

  @Test
  void the_session_api_refuses_random_input_without_any_change() throws Exception {
    String url = DEPLOYMENT.cloud().outputs().getOrDefault("SessionURL", "");
    String others = DEPLOYMENT.open(UNTOUCHED);
    fuzz(
        60,
        random -> {
          String session =
              random.onceIn(4) ? DEPLOYMENT.open("fuzz-other") : random.garbled(others);
          String query =
              "?tenantId="
                  + encoded(random.onceIn(3) ? random.garbled("watc") : name(random, "fuzz-other"))
                  + "&sessionId="
                  + encoded(random.onceIn(3) ? random.text() : session);
          String listing = url.replaceFirst("/session$", "/tenant");
          String target =
              random.oneOf(
                  url + query,
                  url + query,
                  url + query,
                  url + query.replaceFirst("&.*", ""),
                  listing + "?cursor=" + encoded(random.text()));
          String method = target.startsWith(url) ? random.oneOf("PUT", "GET", "DELETE") : "GET";
          if (method.equals("PUT")) {
            target = target.replaceFirst("&sessionId.*", "");
          }
          check(DEPLOYMENT.send(target, method, "", Map.of("accept", random.plainText())));
        },
        after ->
            assertThat(DEPLOYMENT.session("GET", Deployment.query(UNTOUCHED, others)).status())
                .isEqualTo(200));
    assertServed();
  }

  @Test
  void a_random_handshake_gets_a_documented_status_and_others_are_admitted() throws Exception {
    URI url = URI.create(DEPLOYMENT.cloud().outputs().getOrDefault("WebSocketURL", ""));
    String session = DEPLOYMENT.open("fuzz-other");
    fuzz(
        60,
        random -> {
          String tenant = random.onceIn(3) ? random.garbled("fuzz-other") : random.text();
          String valid = random.onceIn(2) ? "fuzz-other" : tenant;
          String id = random.onceIn(2) ? random.garbled(session) : random.text();
          String query = "?tenantId=" + encoded(valid) + "&sessionId=" + encoded(id);
          String target = url.getPath() + (random.onceIn(3) ? random.garbled(query) : query);
          String more = random.onceIn(4) ? "Sec-WebSocket-Protocol: " + random.plainText() : "A: b";
          String answer = sendHandshake(url, target.replaceAll("[^!-~]", "%"), more);
          Leaks.check(answer);
          int status = Integer.parseInt(answer.substring(9, 12));
          // A proxy or server in front of the API refuses a malformed request line.
          if (status != 400) {
            Contracts.SOCKETS.checkHandshake(status);
          }
          assertThat(status).as(answer).isLessThan(500);
        },
        after -> assertServed());
    DEPLOYMENT.cloud().settle();
    assertThat(DEPLOYMENT.control("GET", "/tenants/fuzz-other").body().get("connections").asInt())
        .isZero();
  }

  @Test
  void a_malformed_request_target_is_refused_and_others_are_served() throws Exception {
    String sockets =
        DEPLOYMENT.cloud().outputs().getOrDefault("WebSocketURL", "").replaceFirst("^ws", "http");
    List<String> targets =
        List.of(
            DEPLOYMENT.cloud().outputs().get("ControlPlaneURL") + "/tenants/watch?limit=1",
            DEPLOYMENT.cloud().outputs().get("ControlPlaneURL") + "/tiers/%67old",
            DEPLOYMENT.cloud().outputs().get("SessionURL") + "?tenantId=watch&sessionId=%61",
            sockets + "?a=%62",
            sockets + "/@connections/abc%3D");
    fuzz(
        60,
        random -> {
          String target = random.garbled(random.oneOf(targets));
          URI url = URI.create(targets.get(0));
          if (!random.onceIn(4)) {
            target = target.replaceFirst("https?://[^/]*", "");
          }
          String answer =
              sendRaw(
                  url,
                  random.oneOf("GET", "PATCH", "OPTIONS", "HEAD", "BREW")
                      + " "
                      + target.replaceAll("[^!-~]", "%"),
                  "Content-Length: 0");
          Leaks.check(answer);
          assertThat(answer).startsWith("HTTP/1.1 ");
          assertThat(Integer.parseInt(answer.substring(9, 12))).as(answer).isBetween(200, 499);
        },
        after -> assertServed());
  }

  /** Sends a handshake and closes the connection. */
  private static String sendHandshake(URI url, String target, String header) throws IOException {
    return sendRaw(
        url,
        "GET " + target,
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        header);
  }

  /** Sends raw bytes, which no Java client would send, and returns the start of the response. */
  private static String sendRaw(URI url, String request, String... headers) throws IOException {
    try (Socket socket = new Socket(url.getHost(), url.getPort())) {
      socket.setSoTimeout(30_000);
      String text =
          request
              + " HTTP/1.1\r\nHost: "
              + url.getAuthority()
              + "\r\n"
              + String.join("\r\n", headers)
              + "\r\n\r\n";
      socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
      byte[] answer = new byte[4_096];
      int length = socket.getInputStream().read(answer);
      return new String(answer, 0, Math.max(0, length), StandardCharsets.UTF_8);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"PooledSQS", "SiloSQS"})
  void a_random_frame_gets_a_documented_answer_and_the_socket_stays_usable(String action)
      throws Exception {
    String tenant = "fuzz-" + action.toLowerCase(Locale.ROOT);
    List<Handshake> sockets = new ArrayList<>();
    String frame =
        "{\"action\":\""
            + action
            + "\",\"id\":\"f-1\",\"message\":{\"to\":[1,\"\u00e9\uD83D\uDE80\",null]}}";
    AtomicInteger sent = new AtomicInteger();
    fuzz(
        60,
        random -> {
          if (sent.get() % MAX_REFUSED == 0) {
            sockets.add(DEPLOYMENT.connect(tenant, DEPLOYMENT.open(tenant)));
          }
          Handshake socket = sockets.get(sockets.size() - 1);
          String text = random.mutated(frame.replace("f-1", "f-" + sent.incrementAndGet()));
          // A Java client cannot send an unpaired surrogate, but it can send an escaped one.
          socket.send(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
          if (sent.get() % MAX_REFUSED == 0) {
            assertFramesAreProcessed(socket, action, sent.get());
          }
        },
        after -> {
          assertFramesAreProcessed(sockets.get(sockets.size() - 1), action, sent.get() + 1);
          sockets.stream()
              .flatMap(socket -> socket.frames().texts().stream())
              .forEach(Leaks::check);
          assertServed();
        });
    for (Handshake socket : sockets) {
      DEPLOYMENT.close(socket);
    }
  }

  /** Checks that a valid frame after all others is accepted and processed. */
  private static void assertFramesAreProcessed(Handshake socket, String action, int number)
      throws InterruptedException {
    String id = "mark-" + number;
    socket.send("{\"action\":\"%s\",\"id\":\"%s\",\"message\":1}".formatted(action, id));
    for (String type : List.of("accepted", "reply")) {
      int count = 1;
      while (socket.frames().await(type, count).stream()
          .noneMatch(frame -> frame.path("id").asText().equals(id))) {
        count = socket.frames().of(type).size() + 1;
      }
    }
  }

  @Test
  void an_input_that_no_schedule_sends_adds_no_tokens_and_the_next_turn_runs() throws Exception {
    String input =
        "{\"tenantId\":\"fuzz-served\",\"action\":\"connect\",\"scheduledTime\":\"%s\"}"
            .formatted(DEPLOYMENT.clock().instant());
    String shard = "{\"shard\":\"shard-3\",\"scheduledTime\":\"2026-01-01T00:00:00Z\"}";
    fuzz(
        60,
        random -> {
          String event =
              random.onceIn(8)
                  ? input.replaceFirst("2[^\"]*Z", random.oneOf(TIMES))
                  : random.mutated(random.oneOf(input, input, shard));
          HttpResponse<String> end = DEPLOYMENT.invocation("TokenProducer", event);
          boolean failed = end.headers().firstValue("X-Amz-Function-Error").isPresent();
          assertThat(end.statusCode()).as(end.body()).isIn(200, 400);
          if (failed) {
            // Operators may see class names, but the failure must be an error of ours or of
            // Lambda's runtime.
            assertThat(end.body())
                .containsAnyOf(
                    "InvalidValue",
                    "SerializationException",
                    "JsonParseException",
                    "UncheckedIOException");
          }
        },
        after -> assertServed());
    assertThat(level()).isLessThan(180);
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    assertThat(level()).as("filled by the next turns").isEqualTo(180);
  }

  private static int level() {
    return DEPLOYMENT.control("GET", "/tenants/" + SERVED).body().at("/buckets/0/level").asInt();
  }

  /** A request that would be accepted, with its optional parameters. */
  private record Call(String method, String path, String body, List<String> parameters) {
    Call(String method, String path, String body, String... parameters) {
      this(method, path, body, List.of(parameters));
    }
  }
}
