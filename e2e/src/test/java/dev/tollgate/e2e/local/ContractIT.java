package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.acceptance.Contracts;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.Faults.Injection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/**
 * Every documented response occurs, except those that the local cloud cannot give. {@link
 * LocalDeployment} checks that each response matches its contract.
 */
final class ContractIT {
  private static final LocalDeployment DEPLOYMENT = LocalDeployment.shared();
  private static final String JSON = "application/json";
  private static final String LIMITS =
      "\"limits\":{\"tenantPerMinute\":60,\"sessionPerMinute\":30,\"connectionsPerSession\":10,"
          + "\"tenantConnections\":%d,\"sessionTTL\":200,\"messagesPerMinute\":1}";
  private static final String LIFTING = "{\"reason\":\"a test\",\"minutes\":1}";
  private static final String WINDOW =
      "{\"factor\":2,\"from\":\"2099-11-27T18:00\",\"to\":\"2099-11-28T02:00\","
          + "\"zone\":\"Europe/Berlin\"}";

  private static final String LARGE = "{\"tenantId\":\"" + "x".repeat(65 * 1024) + "\"}";

  /** The end of a response's key, and the reason why it cannot occur here. */
  private static final Map<String, String> ONLY_OF_AWS =
      Map.of(
          " 403", "the local gateway takes requests unsigned",
          "DELETE /tenants/{tenantId}/sessions/{session} 409",
              "two ids of 128 random bits do not begin alike; SessionsTest has two that do",
          "POST /tenants/{tenantId}/push 409",
              "the first of two pushes ends before the second; IdempotencyTest has them at once",
          " 429",
              "no test sends as many requests as the stage takes; MessageRoutesIT has a lower limit");

  private static final Map<String, String> NOT_OF_OPEN_SESSIONS =
      Map.of(
          " 401", "sessions require no token here; SessionTokensIT tests those that do",
          "GET /tenant 404", "the listing of tenants is enabled here",
          " 403",
              "sessions require no signature either, and the local gateway does not check signatures",
          "POST /tenants/{tenantId}/push 409",
              "the first of two pushes ends before the second; IdempotencyTest has them at once",
          " 429",
              "no test sends as many requests as the stage takes; MessageRoutesIT has a lower limit");

  private static String tier(int connections, String more) {
    return "{\"isolation\":\"POOL\"," + LIMITS.formatted(connections) + more + "}";
  }

  private static int control(String method, String path, String body, String... headers) {
    Map<String, String> all = new HashMap<>(Map.of("content-type", JSON));
    for (int i = 0; i < headers.length; i += 2) {
      all.put(headers[i], headers[i + 1]);
    }
    String url = output("ControlPlaneURL") + path;
    return DEPLOYMENT.send(url, method, body, all).status();
  }

  private static Predicate<Call> callsOf(String function) {
    return call -> call.principal().name().equals(function);
  }

  private static String output(String name) {
    return DEPLOYMENT.cloud().outputs().getOrDefault(name, "");
  }

  /** Runs an action while every call of a function fails. */
  private static void duringFault(String function, Fault fault, Runnable action) {
    try (Injection injected = DEPLOYMENT.cloud().faults().inject(callsOf(function), 1_000, fault)) {
      action.run();
      assertThat(injected.count()).isPositive();
    }
  }

  private static Fault refusing() {
    return new Fault.Refused(500, "InternalServerError", "out of order");
  }

  private static Fault killing(String function) {
    return new Fault.Interrupted(() -> DEPLOYMENT.cloud().kill(function));
  }

  private static Set<String> missing(
      Set<String> documented, Set<String> seen, Map<String, String> impossible) {
    Set<String> missing = new TreeSet<>(documented);
    missing.removeAll(seen);
    missing.removeIf(answer -> impossible.keySet().stream().anyMatch(answer::endsWith));
    return missing;
  }

