package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/**
 * Measures pushes to whole tenants, and the messages of a neighbour meanwhile, and prints a table.
 * It is not a test and runs only by its name. {@code -Dsockets=} has the numbers of sockets, each
 * with a session of its own. Times are those of this machine; requests are those of any.
 */
final class PushMeasurement {
  private static final String MESSAGE = "{\"action\":\"PooledSQS\",\"message\":1}";
  private static final int CALLERS = 16;

  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  @AutoClose("shutdownNow")
  private static final ExecutorService THREADS = Executors.newCachedThreadPool();

  @Test
  void pushes_to_tenants_of_several_sizes() throws Exception {
    System.out.println(
        "| sockets | last frame after | AWS requests of the push | neighbour, alone: median, longest | beside the push |");
    System.out.println("| --- | --- | --- | --- | --- |");
    for (String sockets : System.getProperty("sockets", "1,100").split(",")) {
      measure(Integer.parseInt(sockets));
    }
  }

  private static void measure(int count) throws Exception {
    String tenant = "many-" + count;
    String neighbour = "beside-" + count;
    DEPLOYMENT.onboard(
        tenant,
        "gold",
        "{\"tenantPerMinute\":%d,\"tenantConnections\":%d}".formatted(count + 10, count + 10));
    DEPLOYMENT.onboard(neighbour, "silver", "{\"messagesPerMinute\":20000}");
    List<Handshake> sockets = opened(tenant, count);
    Handshake other = DEPLOYMENT.connect(neighbour, DEPLOYMENT.open(neighbour));
    List<Long> alone = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      alone.add(roundTrip(other, i));
    }
    AtomicBoolean done = new AtomicBoolean();
    List<Long> beside = Collections.synchronizedList(new ArrayList<>());
    long[] nanos = new long[1];
    Map<String, Long> requests =
        DEPLOYMENT
            .requestsOf(
                () -> {
                  Future<?> messages =
                      THREADS.submit(
                          () -> {
                            for (int i = alone.size(); !done.get(); i++) {
                              beside.add(roundTrip(other, i));
                            }
                            return beside.size();
                          });
                  long start = System.nanoTime();
                  assertThat(
                          DEPLOYMENT
                              .control(
                                  "POST",
                                  "/tenants/" + tenant + "/push",
                                  "{\"all\":true,\"id\":\"p\",\"message\":\"hello\"}")
                              .status())
                      .isEqualTo(202);
                  for (Handshake socket : sockets) {
                    socket.frames().await("push", 1);
                  }
                  nanos[0] = System.nanoTime() - start;
                  done.set(true);
                  messages.get();
                })
            .stream()
            .filter(request -> request.principal().name().matches("TenantPusher|ControlPlane"))
            .filter(request -> !LocalDeployment.isForCredentials(request))
            .collect(
                Collectors.groupingBy(
                    request -> request.operation(), TreeMap::new, Collectors.counting()));
    System.out.printf(
        "| %,d | %.1f s | %s | %s | %s |%n",
        count,
        nanos[0] / 1e9,
        requests.entrySet().stream()
            .map(each -> "%,d %s".formatted(each.getValue(), each.getKey()))
            .collect(Collectors.joining(", ")),
        shown(alone),
        shown(beside));
    for (Handshake socket : sockets) {
      assertThat(socket.frames().of("push")).hasSize(1);
    }
  }

  private static List<Handshake> opened(String tenant, int count) throws Exception {
    ConcurrentLinkedQueue<Handshake> opened = new ConcurrentLinkedQueue<>();
    List<Future<?>> callers = new ArrayList<>();
    for (int caller = 0; caller < CALLERS; caller++) {
      int mine = caller < count % CALLERS ? count / CALLERS + 1 : count / CALLERS;
      callers.add(
          THREADS.submit(
              () ->
                  Stream.generate(() -> DEPLOYMENT.open(tenant))
                      .limit(mine)
                      .forEach(session -> opened.add(DEPLOYMENT.connect(tenant, session)))));
    }
    for (Future<?> caller : callers) {
      caller.get();
    }
    assertThat(opened).hasSize(count).allMatch(handshake -> handshake.status() == 101);
    return List.copyOf(opened);
  }

  private static long roundTrip(Handshake socket, int before) throws InterruptedException {
    long start = System.nanoTime();
    socket.send(MESSAGE);
    socket.frames().await("reply", before + 1);
    return System.nanoTime() - start;
  }

  private static String shown(List<Long> nanos) {
    List<Long> sorted = nanos.stream().sorted().toList();
    return "%d ms, %d ms of %d"
        .formatted(
            sorted.get(sorted.size() / 2) / 1_000_000,
            sorted.get(sorted.size() - 1) / 1_000_000,
            sorted.size());
  }
}
