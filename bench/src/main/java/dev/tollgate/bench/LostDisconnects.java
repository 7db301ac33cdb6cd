package dev.tollgate.bench;

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
 * What becomes of connections whose {@code $disconnect} is lost while six clients come and go for
 * four minutes, each in a session of its own: far from the tenant's limit of connections, and near
 * it, with other sockets that stay open and quiet.
 *
 * <p>No rate limit is ever met, and there is always room for the sockets that are really open. So
 * every 429 is false.
 */
final class LostDisconnects implements Measurement {
  private static final int CLIENTS = 6;
  private static final int QUIET_IN_SESSION = 10;
  private static final Duration SPAN = Duration.ofMinutes(4);
  private static final Duration HOLD = Duration.ofMillis(400);

  /** Time for a {@code $disconnect} that is not lost. */
  private static final Duration SETTLE = Duration.ofMillis(400);

  private static final List<Scene> SCENES =
      List.of(
          new Scene("far from", 1000, 0, Duration.ofSeconds(1)),
          new Scene("near", 150, 114, Duration.ofSeconds(3)));

  /**
   * A tenant and its clients.
   *
   * @param where which side of the limit it is on
   * @param limit the most connections that the tenant may have
   * @param quiet sockets that stay open
   * @param cycle how often each client comes and goes
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

  /** What one client did and saw. */
  private static final class Visits {
    private final Ghosts ghosts = new Ghosts();
    private int admitted;
    private int falselyRefused;
    private int failed;
  }

  @Override
  public Duration patience() {
    return SPAN.plusMinutes(3).multipliedBy(SCENES.size());
  }

  @Override
  public List<Row> measure(Deployment deployment, Watch watch) throws InterruptedException {
    List<Row> rows = new ArrayList<>();
    for (Scene scene : SCENES) {
      rows.add(measure(scene, deployment, watch));
    }
    return rows;
  }

  private static Row measure(Scene scene, Deployment deployment, Watch watch)
      throws InterruptedException {
    String name = "lost-" + scene.limit();
    Tenant tenant = deployment.tenant(name, deployment.tier(name, scene.tier()));
    List<Socket> quiet = quiet(tenant, scene.quiet());
    try (Crowd crowd = new Crowd(CLIENTS)) {
      List<Session> sessions = Stream.generate(tenant::newSession).limit(CLIENTS).toList();
      Duration end = watch.elapsed().plus(SPAN);
      List<Visits> visits =
          crowd.run(
              sessions.stream()
                  .map(session -> client(session, scene.cycle(), end, watch))
                  .toList());
      int open = (int) quiet.stream().filter(Socket::isOpen).count();
      return row(scene, visits, tenant.connections() - open, quiet.size() - open, watch.elapsed());
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
      Session session, Duration cycle, Duration end, Watch watch) {
    return () -> {
      Visits visits = new Visits();
      while (watch.elapsed().compareTo(end) < 0) {
        Duration start = watch.elapsed();
        visit(session, visits, watch);
        watch.sleep(SETTLE);
        visits.ghosts.observe(watch.elapsed(), session.connections(), 0);
        watch.sleepUntil(start.plus(cycle));
      }
      return visits;
    };
  }

  private static void visit(Session session, Visits visits, Watch watch)
      throws InterruptedException {
    Handshake answer = session.connect();
    if (answer instanceof Handshake.Admitted admitted) {
      visits.admitted++;
      watch.sleep(HOLD);
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
        ("a tenth of all `$disconnect`s lost while %d clients come and go for %d minutes,"
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
