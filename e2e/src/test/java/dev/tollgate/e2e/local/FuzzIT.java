package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.acceptance.Contracts;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.http.testing.Fuzz;
import dev.tollgate.http.testing.Hostile;
import dev.tollgate.http.testing.Leaks;
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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever strangers send: they are answered as the contracts say, are told nothing of the inside,
 * change nothing that is not theirs, and others are served. How to run one case again, or more of
 * them: {@link Fuzz}.
 */
final class FuzzIT {
  private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  /** Instants that are none of a schedule's. */
  private static final List<String> TIMES =
      List.of(
          "+999999999-12-31T23:59:59.999999999Z",
          "-999999999-01-01T00:00:00Z",
          "9999-12-31T23:59:59Z",
          "2262-04-11T23:47:16.854775808Z",
          "1970-01-01T00:00:00Z",
          "2026-02-30T00:00:00Z");

  /** So many frames of a session may be refused at once before its socket is closed. */
  private static final int MOST_REFUSED = 60;

  /** The tenant who is to notice nothing. */
  private static final String WATCH = "watch";

  private static final String NEW_TENANT =
      "{\"tenantId\":\"fuzz-a\",\"tier\":\"fuzz-tier\","
          + "\"overrides\":{\"tenantConnections\":10,\"sessionTTL\":60}}";
  private static final String CHANGE =
      "{\"tier\":\"fuzz-tier\",\"overrides\":{\"messagesPerMinute\":7},\"status\":\"ACTIVE\"}";
  private static final String TIER =
      "{\"isolation\":\"POOL\",\"limits\":{\"tenantPerMinute\":60,\"sessionPerMinute\":5,"
          + "\"connectionsPerSession\":2,\"tenantConnections\":10,\"sessionTTL\":200,"
          + "\"messagesPerMinute\":60},\"buckets\":{\"send-email\":{\"ratePerMinute\":0.2,"
          + "\"capacity\":5}},\"fillMode\":\"PRODUCER\",\"hibernateAfterMinutes\":15,"
          + "\"onUnavailable\":\"ADMIT\"}";

  /** The tenant who is served in between. */
  private static final String SERVED = "fuzz-served";

  /** Tenants and tiers that a request of these tests may have changed, for it was accepted. */
  private static final Set<String> TOUCHED = new HashSet<>();

  private static int watched;

  @BeforeAll
  static void tenants() throws InterruptedException {
    assertThat(DEPLOYMENT.onboard(WATCH, "gold", "{}").status()).isEqualTo(201);
    for (String tenant : List.of("fuzz-other", SERVED)) {
      assertThat(DEPLOYMENT.onboard(tenant, "gold", "{}").status()).isEqualTo(201);
      TOUCHED.add(tenant);
    }
    assertThat(DEPLOYMENT.control("PUT", "/tiers/fuzz-tier", TIER).status()).isEqualTo(201);
    for (String tenant : List.of("fuzz-pooledsqs", "fuzz-silosqs")) {
      assertThat(DEPLOYMENT.onboard(tenant, "gold", "{}").status()).isEqualTo(201);
      TOUCHED.add(tenant);
    }
    // Silos are there a minute later.
    DEPLOYMENT.advance(Duration.ofMinutes(2));
  }

  @AfterAll
  static void close() {
    DEPLOYMENT.close();
  }