  @Test
  void the_control_plane_gives_every_documented_response() throws Exception {
    Contracts.CONTROL_PLANE.forget();
    tiers();
    tenants();
    history();
    drift();
    admitAll();
    for (int expected : new int[] {503, 500}) {
      duringFault(
          "ControlPlane",
          expected == 503 ? refusing() : killing("ControlPlane"),
          () -> {
            for (String call :
                List.of(
                    "POST /tenants",
                    "GET /tenants",
                    "GET /tenants/covered",
                    "PATCH /tenants/covered",
                    "DELETE /tenants/covered",
                    "DELETE /tenants/covered/line",
                    "POST /tenants/covered/schedules",
                    "DELETE /tenants/covered/schedules/20991127T1700Z",
                    "POST /tiers/covered/schedules",
                    "DELETE /tiers/covered/schedules/20991127T1700Z",
                    "GET /tenants/covered/sessions",
                    "DELETE /tenants/covered/sessions/0123456789ab",
                    "GET /tenants/covered/dead-letters",
                    "POST /tenants/covered/dead-letters/redrive",
                    "POST /tenants/covered/push",
                    "GET /tiers",
                    "GET /tiers/covered",
                    "PUT /tiers/covered",
                    "DELETE /tiers/covered",
                    "GET /tenants/covered/history",
                    "GET /alarms",
                    "GET /audit",
                    "GET /fleet",
                    "GET /fleet/tenants",
                    "GET /activity?tenantIds=covered",
                    "GET /drift",
                    "POST /repairs",
                    "GET /admit-all",
                    "PUT /admit-all",
                    "DELETE /admit-all")) {
              String[] parts = call.split(" ", 2);
              String body =
                  switch (call.equals("POST /repairs") || call.endsWith("redrive")
                      ? ""
                      : parts[0]) {
                    case "POST" ->
                        call.endsWith("push")
                            ? "{\"all\":true,\"message\":1}"
                            : call.endsWith("schedules")
                                ? WINDOW
                                : "{\"tenantId\":\"covered\",\"tier\":\"gold\"}";
                    case "PATCH" -> "{\"tier\":\"gold\"}";
                    case "PUT" -> call.endsWith("admit-all") ? LIFTING : tier(5, "");
                    default -> "";
                  };
              assertThat(control(parts[0], parts[1], body)).as(call).isEqualTo(expected);
            }
          });
    }
    assertThat(
            missing(Contracts.CONTROL_PLANE.answers(), Contracts.CONTROL_PLANE.seen(), ONLY_OF_AWS))
        .isEmpty();
  }

  private void history() {
    assertThat(control("GET", "/tenants/covered/history", "")).isEqualTo(200);
    assertThat(control("GET", "/tenants/covered/history?step=x", "")).isEqualTo(400);
    assertThat(control("GET", "/tenants/nobody/history", "")).isEqualTo(404);
    for (String path : List.of("/alarms", "/audit", "/fleet", "/fleet/tenants")) {
      assertThat(control("GET", path, "")).isEqualTo(200);
    }
    assertThat(control("GET", "/audit?from=x", "")).isEqualTo(400);
    assertThat(control("GET", "/fleet?step=x", "")).isEqualTo(400);
    assertThat(control("GET", "/fleet/tenants?sort=x", "")).isEqualTo(400);
  }

  private void admitAll() {
    String path = "/admit-all";
    assertThat(control("GET", path, "")).isEqualTo(200);
    assertThat(control("PUT", path, LIFTING)).isEqualTo(200);
    assertThat(control("PUT", path, "{}")).isEqualTo(400);
    assertThat(control("PUT", path + "?dryRun=true", LIFTING)).isEqualTo(400);
    assertThat(control("PUT", path, LARGE)).isEqualTo(413);
    assertThat(control("PUT", path, "x", "content-type", "text/plain")).isEqualTo(415);
    assertThat(control("DELETE", path + "?dryRun=true", "")).isEqualTo(400);
    assertThat(control("DELETE", path, "")).isEqualTo(200);
  }

