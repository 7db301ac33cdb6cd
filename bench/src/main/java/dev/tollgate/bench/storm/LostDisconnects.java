package dev.tollgate.bench.storm;

import dev.tollgate.bench.Clients;
import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Handshake;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Socket;
import dev.tollgate.bench.client.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * Measures how long lost {@code $disconnect}s keep connections in the counts. Six clients connect
 * and disconnect for four minutes, each in its own session. One run is far from the tenant's limit
 * of connections; the other is near it, with further sockets that stay open and idle.
 *
 * <p>The clients stay below all rate limits, and the limit of connections has room for the sockets
 * that are really open. So every 429 is false.
 */
final class LostDisconnects implements Measurement {
  private static final int CLIENTS = 6;
  private static final int QUIET_IN_SESSION = 10;
  private static final Duration SPAN = Duration.ofMinutes(4);
  private static final Duration HOLD = Duration.ofMillis(400);

  /** The time that a {@code $disconnect} takes if it is not lost. */
  private static final Duration SETTLE = Duration.ofMillis(400);

  private static final List<Scene> SCENES =
      List.of(
          new Scene("far from", 1000, 0, Duration.ofSeconds(1)),
          new Scene("near", 150, 114, Duration.ofSeconds(3)));

  /**
   * A tenant and its clients.
   *
   * @param where the distance from the limit, for the table
   * @param limit the tenant's limit of connections
   * @param quiet the number of sockets that stay open
   * @param cycle the time between two connects of a client
   */
  private record Scene(String where, int limit, int quiet, Duration cycle) {
    private String tier() {
      return """
      {"isolation": "POOL", "hibernateAfterMinutes": 0,
       "limits": {"tenantPerMinute": 6000, "sessionPerMinute": 60000, "connectionsPerSession": 1000,
                  "tenantConnections": %d, "sessionTTL": 3600, "messagesPerMinute": 60}}"""
          .formatted(limit);
    }
  }

  /** The visits of one client and their results. */
  private static final class Visits {
    private final Ghosts ghosts = new Ghosts();
    private int admitted;
    private int falselyRefused;
    private int failed;
  }

  @Override
  public Duration timeout() {
    return SPAN.plusMinutes(3).multipliedBy(SCENES.size());
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    List<Row> rows = new ArrayList<>();
    for (Scene scene : SCENES) {
      rows.add(measure(scene, deployment, stopwatch));
    }
    return rows;
  }

  private static Row measure(Scene scene, Deployment deployment, Stopwatch stopwatch)
      throws InterruptedException {
    String name = "lost-" + scene.limit();
    Tenant tenant = deployment.tenant(name, deployment.tier(name, scene.tier()));
    List<Socket> quiet = quiet(tenant, scene.quiet());
    try (Clients clients = new Clients(CLIENTS)) {
      List<Session> sessions = Stream.generate(tenant::newSession).limit(CLIENTS).toList();
      Duration end = stopwatch.elapsed().plus(SPAN);
      List<Visits> visits =
          clients.run(
              sessions.stream()
                  .map(session -> client(session, scene.cycle(), end, stopwatch))
                  .toList());
      int open = (int) quiet.stream().filter(Socket::isOpen).count();
      return row(
          scene, visits, tenant.connections() - open, quiet.size() - open, stopwatch.elapsed());
    } finally {
      for (Socket socket : quiet) {
        socket.close();
      }
    }
  }

  private static List<Socket> quiet(Tenant tenant, int count) throws InterruptedException {
    List<Socket> sockets = new ArrayList<>();
    Session session = tenant.newSession();
    while (sockets.size() < count) {
      if (sockets.size() % QUIET_IN_SESSION == 0) {
        session = tenant.newSession();
      }
      Handshake answer = session.connect();
      if (!(answer instanceof Handshake.Admitted admitted)) {
        throw new IllegalStateException("handshake: " + answer + " (expected: admitted)");
      }
      sockets.add(admitted.socket());
    }
    return sockets;
  }

  private static Callable<Visits> client(
      Session session, Duration cycle, Duration end, Stopwatch stopwatch) {
    return () -> {
      Visits visits = new Visits();
      while (stopwatch.elapsed().compareTo(end) < 0) {
        Duration start = stopwatch.elapsed();
        visit(session, visits, stopwatch);
        stopwatch.sleep(SETTLE);
        visits.ghosts.observe(stopwatch.elapsed(), session.connections(), 0);
        stopwatch.sleepUntil(start.plus(cycle));
      }
      return visits;
    };
  }

  private static void visit(Session session, Visits visits, Stopwatch stopwatch)
      throws InterruptedException {
    Handshake answer = session.connect();
    if (answer instanceof Handshake.Admitted admitted) {
      visits.admitted++;
      stopwatch.sleep(HOLD);
      admitted.socket().close();
    } else if (answer.equals(new Handshake.Refused(429))) {
      visits.falselyRefused++;
    } else {
      visits.failed++;
    }
  }

  private static Row row(Scene scene, List<Visits> visits, int counted, int closed, Duration at) {
    AtomicInteger admitted = new AtomicInteger();
    AtomicInteger falselyRefused = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    visits.forEach(
        client -> {
          admitted.addAndGet(client.admitted);
          falselyRefused.addAndGet(client.falselyRefused);
          failed.addAndGet(client.failed);
        });
    return new Row(
        ("a tenth of all `$disconnect`s lost while %d clients connect and disconnect for %d minutes,"
                + " %s the limit of %d connections")
            .formatted(CLIENTS, SPAN.toMinutes(), scene.where(), scene.limit()),
        ("%s; the control plane counts %d more than are open; of %d visits %d got a false 429"
                + " and %d another refusal; %d quiet sockets closed")
            .formatted(
                Ghosts.summary(visits.stream().map(client -> client.ghosts).toList(), at),
                counted,
                admitted.get() + falselyRefused.get() + failed.get(),
                falselyRefused.get(),
                failed.get(),
                closed),
        scene.quiet() > 0
            ? "none older than 120 s, no false 429"
            : "none older than the idle limit of 600 s, no false 429");
  }
}
