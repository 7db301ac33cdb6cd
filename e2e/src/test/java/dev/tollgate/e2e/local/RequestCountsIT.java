package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.Faults.Injection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The AWS requests of each operation in steady state match those in ARCHITECTURE.md. */
final class RequestCountsIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();
  private static final Set<String> ADMISSION = Set.of("Authorizer", "Connect");
  private static final String NO_SESSION = "0".repeat(32);

  @BeforeAll
  static void tenants() throws Exception {
    DEPLOYMENT.onboard("counted", "gold", "{\"connectionsPerSession\":1}");
    DEPLOYMENT.onboard("capped", "gold", "{\"tenantConnections\":1}");
    DEPLOYMENT.onboard("hasty", "gold", "{\"sessionPerMinute\":1}");
    for (String tenant : List.of("counted", "capped", "hasty")) {
      Handshake warm = DEPLOYMENT.connect(tenant, DEPLOYMENT.open(tenant));
      assertThat(warm.status()).isEqualTo(101);
      DEPLOYMENT.close(warm);
    }
  }

  /** The requests of functions, except for credentials. */
  private static List<String> operations(LocalDeployment.Action action) throws Exception {
    return DEPLOYMENT.requestsOf(action).stream()
        .filter(request -> !LocalDeployment.isForCredentials(request))
        .map(Request::operation)
        .sorted()
        .toList();
  }

  private static String[] sorted(String... operations) {
    Arrays.sort(operations);
    return operations;
  }

  /** The requests of a refusal just after the last recorded refusal. */
  private static List<String> refusal(String tenant, String session, int status) throws Exception {
    return DEPLOYMENT.requestsOf(() -> refused(tenant, session, status)).stream()
        .filter(request -> ADMISSION.contains(request.principal().name()))
        .filter(request -> !LocalDeployment.isForCredentials(request))
        .map(Request::operation)
        .sorted()
        .toList();
  }

  /**
   * The requests of a refusal five seconds after the last recorded refusal, if earlier requests
   * have written all others.
   */
  private static List<String> laterRefusal(String tenant, String session, int status)
      throws Exception {
    DEPLOYMENT.advance(Duration.ofSeconds(5));
    assertThat(DEPLOYMENT.connect("nobody", session).status()).isEqualTo(403);
    return refusal(tenant, session, status);
  }

  private static void refused(String tenant, String session, int status) {
    assertThat(DEPLOYMENT.connect(tenant, session).status()).isEqualTo(status);
  }

  @Test
  void an_admitted_handshake_costs_five_requests_and_a_disconnect_two() throws Exception {
    String session = DEPLOYMENT.open("counted");
    // An authorizer remembers for a minute that a tenant exists. The last used one is used next.
    DEPLOYMENT.close(DEPLOYMENT.connect("counted", session));
    List<Handshake> admitted = new ArrayList<>();
    assertThat(operations(() -> admitted.add(DEPLOYMENT.connect("counted", session))))
        .containsExactly(
            sorted(
                "BatchGetItem",
                "ReceiveMessage",
                "UpdateItem",
                "UpdateItem",
                "DeleteMessageBatch"));
    assertThat(admitted.get(0).status()).isEqualTo(101);
    assertThat(operations(() -> DEPLOYMENT.close(admitted.get(0))))
        .containsExactly("UpdateItem", "UpdateItem");
  }

  @Test
  void a_refusal_by_the_read_costs_one_request_and_a_claim_and_a_read_every_five_seconds()
      throws Exception {
    // The GetItem reads the switch that lifts all limits.
    String[] andWritten =
        sorted(
            "BatchGetItem",
            "ReceiveMessage",
            "ChangeMessageVisibilityBatch",
            "GetItem",
            "UpdateItem");
    String full = DEPLOYMENT.open("counted");
    Handshake holder = DEPLOYMENT.connect("counted", full);
    assertThat(laterRefusal("counted", full, 429)).containsExactly(andWritten);
    assertThat(refusal("counted", full, 429)).containsExactly("BatchGetItem");
    DEPLOYMENT.close(holder);

    String capped = DEPLOYMENT.open("capped");
    Handshake only = DEPLOYMENT.connect("capped", capped);
    assertThat(laterRefusal("capped", capped, 429)).containsExactly(andWritten);
    assertThat(refusal("capped", capped, 429)).containsExactly("BatchGetItem");
    DEPLOYMENT.close(only);

    String hasty = DEPLOYMENT.open("hasty");
    DEPLOYMENT.close(DEPLOYMENT.connect("hasty", hasty));
    assertThat(laterRefusal("hasty", hasty, 429)).containsExactly(andWritten);
    assertThat(refusal("hasty", hasty, 429)).containsExactly("BatchGetItem");

    DEPLOYMENT.onboard("halted", "gold", "{}");
    String halted = DEPLOYMENT.open("halted");
    assertThat(DEPLOYMENT.connect("halted", halted).status()).isEqualTo(101);
    DEPLOYMENT.control("PATCH", "/tenants/halted", "{\"status\":\"SUSPENDED\"}");
    // A suspension ends the tenant's sessions, so they are unknown.
    String[] three = sorted("BatchGetItem", "ReceiveMessage", "ChangeMessageVisibilityBatch");
    assertThat(laterRefusal("halted", halted, 403)).containsExactly(three);
    assertThat(refusal("halted", halted, 403)).containsExactly("BatchGetItem");
    assertThat(laterRefusal("halted", halted, 403)).containsExactly(three);
  }

  /**
   * An observed limit costs what an enforced one and an admission cost: the connection that a limit
   * of its session would refuse is registered, and claims no token of an observed rate.
   */
  @Test
  void a_handshake_that_an_observed_limit_would_refuse_costs_no_more_than_an_admitted_one()
      throws Exception {
    DEPLOYMENT.onboard(
        "watched",
        "gold",
        "{\"connectionsPerSession\":1,\"modes\":{\"connectionsPerSession\":\"OBSERVE\","
            + "\"tenantPerMinute\":\"OBSERVE\"}}");
    String session = DEPLOYMENT.open("watched");
    List<Handshake> open = new ArrayList<>();
    open.add(DEPLOYMENT.connect("watched", session));
    // The first one of a storm is written at once, and tells the authorizer to read first.
    open.add(DEPLOYMENT.connect("watched", session));
    assertThat(operations(() -> open.add(DEPLOYMENT.connect("watched", session))))
        .containsExactly(sorted("BatchGetItem", "UpdateItem", "UpdateItem"));
    assertThat(open).map(Handshake::status).containsOnly(101);
    for (Handshake each : open) {
      DEPLOYMENT.close(each);
    }
  }

  @Test
  void what_a_storm_leaves_unwritten_costs_the_next_request_a_write() throws Exception {
    String session = DEPLOYMENT.open("counted");
    Handshake holder = DEPLOYMENT.connect("counted", session);
    laterRefusal("counted", session, 429);
    assertThat(refusal("counted", session, 429)).containsExactly("BatchGetItem");
    DEPLOYMENT.close(holder);
    DEPLOYMENT.advance(Duration.ofSeconds(5));

    // The instance may have forgotten that there is no such tenant.
    assertThat(refusal("nobody", session, 403))
        .contains("UpdateItem")
        .isSubsetOf("GetItem", "UpdateItem");
    assertThat(refusal("nobody", session, 403)).isEmpty();
  }

  @Test
  void an_unknown_session_costs_a_claim_every_five_seconds_and_no_write() throws Exception {
    DEPLOYMENT.onboard("sought", "gold", "{}");
    assertThat(DEPLOYMENT.connect("sought", DEPLOYMENT.open("sought")).status()).isEqualTo(101);
    String[] three = sorted("BatchGetItem", "ReceiveMessage", "ChangeMessageVisibilityBatch");
    assertThat(laterRefusal("sought", NO_SESSION, 403)).containsExactly(three);
    for (int i = 0; i < 10; i++) {
      assertThat(refusal("sought", NO_SESSION, 403)).containsExactly("BatchGetItem");
    }
    assertThat(laterRefusal("sought", NO_SESSION, 403)).containsExactly(three);
    assertThat(activity("sought")).isEqualTo("1 admitted, 0 refused");
  }

  @Test
  void a_refusal_by_the_rate_costs_ten_requests_then_one_and_three_every_five_seconds()
      throws Exception {
    // What an authorizer has read of the switch that lifts all limits is too old.
    DEPLOYMENT.advance(Duration.ofSeconds(5));
    DEPLOYMENT.onboard("poor", "gold", "{\"tenantPerMinute\":3}");
    String session = DEPLOYMENT.open("poor");
    for (int i = 0; i < 3; i++) {
      assertThat(DEPLOYMENT.connect("poor", session).status()).isEqualTo(101);
    }
    assertThat(refusal("poor", session, 429))
        .containsExactly(
            sorted(
                "BatchGetItem",
                "ReceiveMessage",
                "GetQueueAttributes",
                "GetItem",
                "UpdateItem",
                "Invoke",
                "UpdateItem",
                "UpdateItem",
                "UpdateItem",
                "UpdateItem"));
    assertThat(refusal("poor", session, 429)).containsExactly("BatchGetItem");
    // The third refusal is written, because only one of three is.
    assertThat(refusal("poor", DEPLOYMENT.open("poor"), 429))
        .containsExactly("BatchGetItem", "UpdateItem", "UpdateItem", "UpdateItem", "UpdateItem");
    assertThat(refusal("poor", session, 429)).containsExactly("BatchGetItem");
    assertThat(laterRefusal("poor", session, 429))
        .containsExactly("BatchGetItem", "GetItem", "UpdateItem");
    assertThat(refusal("poor", session, 429)).containsExactly("BatchGetItem");
    assertThat(activity("poor")).isEqualTo("3 admitted, 5 refused");
    laterRefusal("poor", session, 429);
    assertThat(activity("poor")).isEqualTo("3 admitted, 7 refused");
  }

  private static String activity(String tenant) {
    JsonNode found =
        DEPLOYMENT.control("GET", "/activity?tenantIds=" + tenant).body().at("/tenants/0");
    return found.get("admitted") + " admitted, " + found.get("refused") + " refused";
  }

  @Test
  void an_unknown_tenant_costs_one_request_and_then_none_for_seconds() throws Exception {
    assertThat(operations(() -> refused("stranger", NO_SESSION, 403))).containsExactly("GetItem");
    assertThat(operations(() -> refused("stranger", NO_SESSION, 403))).isEmpty();
    DEPLOYMENT.advance(Duration.ofSeconds(10));
    assertThat(
            DEPLOYMENT.requestsOf(() -> refused("stranger", NO_SESSION, 403)).stream()
                .map(Request::operation)
                .filter(operation -> operation.equals("GetItem")))
        .hasSize(1);
  }

  @Test
  void malformed_ids_cost_no_request() throws Exception {
    assertThat(operations(() -> refused("NOBODY", NO_SESSION, 403))).isEmpty();
    assertThat(
            operations(() -> assertThat(DEPLOYMENT.handshake("").join().status()).isEqualTo(401)))
        .isEmpty();
  }

  @Test
  void a_hundred_waiting_messages_are_processed_in_ten_batches() throws Exception {
    DEPLOYMENT.onboard("chatty", "gold", "{}");
    Handshake client = DEPLOYMENT.connect("chatty", DEPLOYMENT.open("chatty"));
    client.send("{\"action\":\"PooledSQS\",\"message\":\"warm\"}");
    client.frames().await("reply", 1);
    try (Injection backlog =
        DEPLOYMENT
            .cloud()
            .faults()
            .inject(
                call ->
                    call.operation().equals("BatchGetItem")
                        && call.principal().name().equals("PoolProcessor"),
                1_000,
                new Fault.Refused(400, "ThrottlingException", "Rate exceeded"))) {
      for (int i = 0; i < 100; i++) {
        client.send("{\"action\":\"PooledSQS\",\"id\":\"c-%d\",\"message\":1}".formatted(i));
      }
      client.frames().await("accepted", 101);
      DEPLOYMENT.cloud().settle();
      assertThat(backlog.count()).isPositive();
    }

    Map<String, Long> counts =
        DEPLOYMENT
            .requestsOf(
                () -> {
                  DEPLOYMENT.advance(Duration.ofMinutes(2));
                  client.frames().await("reply", 101);
                })
            .stream()
            .filter(request -> request.principal().name().equals("PoolProcessor"))
            .collect(
                Collectors.groupingBy(Request::operation, TreeMap::new, Collectors.counting()));
    System.out.println("requests of the processor for 100 waiting messages: " + counts);
    long forTokens =
        counts.getOrDefault("ReceiveMessage", 0L)
            + counts.getOrDefault("DeleteMessageBatch", 0L)
            + counts.getOrDefault("ChangeMessageVisibilityBatch", 0L)
            + counts.getOrDefault("SendMessageBatch", 0L);
    assertThat(forTokens).isBetween(1L, 30L);
    // Their client set the ids, so each batch is logged; one of these writes also extends the
    // session.
    assertThat(counts.getOrDefault("BatchWriteItem", 0L) + counts.getOrDefault("UpdateItem", 0L))
        .isBetween(10L, 11L);
    assertThat(counts.get("BatchGetItem")).isLessThanOrEqualTo(11);
    assertThat(counts.get("PostToConnection")).isEqualTo(100);
    DEPLOYMENT.close(client);
  }

  @Test
  void a_message_with_an_id_costs_one_write_and_its_repetition_none() throws Exception {
    DEPLOYMENT.onboard("frugal", "gold", "{}");
    Handshake client = DEPLOYMENT.connect("frugal", DEPLOYMENT.open("frugal"));
    client.send("{\"action\":\"PooledSQS\",\"message\":\"warm\"}");
    client.frames().await("reply", 1);
    String named = "{\"action\":\"PooledSQS\",\"id\":\"n-1\",\"message\":1}";

    assertThat(writes(() -> accepted(client, named, 2))).isEqualTo(1);
    assertThat(writes(() -> accepted(client, named, 3))).isZero();
    assertThat(writes(() -> accepted(client, "{\"action\":\"PooledSQS\",\"message\":1}", 4)))
        .isZero();
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    assertThat(writes(() -> accepted(client, named.replace("n-1", "n-2"), 5))).isEqualTo(1);
    assertThat(writes(() -> accepted(client, named.replace("n-1", "n-2"), 6))).isZero();
    assertThat(client.frames().of("reply")).hasSize(4);
    DEPLOYMENT.close(client);
  }

  private static void accepted(Handshake client, String frame, int soFar) throws Exception {
    client.send(frame);
    client.frames().await("accepted", soFar);
  }

  /** The requests of the processor that write to a table. */
  private static long writes(LocalDeployment.Action action) throws Exception {
    return DEPLOYMENT.requestsOf(action).stream()
        .filter(request -> request.principal().name().equals("PoolProcessor"))
        .filter(request -> request.operation().matches("(Update|Put|Delete|BatchWrite).*Item.*"))
        .count();
  }
}