  private void tiers() {
    String tier = "/tiers/covered";
    assertThat(control("PUT", tier + "?dryRun=true", tier(10, ""))).isEqualTo(200);
    assertThat(control("PUT", tier, tier(10, ""))).isEqualTo(201);
    assertThat(control("PUT", tier, tier(10, ""))).isEqualTo(200);
    assertThat(control("PUT", tier + "?dryRun=true&limit=1", tier(9, ""))).isEqualTo(200);
    assertThat(control("PUT", tier, tier(9, ",\"version\":7"))).isEqualTo(409);
    assertThat(control("PUT", tier, tier(9, ""), "if-match", "\"7\"")).isEqualTo(412);
    assertThat(control("PUT", tier, LARGE)).isEqualTo(413);
    assertThat(control("PUT", tier, "x", "content-type", "text/plain")).isEqualTo(415);
    assertThat(control("PUT", tier, "{}")).isEqualTo(400);
    Predicate<Call> listings =
        callsOf("ControlPlane").and(call -> call.operation().equals("Query"));
    try (Injection injected = DEPLOYMENT.cloud().faults().inject(listings, 1_000, refusing())) {
      assertThat(control("PUT", tier, tier(8, ""))).isEqualTo(202);
      assertThat(injected.count()).isPositive();
    }
    assertThat(control("GET", tier, "")).isEqualTo(200);
    assertThat(control("GET", "/tiers", "")).isEqualTo(200);
    assertThat(control("GET", "/tiers/uncovered", "")).isEqualTo(404);
    assertThat(control("GET", "/tiers/No", "")).isEqualTo(400);
    assertThat(control("DELETE", "/tiers/No", "")).isEqualTo(400);
    assertThat(control("DELETE", "/tiers/uncovered", "")).isEqualTo(404);
    assertThat(control("DELETE", tier, "", "if-match", "\"7\"")).isEqualTo(412);
    assertThat(control("DELETE", tier + "?dryRun=true", "")).isEqualTo(200);
    assertThat(control("DELETE", "/tiers", "")).as("no such method").isEqualTo(404);
  }

  private void drift() {
    assertThat(control("GET", "/drift", "")).isEqualTo(200);
    assertThat(control("GET", "/drift?cursor=no", "")).isEqualTo(400);
    assertThat(control("POST", "/repairs", "{}")).isEqualTo(200);
    assertThat(control("POST", "/repairs?limit=0", "{}")).isEqualTo(400);
    assertThat(control("POST", "/repairs", LARGE)).isEqualTo(413);
    assertThat(control("POST", "/repairs", "x", "content-type", "text/plain")).isEqualTo(415);
  }

  /** The answers to requests that schedule limits, except conflicts. */
  private static void schedules(String owner) {
    String path = owner + "/schedules";
    String one = path + "/20991127T1700Z";
    String none = owner.substring(0, owner.lastIndexOf('/')) + "/uncovered/schedules";
    assertThat(control("POST", path + "?dryRun=true", WINDOW)).isEqualTo(200);
    assertThat(control("POST", path, WINDOW)).isEqualTo(201);
    assertThat(control("POST", path, WINDOW)).isEqualTo(200);
    assertThat(control("POST", path, "{}")).isEqualTo(400);
    assertThat(control("POST", path, LARGE)).isEqualTo(413);
    assertThat(control("POST", path, "x", "content-type", "text/plain")).isEqualTo(415);
    assertThat(control("POST", path, WINDOW, "if-match", "\"777\"")).isEqualTo(412);
    assertThat(control("POST", none, WINDOW)).isEqualTo(404);
    assertThat(control("DELETE", one + "?dryRun=true", "")).isEqualTo(200);
    assertThat(control("DELETE", one + "?dryRun=yes", "")).isEqualTo(400);
    assertThat(control("DELETE", one, "", "if-match", "\"777\"")).isEqualTo(412);
    assertThat(control("DELETE", one, "")).isEqualTo(204);
    assertThat(control("DELETE", one, "")).isEqualTo(404);
  }

