package dev.tollgate.bench.attacks;

import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.Times;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Handshake;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Socket;
import dev.tollgate.bench.client.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A pooled tenant that measures the effect of an attack on others. It makes a handshake and sends a
 * message four times a second, before and during the attack, and records their times.
 */
final class Neighbour implements AutoCloseable {
  private static final Duration EVERY = Duration.ofMillis(250);
  private static final Duration BASELINE = Duration.ofSeconds(8);

  /** The time limit; an unanswered request counts as taking this long. */
  private static final Duration LONGEST = Duration.ofSeconds(70);

  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0,
       "limits": {"tenantPerMinute": 6000, "sessionPerMinute": 6000, "connectionsPerSession": 100,
                  "tenantConnections": 1000, "sessionTTL": 3600, "messagesPerMinute": 6000}}""";

  private final Stopwatch stopwatch;
  private final Session session;
  private final Socket socket;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          work -> {
            Thread daemon = new Thread(work, "neighbour");
            daemon.setDaemon(true);
            return daemon;
          });
  private final Latencies baseline;
  private volatile boolean attacked;
  private int messages;

  /** The times that the neighbour measured in one phase. */
  private static final class Latencies {
    private final List<Duration> handshakes = new ArrayList<>();
    private final List<Duration> roundTrips = new ArrayList<>();
    private int refused;
  }

  /**
   * Creates a neighbour and measures its times without an attack.
   *
   * @param name distinguishes the neighbours of several measurements
   */
  Neighbour(String name, Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    this.stopwatch = stopwatch;
    String whole = name + "-neighbour";
    Tenant tenant = deployment.tenant(whole, deployment.tier(whole, TIER));
    this.session = tenant.newSession();
    this.socket = open(session);
    this.baseline = new Latencies();
    // A warm-up: the first request of each kind loads code.
    measure(new Latencies());
    Duration end = stopwatch.elapsed().plus(BASELINE);
    while (stopwatch.elapsed().compareTo(end) < 0) {
      measure(baseline);
    }
  }

  /** Opens a socket that an attack needs. */
  static Socket open(Session session) throws InterruptedException {
    if (session.connect() instanceof Handshake.Admitted admitted) {
      return admitted.socket();
    }
    throw new IllegalStateException("handshake: refused (expected: admitted)");
  }

  /**
   * Runs an attack and measures the neighbour's times during it.
   *
   * @return the report of the attack, and the neighbour's times
   */
  String during(Callable<String> attack) throws InterruptedException {
    attacked = true;
    Future<Latencies> timing = thread.submit(this::measureDuringAttack);
    String outcome;
    try {
      outcome = attack.call();
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e.getMessage(), e);
    } finally {
      attacked = false;
    }
    try {
      return outcome + "; " + summary(baseline, timing.get());
    } catch (ExecutionException e) {
      throw new IllegalStateException(String.valueOf(e.getCause()), e);
    }
  }

  private static String summary(Latencies before, Latencies during) {
    return ("neighbour's handshakes (median, longest): %s without the attack, %s during it%s;"
            + " its messages: %s without the attack, %s during it")
        .formatted(
            Times.of(before.handshakes).medianAndLongest(),
            Times.of(during.handshakes).medianAndLongest(),
            during.refused == 0 ? "" : " and " + during.refused + " refused",
            Times.of(before.roundTrips).medianAndLongest(),
            Times.of(during.roundTrips).medianAndLongest());
  }

  private Latencies measureDuringAttack() throws InterruptedException {
    Latencies latencies = new Latencies();
    do {
      measure(latencies);
    } while (attacked);
    return latencies;
  }

  private void measure(Latencies latencies) throws InterruptedException {
    Duration start = stopwatch.elapsed();
    Handshake answer = session.connect();
    latencies.handshakes.add(stopwatch.elapsed().minus(start));
    if (!(answer instanceof Handshake.Admitted)) {
      latencies.refused++;
    }
    latencies.roundTrips.add(roundTrip(socket, "n-" + messages++, stopwatch));
    answer.close();
    stopwatch.sleepUntil(start.plus(EVERY));
  }

  /** The time from a message to its reply. */
  static Duration roundTrip(Socket socket, String id, Stopwatch stopwatch)
      throws InterruptedException {
    Duration start = stopwatch.elapsed();
    socket.send(id);
    boolean replied = false;
    while (!replied && stopwatch.elapsed().minus(start).compareTo(LONGEST) < 0) {
      replied =
          socket
              .receive(LONGEST.minus(stopwatch.elapsed().minus(start)))
              .filter(frame -> frame.path("type").asText().equals("reply"))
              .filter(frame -> frame.path("id").asText().equals(id))
              .isPresent();
    }
    return stopwatch.elapsed().minus(start);
  }

  @Override
  public void close() {
    thread.shutdownNow();
    socket.abort();
  }
}