  /** A socket can be opened, and a message sent on it is answered. */
  private static void isServed() throws InterruptedException {
    Handshake client = DEPLOYMENT.connect(SERVED, DEPLOYMENT.open(SERVED));
    assertThat(client.status()).isEqualTo(101);
    client.send("{\"action\":\"PooledSQS\",\"id\":\"s-%d\",\"message\":1}".formatted(watched++));
    client.frames().await("reply", 1);
    DEPLOYMENT.close(client);
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Its own name mostly. */
  private static String name(Hostile hostile, String... names) {
    return hostile.onceIn(4) ? hostile.text() : hostile.oneOf(names);
  }

  private static String segment(String name) {
    String encoded = encoded(name);
    return encoded.matches("\\.{0,2}") ? "%20" : encoded;
  }

  /** A query of these parameters and others' values. */
  private static String query(Hostile hostile, List<String> names) {
    StringBuilder query = new StringBuilder();
    while (!names.isEmpty() && hostile.onceIn(3)) {
      String value =
          hostile.onceIn(2) ? hostile.text() : hostile.oneOf("true", "false", "1", "100", "0");
      query
          .append(query.isEmpty() ? '?' : '&')
          .append(hostile.oneOf(names))
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
    boolean ofTheGateway = Set.of(404, 413).contains(answer.status()) && answer.body().size() == 1;
    if (!ofTheGateway) {
      assertThat(answer.header("content-type")).isEqualTo("application/problem+json");
      assertThat(answer.body().path("detail").asText()).isNotBlank();
    }
  }

  /** Runs cases of which the refused ones change nothing, and after which others are served. */
  private static void fuzz(int cases, Fuzz.Case test, Fuzz.Case after) throws Exception {
    DeploymentState before = DeploymentState.of(DEPLOYMENT);
    Fuzz.each(cases, test, 200, after);
    Set<String> changes = before.changesTo(DeploymentState.of(DEPLOYMENT), TOUCHED);
    assertThat(changes).as("changed by what was refused").isEmpty();
  }

  @Test
  void the_control_plane_refuses_what_it_cannot_take_and_changes_nothing() throws Exception {
    fuzz(
        60,
        FuzzIT::control,
        after ->
            assertThat(DEPLOYMENT.control("GET", "/tenants/" + WATCH).status()).isEqualTo(200));
    isServed();
  }

  private static void control(Hostile hostile) {
    String tenant = "/tenants/" + segment(name(hostile, "fuzz-a", "fuzz-b"));
    String tier = "/tiers/" + segment(name(hostile, "fuzz-tier", "fuzz-tin"));
    Call call =
        hostile.oneOf(
            new Call("POST", "/tenants", NEW_TENANT, "dryRun"),
            new Call("POST", "/tenants", NEW_TENANT.replace("-a", "-b")),
            new Call("PATCH", tenant, CHANGE, "dryRun"),
            new Call("PUT", tier, TIER, "dryRun", "limit", "cursor"),
            new Call("PUT", tier, TIER.replace("PRODUCER", "SHARED")),
            new Call("GET", "/tenants", "", "limit", "cursor", "prefix", "tier", "pending"),
            new Call("GET", "/activity", "", "tenantIds"),
            new Call("GET", tenant, ""),
            new Call("DELETE", tenant, "", "dryRun"),
            new Call("GET", tier, ""),
            new Call("DELETE", tier, "", "dryRun"),
            new Call("GET", "/drift", "", "cursor"),
            new Call("POST", "/repairs", "{\"a\":1}", "cursor", "dryRun"));
    byte[] body =
        hostile.bytes(
            call.body().isEmpty() || hostile.onceIn(8)
                ? call.body()
                : hostile.mutated(call.body()));
    Map<String, String> headers = new HashMap<>();
    headers.put(
        "content-type",
        hostile.onceIn(8)
            ? hostile.oneOf(
                "text/plain",
                "application/json; charset=UTF-8",
                "application/json; charset=utf-16",
                "application/x-www-form-urlencoded",
                "application/octet-stream",
                "application/JSON",
                "json",
                hostile.plainText())
            : "application/json");
    if (hostile.onceIn(8)) {
      headers.put("content-encoding", hostile.oneOf("gzip", "br", "identity"));
    }
    if (hostile.onceIn(6)) {
      headers.put(
          hostile.oneOf("if-match", "idempotency-key"),
          hostile.oneOf(
              "\"1\"",
              "*",
              hostile.plainText(),
              "\"" + hostile.plainText() + "\"",
              "\"\\\\\"".repeat(500)));
    }
    Answer answer =
        DEPLOYMENT.send(
            DEPLOYMENT.cloud().outputs().get("ControlPlaneURL")
                + call.path()
                + query(hostile, call.parameters()),
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
    if (!last.equals("tenants") && !call.method().equals("GET")) {
      TOUCHED.add(last);
    }
    if (call.method().equals("POST")) {
      TOUCHED.add(answer.body().path("tenantId").asText());
    }
    if (call.method().equals("PUT")) {
      TOUCHED.addAll(List.of("fuzz-a", "fuzz-b"));
    }
  }

  @Test
  void the_session_api_refuses_what_it_cannot_take_and_changes_nothing() throws Exception {
    String url = DEPLOYMENT.cloud().outputs().getOrDefault("SessionURL", "");
    String others = DEPLOYMENT.open(WATCH);
    fuzz(
        60,
        hostile -> {
          String session =
              hostile.onceIn(4) ? DEPLOYMENT.open("fuzz-other") : hostile.garbled(others);
          String query =
              "?tenantId="
                  + encoded(
                      hostile.onceIn(3) ? hostile.garbled("watc") : name(hostile, "fuzz-other"))
                  + "&sessionId="
                  + encoded(hostile.onceIn(3) ? hostile.text() : session);
          String listing = url.replaceFirst("/session$", "/tenant");
          String target =
              hostile.oneOf(
                  url + query,
                  url + query,
                  url + query,
                  url + query.replaceFirst("&.*", ""),
                  listing + "?cursor=" + encoded(hostile.text()));
          String method = target.startsWith(url) ? hostile.oneOf("PUT", "GET", "DELETE") : "GET";
          if (method.equals("PUT")) {
            target = target.replaceFirst("&sessionId.*", "");
          }
          check(DEPLOYMENT.send(target, method, "", Map.of("accept", hostile.plainText())));
        },
        after ->
            assertThat(DEPLOYMENT.session("GET", Deployment.query(WATCH, others)).status())
                .isEqualTo(200));
    isServed();
  }

  @Test
  void a_handshake_gets_a_status_that_is_documented_and_others_are_let_in() throws Exception {
    URI url = URI.create(DEPLOYMENT.cloud().outputs().getOrDefault("WebSocketURL", ""));
    String session = DEPLOYMENT.open("fuzz-other");
    fuzz(
        60,
        hostile -> {
          String tenant = hostile.onceIn(3) ? hostile.garbled("fuzz-other") : hostile.text();
          String valid = hostile.onceIn(2) ? "fuzz-other" : tenant;
          String id = hostile.onceIn(2) ? hostile.garbled(session) : hostile.text();
          String query = "?tenantId=" + encoded(valid) + "&sessionId=" + encoded(id);
          String target = url.getPath() + (hostile.onceIn(3) ? hostile.garbled(query) : query);
          String more =
              hostile.onceIn(4) ? "Sec-WebSocket-Protocol: " + hostile.plainText() : "A: b";
          String answer = rawHandshake(url, target.replaceAll("[^!-~]", "%"), more);
          Leaks.check(answer);
          int status = Integer.parseInt(answer.substring(9, 12));
          // What is no request line is refused by whatever stands before the API.
          if (status != 400) {
            Contracts.SOCKETS.checkHandshake(status);
          }
          assertThat(status).as(answer).isLessThan(500);
        },
        after -> isServed());
    DEPLOYMENT.cloud().settle();
    assertThat(DEPLOYMENT.control("GET", "/tenants/fuzz-other").body().get("connections").asInt())
        .isZero();
  }

  @Test
  void a_target_that_is_none_is_refused_and_others_are_served() throws Exception {
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
        hostile -> {
          String target = hostile.garbled(hostile.oneOf(targets));
          URI url = URI.create(targets.get(0));
          if (!hostile.onceIn(4)) {
            target = target.replaceFirst("https?://[^/]*", "");
          }
          String answer =
              raw(
                  url,
                  hostile.oneOf("GET", "PATCH", "OPTIONS", "HEAD", "BREW")
                      + " "
                      + target.replaceAll("[^!-~]", "%"),
                  "Content-Length: 0");
          Leaks.check(answer);
          assertThat(answer).startsWith("HTTP/1.1 ");
          assertThat(Integer.parseInt(answer.substring(9, 12))).as(answer).isBetween(200, 499);
        },
        after -> isServed());
  }

  /** Asks for a socket, and hangs up. */
  private static String rawHandshake(URI url, String target, String header) throws IOException {
    return raw(
        url,
        "GET " + target,
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        header);
  }

  /** What comes first of the answer to a request that no client of Java would send. */
  private static String raw(URI url, String request, String... headers) throws IOException {
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
  void a_frame_is_answered_as_documented_and_the_socket_goes_on(String action) throws Exception {
    String tenant = "fuzz-" + action.toLowerCase(Locale.ROOT);
    List<Handshake> sockets = new ArrayList<>();
    String frame =
        "{\"action\":\""
            + action
            + "\",\"id\":\"f-1\",\"message\":{\"to\":[1,\"\u00e9\uD83D\uDE80\",null]}}";
    AtomicInteger sent = new AtomicInteger();
    fuzz(
        60,
        hostile -> {
          if (sent.get() % MOST_REFUSED == 0) {
            sockets.add(DEPLOYMENT.connect(tenant, DEPLOYMENT.open(tenant)));
          }
          Handshake socket = sockets.get(sockets.size() - 1);
          String text = hostile.mutated(frame.replace("f-1", "f-" + sent.incrementAndGet()));
          // A client of Java sends no surrogate that stands alone, but an escaped one.
          socket.send(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
          if (sent.get() % MOST_REFUSED == 0) {
            goesOn(socket, action, sent.get());
          }
        },
        after -> {
          goesOn(sockets.get(sockets.size() - 1), action, sent.get() + 1);
          sockets.stream()
              .flatMap(socket -> socket.frames().texts().stream())
              .forEach(Leaks::check);
          isServed();
        });
    for (Handshake socket : sockets) {
      DEPLOYMENT.close(socket);
    }
  }

  /** A good frame, after all that were sent before, is accepted and processed. */
  private static void goesOn(Handshake socket, String action, int number)
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
  void an_input_that_no_schedule_has_mints_nothing_and_the_next_turn_is_taken() throws Exception {
    String input =
        "{\"tenantId\":\"fuzz-served\",\"action\":\"connect\",\"scheduledTime\":\"%s\"}"
            .formatted(DEPLOYMENT.clock().instant());
    String shard = "{\"shard\":\"shard-3\",\"scheduledTime\":\"2026-01-01T00:00:00Z\"}";
    fuzz(
        60,
        hostile -> {
          String event =
              hostile.onceIn(8)
                  ? input.replaceFirst("2[^\"]*Z", hostile.oneOf(TIMES))
                  : hostile.mutated(hostile.oneOf(input, input, shard));
          HttpResponse<String> end = DEPLOYMENT.invocation("TokenProducer", event);
          boolean failed = end.headers().firstValue("X-Amz-Function-Error").isPresent();
          assertThat(end.statusCode()).as(end.body()).isIn(200, 400);
          if (failed) {
            // An operator may see classes; but it is a refusal, ours or that of Lambda's runtime.
            assertThat(end.body())
                .containsAnyOf(
                    "InvalidValue",
                    "SerializationException",
                    "JsonParseException",
                    "UncheckedIOException");
          }
        },
        after -> isServed());
    assertThat(level()).isLessThan(180);
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    assertThat(level()).as("filled by the turns after").isEqualTo(180);
  }

  private static int level() {
    return DEPLOYMENT.control("GET", "/tenants/" + SERVED).body().at("/buckets/0/level").asInt();
  }

  /** A call that would be accepted, with the parameters that it may have. */
  private record Call(String method, String path, String body, List<String> parameters) {
    Call(String method, String path, String body, String... parameters) {
      this(method, path, body, List.of(parameters));
    }
  }
}