  private void tenants() throws Exception {
    String covered = "{\"tenantId\":\"covered\",\"tier\":\"covered\"}";
    assertThat(control("POST", "/tenants", covered, "idempotency-key", "\"c-1\"")).isEqualTo(201);
    assertThat(control("POST", "/tenants", covered, "idempotency-key", "\"c-1\"")).isEqualTo(201);
    assertThat(control("POST", "/tenants", covered)).isEqualTo(200);
    assertThat(control("POST", "/tenants", covered, "idempotency-key", "c-1")).isEqualTo(400);
    String other = covered.replace("}", ",\"overrides\":{\"sessionTTL\":9}}");
    assertThat(control("POST", "/tenants", other, "idempotency-key", "\"c-1\"")).isEqualTo(422);
    assertThat(control("POST", "/tenants", other)).isEqualTo(409);
    assertThat(control("POST", "/tenants", LARGE)).isEqualTo(413);
    assertThat(control("POST", "/tenants", "x", "content-type", "text/plain")).isEqualTo(415);
    assertThat(control("DELETE", "/tiers/covered", "")).isEqualTo(409);
    assertThat(control("GET", "/tenants?limit=1", "")).isEqualTo(200);
    assertThat(control("GET", "/tenants?limit=0", "")).isEqualTo(400);
    assertThat(control("GET", "/tenants?prefix=cov&tier=covered", "")).isEqualTo(200);
    assertThat(control("GET", "/activity?tenantIds=covered,uncovered", "")).isEqualTo(200);
    assertThat(control("GET", "/activity", "")).isEqualTo(400);
    String tenant = "/tenants/covered";
    assertThat(control("GET", tenant, "")).isEqualTo(200);
    assertThat(control("GET", "/tenants/uncovered", "")).isEqualTo(404);
    assertThat(control("GET", "/tenants/No", "")).isEqualTo(400);
    String gold = "{\"tier\":\"gold\"}";
    assertThat(control("PATCH", tenant + "?dryRun=true", gold)).isEqualTo(200);
    assertThat(control("PATCH", tenant, gold, "if-match", "\"7\"")).isEqualTo(412);
    assertThat(control("PATCH", tenant, gold)).isEqualTo(200);
    assertThat(control("PATCH", "/tenants/uncovered", gold)).isEqualTo(404);
    assertThat(control("PATCH", tenant, "[]")).isEqualTo(400);
    assertThat(control("PATCH", tenant, LARGE)).isEqualTo(413);
    assertThat(control("PATCH", tenant, "x", "content-type", "text/plain")).isEqualTo(415);
    assertThat(control("DELETE", tenant + "/line", "")).isEqualTo(200);
    assertThat(control("DELETE", tenant + "/line", "", "if-match", "\"7\"")).isEqualTo(412);
    assertThat(control("DELETE", tenant + "/line?dryRun=true", "")).isEqualTo(400);
    assertThat(control("DELETE", "/tenants/uncovered/line", "")).isEqualTo(404);
    schedules(tenant);
    schedules("/tiers/gold");
    assertThat(control("PATCH", tenant, "{\"overrides\":{\"tenantConnections\":600000}}"))
        .isEqualTo(200);
    assertThat(control("POST", "/tiers/gold/schedules", WINDOW)).isEqualTo(409);
    assertThat(control("PATCH", tenant, "{\"overrides\":{}}")).isEqualTo(200);
    assertThat(control("POST", tenant + "/schedules", WINDOW)).isEqualTo(201);
    assertThat(control("GET", tenant + "/sessions", "")).isEqualTo(200);
    assertThat(control("GET", tenant + "/sessions?limit=0", "")).isEqualTo(400);
    assertThat(control("GET", "/tenants/uncovered/sessions", "")).isEqualTo(404);
    assertThat(control("DELETE", tenant + "/sessions/0123456789ab", "")).isEqualTo(204);
    assertThat(control("DELETE", tenant + "/sessions/x", "")).isEqualTo(400);
    assertThat(control("DELETE", "/tenants/uncovered/sessions/0123456789ab", "")).isEqualTo(404);
    assertThat(control("GET", tenant + "/dead-letters", "")).isEqualTo(200);
    assertThat(control("GET", "/tenants/No/dead-letters", "")).isEqualTo(400);
    assertThat(control("GET", "/tenants/uncovered/dead-letters", "")).isEqualTo(404);
    String redrive = tenant + "/dead-letters/redrive";
    assertThat(control("POST", redrive, "")).isEqualTo(200);
    assertThat(control("POST", redrive + "?limit=101", "")).isEqualTo(400);
    assertThat(control("POST", redrive, LARGE)).isEqualTo(413);
    assertThat(control("POST", redrive, "x", "content-type", "text/plain")).isEqualTo(415);
    assertThat(control("POST", "/tenants/uncovered/dead-letters/redrive", "")).isEqualTo(404);
    String push = tenant + "/push";
    String named = "{\"all\":true,\"id\":\"covered\",\"message\":1}";
    assertThat(control("POST", push, named)).isEqualTo(202);
    assertThat(control("POST", push, named.replace("1}", "2}"))).isEqualTo(422);
    assertThat(control("POST", push, "{\"subject\":\"nobody\",\"message\":1}")).isEqualTo(200);
    assertThat(control("POST", push, "{\"message\":1}")).isEqualTo(400);
    assertThat(control("POST", push, "{\"all\":true,\"message\":\"" + LARGE.repeat(3) + "\"}"))
        .isEqualTo(413);
    assertThat(control("POST", push, "x", "content-type", "text/plain")).isEqualTo(415);
    assertThat(control("POST", "/tenants/uncovered/push", named)).isEqualTo(404);
    assertThat(control("DELETE", "/tiers/covered", "")).isEqualTo(204);
    assertThat(control("DELETE", "/tenants/uncovered", "", "if-match", "*")).isEqualTo(412);
    assertThat(control("DELETE", tenant + "?dryRun=true", "")).isEqualTo(200);
    assertThat(control("DELETE", tenant + "?dryRun=yes", "")).isEqualTo(400);
    assertThat(control("DELETE", "/tenants/uncovered", "")).isEqualTo(204);
    Predicate<Call> removals =
        callsOf("ControlPlane").and(call -> call.operation().equals("DeleteSchedule"));
    try (Injection injected = DEPLOYMENT.cloud().faults().inject(removals, 1_000, refusing())) {
      assertThat(control("DELETE", tenant, "")).isEqualTo(202);
      assertThat(injected.count()).isPositive();
    }
    assertThat(control("PATCH", tenant, gold)).isEqualTo(409);
    assertThat(control("POST", redrive, "")).isEqualTo(409);
    assertThat(control("POST", tenant + "/schedules", WINDOW)).isEqualTo(409);
    assertThat(control("DELETE", tenant + "/schedules/20991127T1700Z", "")).isEqualTo(409);
    assertThat(DEPLOYMENT.control("GET", "/tenants?pending=true", "").body().toString())
        .contains("covered");
    DEPLOYMENT.advance(Duration.ofMinutes(5));
    assertThat(control("GET", tenant, "")).isEqualTo(404);
  }

