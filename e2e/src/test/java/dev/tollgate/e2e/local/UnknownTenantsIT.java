package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.Faults.Injection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Unknown tenant ids: each costs one read of one row and no AssumeRole, in any number, and existing
 * tenants are served at the same time. Each unknown session of an existing tenant costs one read
 * and waits for no queue. A caller who knows a tenant id creates at most ten times as many sessions
 * as the tenant may open connections.
 */
final class UnknownTenantsIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();
  private static final String SESSION = "0".repeat(32);

  private static final long REFUSALS = 8;

  /** The number of attempts per second, if the machine is fast enough. */
  private static final int PER_SECOND = 1_000;

  /** Below the number of concurrent requests that the functions accept. */
  private static final int AT_A_TIME = 48;

  private static final ExecutorService CALLERS = Executors.newFixedThreadPool(AT_A_TIME);

  @AfterAll
  static void stop() {
    CALLERS.shutdownNow();
  }

  private static List<String> operations(LocalDeployment.Action action) throws Exception {
    return DEPLOYMENT.requestsOf(action).stream().map(Request::operation).toList();
  }

  private static int status(String method, String query) {
    return DEPLOYMENT.session(method, query).status();
  }

  @Test
  void an_unknown_tenant_id_costs_one_read_and_then_none_while_cached() throws Exception {
    String query = Deployment.query("made-up", SESSION);
    List<LocalDeployment.Action> attempts =
        List.of(
            () -> assertThat(status("PUT", "?tenantId=made-up")).isEqualTo(404),
            () -> assertThat(status("GET", query)).isEqualTo(404),
            () -> assertThat(status("DELETE", query)).isEqualTo(404));
    for (LocalDeployment.Action first : attempts) {
      assertThat(operations(first)).containsExactly("GetItem");
      for (LocalDeployment.Action attempt : attempts) {
        assertThat(operations(attempt)).isEmpty();
      }
      DEPLOYMENT.advance(Duration.ofSeconds(5));
    }
    LocalDeployment.Action handshake =
        () -> assertThat(DEPLOYMENT.handshake(query).join().status()).isEqualTo(403);
    assertThat(operations(handshake)).containsExactly("GetItem");
    assertThat(operations(handshake)).isEmpty();
  }

  @Test
  void session_creations_over_ten_times_the_rate_are_refused_until_retry_after() throws Exception {
    DEPLOYMENT.onboard("creator", "gold", "{\"tenantPerMinute\":3}");
    DEPLOYMENT.onboard("bystander", "gold", "{\"tenantPerMinute\":3}");
    for (int i = 0; i < 30; i++) {
      assertThat(status("PUT", "?tenantId=creator")).as("session %d", i).isEqualTo(201);
    }
    for (int round = 0; round < 3; round++) {
      Answer refused = DEPLOYMENT.session("PUT", "?tenantId=creator");
      assertThat(refused.status()).isEqualTo(429);
      long seconds = Long.parseLong(refused.header("retry-after"));
      assertThat(seconds).isEqualTo(2);
      assertThat(status("PUT", "?tenantId=bystander")).isEqualTo(201);
      DEPLOYMENT.advance(Duration.ofSeconds(seconds));
      assertThat(status("PUT", "?tenantId=creator")).isEqualTo(201);
    }
  }

  /** Sends refused handshakes one after another, within five seconds by the deployment's clock. */
  private static void refusals(String tenant, String session) {
    long start = System.nanoTime();
    for (int i = 0; i < REFUSALS; i++) {
      assertThat(DEPLOYMENT.connect(tenant, session).status()).isEqualTo(403);
    }
    System.out.printf(
        "a refused handshake of %s: %d ms of %d%n",
        tenant, (System.nanoTime() - start) / 1_000_000 / REFUSALS, REFUSALS);
  }

  private static Map<String, Long> requestsOfRefusals(String tenant, String session)
      throws Exception {
    return DEPLOYMENT.requestsOf(() -> refusals(tenant, session)).stream()
        .collect(Collectors.groupingBy(Request::operation, Collectors.counting()));
  }

  @Test
  void unknown_sessions_of_a_tenant_with_an_empty_bucket_cost_a_read_each() throws Exception {
    DEPLOYMENT.onboard("drained", "gold", "{\"tenantPerMinute\":1}");
    assertThat(DEPLOYMENT.connect("drained", DEPLOYMENT.open("drained")).status()).isEqualTo(101);
    assertThat(requestsOfRefusals("drained", SESSION))
        .isEqualTo(Map.of("BatchGetItem", REFUSALS, "ReceiveMessage", 1L));
    assertThat(requestsOfRefusals("drained", SESSION)).isEqualTo(Map.of("BatchGetItem", REFUSALS));
  }

  @Test
  void handshakes_of_a_suspended_tenant_cost_a_read_each() throws Exception {
    DEPLOYMENT.onboard("halted", "gold", "{}");
    String session = DEPLOYMENT.open("halted");
    assertThat(DEPLOYMENT.connect("halted", session).status()).isEqualTo(101);
    DEPLOYMENT.control("PATCH", "/tenants/halted", "{\"status\":\"SUSPENDED\"}");
    DEPLOYMENT.advance(Duration.ofSeconds(5));
    assertThat(requestsOfRefusals("halted", session))
        .isEqualTo(
            Map.of(
                "BatchGetItem",
                REFUSALS,
                "ReceiveMessage",
                1L,
                "ChangeMessageVisibilityBatch",
                1L));
    assertThat(requestsOfRefusals("halted", session)).isEqualTo(Map.of("BatchGetItem", REFUSALS));
  }

  @Test
  void a_queue_that_never_responds_gets_one_request_for_all_unknown_sessions() throws Exception {
    DEPLOYMENT.onboard("silent", "gold", "{}");
    String session = DEPLOYMENT.open("silent");
    assertThat(DEPLOYMENT.connect("silent", session).status()).isEqualTo(101);
    try (Injection hanging =
        DEPLOYMENT
            .cloud()
            .faults()
            .inject(
                call ->
                    call.operation().equals("ReceiveMessage")
                        && call.principal().name().equals("Authorizer"),
                1_000,
                new Fault.Hung())) {
      refusals("silent", SESSION);
      assertThat(hanging.count()).isEqualTo(1);
    }
    assertThat(DEPLOYMENT.connect("silent", session).status()).isEqualTo(101);
  }

  @Test
  void a_flood_of_unknown_tenant_ids_costs_a_read_each_and_no_role() throws Exception {
    int names = 300;
    Map<String, Long> counts =
        DEPLOYMENT.requestsOf(() -> flood("counted", names).join()).stream()
            .collect(Collectors.groupingBy(Request::operation, Collectors.counting()));
    assertThat(counts).isEqualTo(Map.of("GetItem", 2L * names));
  }

  @Tag("nightly")
  @Test
  void a_flood_of_unknown_tenant_ids_does_not_affect_an_existing_tenant() throws Exception {
    DEPLOYMENT.onboard("genuine", "gold", "{}");
    for (int i = 0; i < 5; i++) {
      served();
    }
    List<Long> alone = IntStream.range(0, 15).mapToObj(i -> served()).toList();
    int names = 300;
    long start = System.nanoTime();
    CompletableFuture<Void> flood = flood("beside", names);
    List<Long> beside = new ArrayList<>();
    while (beside.size() < 15 || (!flood.isDone() && beside.size() < 100)) {
      beside.add(served());
    }
    flood.join();
    long millis = (System.nanoTime() - start) / 1_000_000;
    System.out.printf(
        "a session and a connection of a tenant: median %d ms, longest %d ms alone; %d ms, %d ms"
            + " beside %d requests with unknown tenant ids at %d a second%n",
        median(alone),
        longest(alone),
        median(beside),
        longest(beside),
        2 * names,
        2L * names * 1_000 / millis);
  }

  /** The milliseconds to create a session and connect on it, both of which must succeed. */
  private static long served() {
    long start = System.nanoTime();
    String session = DEPLOYMENT.open("genuine");
    assertThat(DEPLOYMENT.connect("genuine", session).status()).isEqualTo(101);
    return (System.nanoTime() - start) / 1_000_000;
  }

  /** Requests a session and a handshake for each of this many unknown ids; all are refused. */
  private static CompletableFuture<Void> flood(String kind, int names) {
    return CompletableFuture.runAsync(
        () -> {
          long start = System.nanoTime();
          Semaphore free = new Semaphore(AT_A_TIME);
          List<CompletableFuture<Integer>> creations = new ArrayList<>();
          List<CompletableFuture<Integer>> handshakes = new ArrayList<>();
          for (int i = 0; i < names; i++) {
            String name = kind + "-" + i;
            long due = start + TimeUnit.SECONDS.toNanos(1) * 2 * i / PER_SECOND;
            LockSupport.parkNanos(due - System.nanoTime());
            free.acquireUninterruptibly(2);
            creations.add(
                CompletableFuture.supplyAsync(() -> status("PUT", "?tenantId=" + name), CALLERS)
                    .whenComplete((status, thrown) -> free.release()));
            handshakes.add(
                DEPLOYMENT
                    .handshake(Deployment.query(name, SESSION))
                    .thenApply(Deployment.Handshake::status)
                    .whenComplete((status, thrown) -> free.release()));
          }
          assertThat(joined(creations)).containsOnly(404);
          assertThat(joined(handshakes)).containsOnly(403);
        });
  }

  private static Stream<Integer> joined(List<CompletableFuture<Integer>> pending) {
    return pending.stream().map(CompletableFuture::join);
  }

  private static long median(List<Long> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  private static long longest(List<Long> values) {
    return values.stream().mapToLong(Long::longValue).max().orElseThrow();
  }
}
