package dev.tollgate.bench.siege;

import dev.tollgate.bench.Times;
import dev.tollgate.bench.Watch;
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
 * Another pooled tenant, whose handshakes and messages are timed, one of each four times a second:
 * first while all is quiet, then during an attack.
 */
final class Neighbour implements AutoCloseable {
  private static final Duration EVERY = Duration.ofMillis(250);
  private static final Duration QUIET = Duration.ofSeconds(8);

  /** What is not answered by then counts as that long. */
  private static final Duration LONGEST = Duration.ofSeconds(70);

  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0,
       "limits": {"tenantPerMinute": 6000, "sessionPerMinute": 6000, "connectionsPerSession": 100,
                  "tenantConnections": 1000, "sessionTTL": 3600, "messagesPerMinute": 6000}}""";

  private final Watch watch;
  private final Session session;
  private final Socket socket;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          work -> {
            Thread daemon = new Thread(work, "neighbour");
            daemon.setDaemon(true);
            return daemon;
          });
  private final Felt quiet;
  private volatile boolean attacked;
  private int messages;

  /** What the neighbour felt for a while. */
  private static final class Felt {
    private final List<Duration> handshakes = new ArrayList<>();
    private final List<Duration> roundTrips = new ArrayList<>();
    private int refused;
  }

  /**
   * A neighbour that has been timed in peace.
   *
   * @param name tells the measurement's neighbour from others
   */
  Neighbour(String name, Deployment deployment, Watch watch) throws InterruptedException {
    this.watch = watch;
    String whole = name + "-neighbour";
    Tenant tenant = deployment.tenant(whole, deployment.tier(whole, TIER));
    this.session = tenant.newSession();
    this.socket = open(session);
    this.quiet = new Felt();
    // The first of each loads code.
    feel(new Felt());
    Duration end = watch.elapsed().plus(QUIET);
    while (watch.elapsed().compareTo(end) < 0) {
      feel(quiet);
    }
  }

  /** A socket that is needed for an attack. */
  static Socket open(Session session) throws InterruptedException {
    if (session.connect() instanceof Handshake.Admitted admitted) {
      return admitted.socket();
    }
    throw new IllegalStateException("handshake: refused (expected: admitted)");
  }

  /**
   * Attacks, and times the neighbour meanwhile.
   *
   * @return what the attack says of itself, and what the neighbour felt
   */
  String during(Callable<String> attack) throws InterruptedException {
    attacked = true;
    Future<Felt> timing = thread.submit(this::feelWhileAttacked);
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
      return outcome + "; " + summary(quiet, timing.get());
    } catch (ExecutionException e) {
      throw new IllegalStateException(String.valueOf(e.getCause()), e);
    }
  }

  private static String summary(Felt before, Felt meanwhile) {
    return ("neighbour's handshakes (median, longest): %s quiet, %s during it%s;"
            + " its messages: %s quiet, %s during it")
        .formatted(
            Times.of(before.handshakes).medianAndLongest(),
            Times.of(meanwhile.handshakes).medianAndLongest(),
            meanwhile.refused == 0 ? "" : " and " + meanwhile.refused + " refused",
            Times.of(before.roundTrips).medianAndLongest(),
            Times.of(meanwhile.roundTrips).medianAndLongest());
  }

  private Felt feelWhileAttacked() throws InterruptedException {
    Felt felt = new Felt();
    do {
      feel(felt);
    } while (attacked);
    return felt;
  }

  private void feel(Felt felt) throws InterruptedException {
    Duration start = watch.elapsed();
    Handshake answer = session.connect();
    felt.handshakes.add(watch.elapsed().minus(start));
    if (!(answer instanceof Handshake.Admitted)) {
      felt.refused++;
    }
    felt.roundTrips.add(roundTrip(socket, "n-" + messages++, watch));
    answer.close();
    watch.sleepUntil(start.plus(EVERY));
  }

  /** The time from a message to its reply. */
  static Duration roundTrip(Socket socket, String id, Watch watch) throws InterruptedException {
    Duration start = watch.elapsed();
    socket.send(id);
    boolean replied = false;
    while (!replied && watch.elapsed().minus(start).compareTo(LONGEST) < 0) {
      replied =
          socket
              .receive(LONGEST.minus(watch.elapsed().minus(start)))
              .filter(frame -> frame.path("type").asText().equals("reply"))
              .filter(frame -> frame.path("id").asText().equals(id))
              .isPresent();
    }
    return watch.elapsed().minus(start);
  }

  @Override
  public void close() {
    thread.shutdownNow();
    socket.abort();
  }
}