  private static Answer sessions(String method, String path, String... headers) {
    Map<String, String> all = new HashMap<>();
    for (int i = 0; i < headers.length; i += 2) {
      all.put(headers[i], headers[i + 1]);
    }
    String url = output("SessionURL").replaceFirst("/session$", "");
    return DEPLOYMENT.send(url + path, method, "", all);
  }

  @Test
  void the_session_api_gives_every_documented_response() {
    Contracts.SESSIONS.forget();
    DEPLOYMENT.onboard("seated", "bronze", "{\"tenantPerMinute\":1}");
    String session = DEPLOYMENT.open("seated");
    String query = "/session" + Deployment.query("seated", session);
    String unknown = "/session" + Deployment.query("seated", "0".repeat(32));

    assertThat(sessions("GET", query).status()).isEqualTo(200);
    assertThat(DEPLOYMENT.connect("seated", session).status()).isEqualTo(101);
    assertThat(DEPLOYMENT.connect("seated", session).status()).isEqualTo(429);
    Answer refused = sessions("GET", query, "origin", "http://example.com");
    assertThat(refused.header("retry-after")).isNotEqualTo("none");
    assertThat(sessions("PUT", query).status()).isEqualTo(200);
    assertThat(sessions("PUT", unknown).status()).isEqualTo(404);
    assertThat(sessions("GET", unknown).status()).isEqualTo(404);
    assertThat(sessions("DELETE", unknown).status()).isEqualTo(404);
    assertThat(sessions("DELETE", query).status()).isEqualTo(204);
    for (String call : List.of("PUT /session", "GET /session", "DELETE /session")) {
      String[] parts = call.split(" ", 2);
      assertThat(sessions(parts[0], parts[1]).status()).as(call).isEqualTo(400);
    }
    assertThat(sessions("PUT", "/session?tenantId=unseated").status()).isEqualTo(404);
    assertThat(sessions("GET", "/tenant").status()).isEqualTo(200);
    assertThat(sessions("GET", "/tenant?cursor=seated").status()).isEqualTo(400);
    assertThat(sessions("POST", "/session").status()).as("no such method").isEqualTo(404);
    int created = 201;
    for (int i = 0; i < 20 && created == 201; i++) {
      created = sessions("PUT", "/session?tenantId=seated").status();
    }
    assertThat(created).isEqualTo(429);
    DEPLOYMENT.control("PATCH", "/tenants/seated", "{\"status\":\"SUSPENDED\"}");
    assertThat(sessions("PUT", "/session?tenantId=seated").status()).isEqualTo(403);
    for (String path : List.of("/session", "/tenant")) {
      Answer preflight =
          sessions(
              "OPTIONS",
              path,
              "origin",
              "http://example.com",
              "access-control-request-method",
              "PUT");
      assertThat(preflight.status()).isEqualTo(204);
    }
    for (int expected : new int[] {503, 500}) {
      duringFault(
          "SessionApi",
          expected == 503 ? refusing() : killing("SessionApi"),
          () -> {
            for (String call :
                List.of(
                    "PUT /session?tenantId=seated",
                    "GET " + query,
                    "DELETE " + query,
                    "GET /tenant")) {
              String[] parts = call.split(" ", 2);
              assertThat(sessions(parts[0], parts[1]).status()).as(call).isEqualTo(expected);
            }
          });
    }

    Set<String> missing =
        missing(Contracts.SESSIONS.answers(), Contracts.SESSIONS.seen(), NOT_OF_OPEN_SESSIONS);
    assertThat(missing).isEmpty();
    assertThat(Contracts.SESSIONS.seen()).contains("PUT /session 403", "PUT /session 429");
  }

