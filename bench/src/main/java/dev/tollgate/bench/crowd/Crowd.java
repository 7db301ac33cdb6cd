package dev.tollgate.bench.crowd;

import dev.tollgate.bench.Benchmark;
import dev.tollgate.bench.Clients;
import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.Times;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Handshake;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Socket;
import dev.tollgate.bench.client.Tenant;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Onboards tenants, opens sockets, holds them, and measures memory and processor time of the local
 * cloud. The system properties {@code crowd.tenants}, {@code crowd.sockets}, {@code crowd.minutes}
 * and {@code crowd.pid} (of the local cloud) say how many, how long and where. The tenants stay:
 * use a cloud that is thrown away.
 */
public final class Crowd implements Measurement {
  private static final int CLIENTS = 8;
  private static final int MOST_WARM_UP = 50;
  private static final int MOST_MESSAGES = 1_000;
  private static final int LEAST_RATE = 10;
  private static final Duration IDLE = Duration.ofMinutes(1);

  /** Clients may send one after 5 minutes, and API Gateway closes a socket after 10. */
  private static final int HEARTBEAT_SECONDS = 300;

  private static final Duration REPLY_TIME = Duration.ofSeconds(35);
  private static final int ATTEMPTS = 5;

  private final int tenants = Integer.getInteger("crowd.tenants", 1_000);
  private final int sockets = Integer.getInteger("crowd.sockets", 2_000);
  private final Duration held = Duration.ofMinutes(Integer.getInteger("crowd.minutes", 10));
  private final long pid = Long.getLong("crowd.pid", 0);

  private Crowd() {}

  /** Runs the command {@code crowd}. */
  public static void main(String... arguments) {
    Benchmark.run(
        "crowd",
        "Onboard many tenants, open many sockets, and print what they cost as a Markdown table.",
        Map.of("crowd", Crowd::new),
        arguments);
  }

  @Override
  public Duration timeout() {
    return Duration.ofHours(2).plus(held);
  }

  /**
   * A tier for many tenants: fills that tenants share, and small buckets, because onboarding mints
   * a full bucket. Sessions outlast the measurement.
   *
   * @param sockets the most sockets of a tenant; rates are twice that, so that no socket waits if a
   *     handshake is repeated
   */
  static String tier(int sockets) {
    return """
        {"isolation": "POOL", "fillMode": "SHARED", "hibernateAfterMinutes": 1,
         "limits": {"tenantPerMinute": %1$d, "sessionPerMinute": 5, "connectionsPerSession": 2,
                    "tenantConnections": %2$d, "sessionTTL": 86400, "messagesPerMinute": %1$d}}"""
        .formatted(Math.max(LEAST_RATE, 2 * sockets), 2 * sockets + 10);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    String tier = deployment.tier("crowd", tier((sockets + tenants - 1) / tenants));
    try (Clients clients = new Clients(CLIENTS)) {
      List<Row> rows = new ArrayList<>();
      Consumer<Row> report =
          row -> {
            rows.add(row);
            // A crowd takes long, and a failure later would lose the rows.
            System.err.println(row.measured() + ": " + row.found());
          };
      // The first requests load and compile code.
      var unused =
          new Phase(row -> {}, clients, stopwatch)
              .run(
                  "warm-up",
                  Math.min(MOST_WARM_UP, tenants),
                  i -> warm(deployment, tier, i, stopwatch));
      Phase phase = new Phase(report, clients, stopwatch);
      List<Tenant> onboarded =
          phase.run("tenants", tenants, i -> deployment.lastingTenant("crowd-" + i, tier));
      List<Session> sessions =
          phase.run("sessions", sockets, i -> onboarded.get(i % tenants).newSession());
      List<Socket> open = new CopyOnWriteArrayList<>();
      List<Handshake> handshakes;
      ScheduledExecutorService heartbeats = heartbeats(open);
      try {
        handshakes =
            phase.run(
                "sockets",
                sockets,
                i -> {
                  Handshake handshake = connect(sessions.get(i), stopwatch);
                  if (handshake instanceof Handshake.Admitted admitted) {
                    open.add(admitted.socket());
                  }
                  return handshake;
                });
      } finally {
        heartbeats.shutdownNow();
      }
      phase.run("heartbeats with their answers", open.size(), i -> answeredHeartbeat(open.get(i)));
      report.accept(new Row("of these, open", fates(handshakes), "open " + sockets));
      report.accept(idle("idle for %s s".formatted(IDLE.toSeconds()), IDLE, List.of(), stopwatch));
      phase.run(
          "messages with their replies",
          Math.min(MOST_MESSAGES, open.size()),
          i -> exchange(open.get(i), "m-" + i));
      // The messages may have taken minutes, in which no socket but theirs was in use.
      phase.run("heartbeats again", open.size(), i -> answeredHeartbeat(open.get(i)));
      report.accept(
          idle(
              "held for %d minutes, with a heartbeat of each socket in %d s"
                  .formatted(held.toMinutes(), HEARTBEAT_SECONDS),
              held,
              open,
              stopwatch));
      report.accept(new Row("open after that", fates(handshakes), "open " + sockets));
      report.accept(new Row("footprint", Footprint.of(pid).toString(), ""));
      return rows;
    }
  }

  /** One of each that is measured later. */
  private static Session warm(Deployment deployment, String tier, int i, Stopwatch stopwatch)
      throws InterruptedException {
    Session session = deployment.lastingTenant("warm-up-" + i, tier).newSession();
    if (connect(session, stopwatch) instanceof Handshake.Admitted admitted) {
      exchange(admitted.socket(), "w-" + i);
      admitted.socket().close();
    }
    return session;
  }

  /** Opens a socket. A refused client waits until its retry time. */
  private static Handshake connect(Session session, Stopwatch stopwatch)
      throws InterruptedException {
    Handshake handshake = session.connect();
    for (int i = 1; i < ATTEMPTS && !(handshake instanceof Handshake.Admitted); i++) {
      stopwatch.sleep(session.advice().retryAfter());
      handshake = session.connect();
    }
    return handshake;
  }

  /** Sends a message, and waits for its reply. */
  private static boolean exchange(Socket socket, String id) throws InterruptedException {
    socket.send(id);
    while (true) {
      var frame = socket.receive(REPLY_TIME);
      if (frame.isEmpty()) {
        throw new IllegalStateException("reply: none within " + REPLY_TIME.toSeconds() + " s");
      }
      if (frame.get().path("type").asText().equals("reply")) {
        return true;
      }
    }
  }

  /** Waits, and measures the processor time meanwhile. */
  private Row idle(String measured, Duration time, List<Socket> sockets, Stopwatch stopwatch)
      throws InterruptedException {
    Duration start = stopwatch.elapsed();
    Duration processor = Footprint.processorTime(pid);
    for (int second = 0; second < time.toSeconds(); second++) {
      heartbeats(sockets, second);
      stopwatch.sleepUntil(start.plusSeconds(second + 1));
    }
    long used = Footprint.processorTime(pid).minus(processor).toMillis();
    long elapsed = stopwatch.elapsed().minus(start).toMillis();
    return new Row(measured, decimal(100.0 * used / elapsed) + " % of a core", "");
  }

  /** Starts to send the sockets of this list heartbeats, while others are added to it. */
  private static ScheduledExecutorService heartbeats(List<Socket> sockets) {
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    AtomicInteger second = new AtomicInteger();
    timer.scheduleAtFixedRate(
        () -> {
          try {
            heartbeats(sockets, second.getAndIncrement());
          } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
          }
        },
        1,
        1,
        TimeUnit.SECONDS);
    return timer;
  }

  /** Sends the heartbeats of one second; each socket gets one in {@link #HEARTBEAT_SECONDS}. */
  private static void heartbeats(List<Socket> sockets, int second) throws InterruptedException {
    for (int i = second % HEARTBEAT_SECONDS; i < sockets.size(); i += HEARTBEAT_SECONDS) {
      heartbeat(sockets.get(i));
    }
  }

  private static boolean answeredHeartbeat(Socket socket) throws InterruptedException {
    heartbeat(socket);
    return socket.receive(REPLY_TIME).isPresent();
  }

  private static void heartbeat(Socket socket) throws InterruptedException {
    while (socket.receive(Duration.ZERO).isPresent()) {
      // The answers to earlier heartbeats take memory until they are read.
    }
    if (socket.isOpen()) {
      try {
        socket.sendText("{\"action\": \"Heartbeat\"}");
      } catch (IllegalStateException closed) {
        // The rows of open sockets say so at the end.
        return;
      }
    }
  }

  /** Work that clients share. Each run adds a row. */
  private final class Phase {
    private final Consumer<Row> report;
    private final Clients clients;
    private final Stopwatch stopwatch;

    private Phase(Consumer<Row> report, Clients clients, Stopwatch stopwatch) {
      this.report = report;
      this.clients = clients;
      this.stopwatch = stopwatch;
    }

    private <T> List<T> run(String things, int count, Task<T> task) throws InterruptedException {
      Footprint before = Footprint.of(pid);
      Duration start = stopwatch.elapsed();
      Duration processor = Footprint.processorTime(pid);
      List<T> results =
          clients.run(
              IntStream.range(0, count)
                  .<Callable<T>>mapToObj(i -> () -> attempt(things, task, i))
                  .toList());
      Duration time = stopwatch.elapsed().minus(start);
      double each = Footprint.processorTime(pid).minus(processor).toMillis() / (double) count;
      report.accept(
          new Row(
              "%d %s, %d at a time".formatted(count, things, CLIENTS),
              "%s s, %s a second; %s ms of processor time, %s"
                  .formatted(
                      Times.seconds(time),
                      decimal(count * 1_000.0 / time.toMillis()),
                      decimal(each),
                      Footprint.of(pid).since(before, count)),
              ""));
      return results;
    }
  }

  /** Runs a task. A failed task is repeated, because a busy machine fails some requests. */
  private static <T> T attempt(String things, Task<T> task, int index) throws InterruptedException {
    for (int failed = 1; ; failed++) {
      try {
        return task.run(index);
      } catch (IllegalStateException | UncheckedIOException e) {
        System.err.printf("%s: %d: %s%n", things, index, e.getMessage());
        if (failed == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /** What a client does for one of many things. */
  private interface Task<T> {
    T run(int index) throws InterruptedException;
  }

  /**
   * How many sockets are open, and why the others are not: {@code unanswered 1, refused with 429 2,
   * open 1997}.
   */
  static String fates(List<Handshake> handshakes) {
    return handshakes.stream()
        .collect(Collectors.groupingBy(Crowd::fate, TreeMap::new, Collectors.counting()))
        .descendingMap()
        .entrySet()
        .stream()
        .map(fate -> fate.getKey() + " " + fate.getValue())
        .collect(Collectors.joining(", "));
  }

  private static String fate(Handshake handshake) {
    if (handshake instanceof Handshake.Admitted open) {
      return open.socket().isOpen() ? "open" : "closed with " + open.socket().closeReason();
    }
    return handshake instanceof Handshake.Refused
        ? "refused with " + handshake.word()
        : "unanswered";
  }

  private static String decimal(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