  @Test
  void sockets_receive_every_documented_frame_and_status() throws Exception {
    Contracts.SOCKETS.forget();
    String refuse = ",\"onUnavailable\":\"REFUSE\"";
    assertThat(control("PUT", "/tiers/plugged", tier(1, refuse))).isEqualTo(201);
    DEPLOYMENT.onboard("plugged", "plugged", "{}");
    String query = Deployment.query("plugged", DEPLOYMENT.open("plugged"));
    String url = output("WebSocketURL");
    DEPLOYMENT.onboard("plugged-late", "silver", "{}");
    String ofAnother = Deployment.query("plugged-late", DEPLOYMENT.open("plugged-late"));

    assertThat(DEPLOYMENT.handshake("").join().status()).isEqualTo(401);
    assertThat(DEPLOYMENT.handshake(query + "0").join().status()).isEqualTo(403);
    String long4096 = query + "&more=" + "x".repeat(4096);
    assertThat(DEPLOYMENT.handshake(long4096).join().status()).isEqualTo(414);
    int plain =
        DEPLOYMENT.send(url.replaceFirst("^ws", "http") + query, "GET", "", Map.of()).status();
    Contracts.SOCKETS.checkHandshake(plain);
    assertThat(plain).isEqualTo(426);
    Predicate<Call> receives =
        callsOf("Authorizer").and(call -> call.operation().equals("ReceiveMessage"));
    try (Injection injected = DEPLOYMENT.cloud().faults().inject(receives, 1_000, refusing())) {
      assertThat(DEPLOYMENT.handshake(query).join().status()).isEqualTo(503);
      assertThat(injected.count()).isPositive();
    }
    duringFault(
        "Authorizer",
        killing("Authorizer"),
        () -> assertThat(DEPLOYMENT.handshake(query).join().status()).isEqualTo(500));

    CountDownLatch hung = new CountDownLatch(1);
    Predicate<Call> registering =
        callsOf("Connect")
            .and(
                call -> {
                  hung.countDown();
                  return true;
                });
    try (Injection injected =
        DEPLOYMENT.cloud().faults().inject(registering, 1_000, new Fault.Hung())) {
      // The function continues after the time-out and may still count the connection.
      CompletableFuture<Handshake> late = DEPLOYMENT.handshake(ofAnother);
      assertThat(hung.await(10, TimeUnit.SECONDS)).isTrue();
      DEPLOYMENT.clock().advance(Duration.ofSeconds(29));
      assertThat(late.join().status()).isEqualTo(504);
      assertThat(injected.count()).isPositive();
    }

    Handshake client = DEPLOYMENT.handshake(query).join();
    assertThat(client.status()).isEqualTo(101);
    assertThat(DEPLOYMENT.handshake(query).join().status()).isEqualTo(429);
    client.send("{\"action\":\"PooledSQS\",\"id\":\"one\",\"message\":1}");
    client.frames().await("reply", 1);
    client.send("{\"action\":\"PooledSQS\",\"id\":\"two\",\"message\":2}");
    client.send("{\"action\":\"SiloSQS\",\"message\":3}");
    client.send("what?");
    Predicate<Call> sends =
        call ->
            call.operation().equals("SendMessageBatch")
                && call.resource().equals(Optional.of("tollgate_pool.fifo"));
    client.frames().await("error", 3);
    try (Injection injected = DEPLOYMENT.cloud().faults().inject(sends, 1, refusing())) {
      client.send("{\"action\":\"PooledSQS\",\"id\":\"four\",\"message\":4}");
      client.frames().await("error", 4);
      assertThat(injected.count()).isEqualTo(1);
    }
    try (Injection injected = DEPLOYMENT.cloud().faults().inject(sends, 1, new Fault.Lost())) {
      client.send("{\"action\":\"PooledSQS\",\"id\":\"five\",\"message\":5}");
      client.frames().await("", 1);
      assertThat(injected.count()).isEqualTo(1);
    }
    DEPLOYMENT.close(client);
    control("PATCH", "/tenants/plugged", "{\"overrides\":{\"tenantConnections\":2}}");
    Handshake one = DEPLOYMENT.handshake(query).join();
    Handshake two = DEPLOYMENT.handshake(query).join();
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    one.send("{\"action\":\"PooledSQS\",\"id\":\"six\",\"message\":6}");
    two.frames().await("message", 1);
    assertThat(control("POST", "/tenants/plugged/push", "{\"all\":true,\"message\":[1]}"))
        .isEqualTo(202);
    two.frames().await("push", 1);
    Predicate<Call> closes = call -> call.operation().equals("DeleteConnection");
    try (Injection injected = DEPLOYMENT.cloud().faults().inject(closes, 100, refusing())) {
      control("PATCH", "/tenants/plugged", "{\"status\":\"SUSPENDED\"}");
      one.send("{\"action\":\"PooledSQS\",\"id\":\"seven\",\"message\":7}");
      one.frames().await("error", 1);
      assertThat(injected.count()).isPositive();
    }
    DEPLOYMENT.close(one);
    DEPLOYMENT.close(two);

    assertThat(missing(Contracts.SOCKETS.answers(), Contracts.SOCKETS.seen(), Map.of())).isEmpty();
  }
}
