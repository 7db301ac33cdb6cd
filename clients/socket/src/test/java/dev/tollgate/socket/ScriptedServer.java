package dev.tollgate.socket;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A deployment in memory, as the contracts describe it: sessions that end when they are idle, a
 * line with slots, messages that are processed once under an id. It can be scripted, and it can
 * fail at random. Its clock differs from the client's by {@code skew}, which only its instants
 * show.
 */
final class ScriptedServer implements Transport {
  static final URI SESSIONS = URI.create("https://api.example/session");
  static final URI SOCKETS = URI.create("wss://sockets.example/production");

  private static final Pattern PARAMETER = Pattern.compile("(tenantId|sessionId)=([^&]*)");
  private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]*)\"");
  private static final Duration GRACE = Duration.ofSeconds(10);
  private static final Duration KNOWN = Duration.ofMinutes(5);

  /** A session. */
  static final class Row {
    final String id;
    Instant endsAt;
    Optional<Instant> slot = Optional.empty();
    boolean told;
    final Map<String, Instant> processed = new LinkedHashMap<>();

    private Row(String id, Instant endsAt) {
      this.id = id;
      this.endsAt = endsAt;
    }
  }

  private final ManualScheduler time;
  private final Random random;
  private final Duration skew;
  private final Map<String, Row> rows = new LinkedHashMap<>();
  private final List<ServerConnection> connections = new ArrayList<>();

  /** Statuses of the next handshakes, instead of what the limits say; 0 for no answer. */
  final Deque<Integer> handshakes = new ArrayDeque<>();

  /** Answers to the next requests, instead of the usual ones. */
  final Deque<Exchange> exchanges = new ArrayDeque<>();

  /** What happens, with the time since the start. */
  final List<String> trace = new ArrayList<>();

  /** The messages that were processed, in their order, repetitions included. */
  final List<String> processed = new ArrayList<>();

  /** Times of requests and handshakes. */
  final List<Instant> traffic = new ArrayList<>();

  /** Handshakes of sessions that had been told a slot, before it. */
  int early;

  int created;
  String status = "ACTIVE";
  Duration idle = Duration.ofSeconds(200);
  Duration interval = Duration.ZERO;
  Duration latency = Duration.ofMillis(50);

  /** The longest time for which the queue holds a message. */
  Duration backlog = Duration.ZERO;

  /** The probability of each fault, from 0 to 1. */
  double faults;

  /** The probability that a message is refused for the rate. */
  double throttled;

  /** Whether messages and handshakes get any answer. */
  boolean silent;

  boolean replies = true;
  private Instant lastSlot = Instant.MIN;
  private final Instant start;

  ScriptedServer(ManualScheduler time, long seed, Duration skew) {
    this.time = time;
    this.random = new Random(seed);
    this.skew = skew;
    start = time.instant();
  }

  private void log(String event) {
    trace.add(Duration.between(start, time.instant()).toMillis() + " " + event);
  }

  private boolean strikes() {
    return random.nextDouble() < faults;
  }

  private Instant now() {
    return time.instant();
  }

  private <T> CompletionStage<T> later(Duration delay, T value) {
    CompletableFuture<T> result = new CompletableFuture<>();
    time.after(delay, () -> result.complete(value));
    return result;
  }

  /** Others take places in line. */
  void crowd(int places) {
    Instant from = lastSlot.isAfter(now()) ? lastSlot : now();
    lastSlot = from.plus(interval.multipliedBy(places));
  }

  /** Ends all sessions, as an operator does. */
  void endSessions() {
    rows.clear();
    new ArrayList<>(connections).forEach(connection -> connection.end(1000, "session ended"));
  }

  /** Closes all connections. */
  void drop(int code) {
    new ArrayList<>(connections).forEach(connection -> connection.end(code, ""));
  }

  List<ServerConnection> connections() {
    return connections;
  }

  /** Frames that the client has sent. */
  final List<String> frames = new ArrayList<>();

  // The session API

  @Override
  public CompletionStage<Exchange> call(String method, URI uri, Map<String, String> headers) {
    traffic.add(now());
    String sessionId = parameter(uri, "sessionId").orElse("");
    log(method + (sessionId.isEmpty() ? "" : " session"));
    Exchange scripted = exchanges.poll();
    if (scripted != null) {
      return later(latency, scripted);
    }
    if (silent) {
      return later(Duration.ofSeconds(30), new Exchange.Failed("time-out"));
    }
    if (strikes()) {
      return switch (random.nextInt(4)) {
        case 0 -> later(latency, answer(503, "{\"message\":\"Service Unavailable\"}"));
        case 1 -> later(latency, answer(429, "{\"message\":\"Too Many Requests\"}"));
        case 2 -> later(latency, new Exchange.Failed("connection reset"));
        default -> {
          answer(method, sessionId);
          yield later(Duration.ofSeconds(30), new Exchange.Failed("lost answer"));
        }
      };
    }
    return later(latency, answer(method, sessionId));
  }

  static Exchange.Answer answer(int status, String body) {
    return new Exchange.Answer(status, Optional.empty(), body);
  }

  static Exchange.Answer answer(int status, String body, int retryAfter) {
    return new Exchange.Answer(status, Optional.of(Duration.ofSeconds(retryAfter)), body);
  }

  private static Exchange.Answer problem(int status, String type) {
    return answer(
        status,
        "{\"type\":\"urn:tollgate:problem:%s\",\"status\":%d,\"detail\":\"%s\"}"
            .formatted(type, status, type));
  }

  private static Optional<String> parameter(URI uri, String name) {
    Matcher matcher = PARAMETER.matcher(uri.getRawQuery());
    while (matcher.find()) {
      if (matcher.group(1).equals(name)) {
        return Optional.of(matcher.group(2));
      }
    }
    return Optional.empty();
  }

  private Optional<Row> row(String id) {
    return Optional.ofNullable(rows.get(id)).filter(row -> row.endsAt.isAfter(now()));
  }

  private Exchange answer(String method, String id) {
    if (status.equals("UNKNOWN") || (!id.isEmpty() && row(id).isEmpty())) {
      return problem(404, "not-found");
    }
    if (method.equals("DELETE")) {
      rows.remove(id);
      drop(1000);
      return answer(204, "");
    }
    if (method.equals("PUT")) {
      if (status.equals("SUSPENDED")) {
        return problem(403, "suspended");
      }
      Row row =
          row(id).orElseGet(() -> new Row("%032x".formatted(random.nextLong() >>> 1), Instant.MIN));
      created += id.isEmpty() ? 1 : 0;
      rows.put(row.id, row);
      use(row);
      return answer(
          id.isEmpty() ? 201 : 200,
          "{\"tenantId\":\"acme\",\"sessionId\":\"%s\",\"expiresAt\":\"%s\",\"webSocketUrl\":\"%s\"}"
              .formatted(row.id, row.endsAt.plus(skew), SOCKETS));
    }
    return answer(200, shown(row(id).orElseThrow()));
  }

  private void use(Row row) {
    Instant end = now().plus(idle);
    row.endsAt = end.isAfter(row.endsAt) ? end : row.endsAt;
  }

  private String shown(Row row) {
    String admission = "{\"admitted\":true}";
    if (status.equals("SUSPENDED")) {
      admission = "{\"admitted\":false,\"reason\":\"SUSPENDED\",\"detail\":\"suspended\"}";
    } else if (status.equals("FULL")) {
      admission = "{\"admitted\":false,\"reason\":\"TENANT_CONNECTIONS\",\"detail\":\"full\"}";
    } else if (row.slot.filter(slot -> slot.isAfter(now())).isPresent()) {
      Instant slot = row.slot.get();
      row.told = true;
      long millis = Duration.between(now(), slot).toMillis();
      admission =
          "{\"admitted\":false,\"reason\":\"TENANT_RATE\",\"detail\":\"rate\",\"ahead\":%d,\"retryAfterSeconds\":%d,\"nextAttemptAt\":\"%s\"}"
              .formatted(
                  Math.max(0, millis / Math.max(1, interval.toMillis()) - 1),
                  (millis + 999) / 1000,
                  slot.plus(skew));
    }
    return "{\"tenantId\":\"acme\",\"sessionId\":\"%s\",\"expiresAt\":\"%s\",\"limits\":{\"sessionTTL\":%d},\"admission\":%s}"
        .formatted(row.id, row.endsAt.plus(skew), idle.toSeconds(), admission);
  }

  // Handshakes

  @Override
  public CompletionStage<Handshake> open(URI uri, Events events) {
    traffic.add(now());
    int result =
        handshakes.isEmpty()
            ? handshake(parameter(uri, "sessionId").orElse(""))
            : handshakes.remove();
    log("handshake " + result);
    return switch (result) {
      case 0 -> later(Duration.ofSeconds(30), new Handshake.Failed("no answer"));
      case 101 -> {
        ServerConnection connection = new ServerConnection(events, row(uri));
        connections.add(connection);
        if (faults > 0) {
          scheduleDrop(connection);
        }
        yield later(latency, new Handshake.Admitted(connection));
      }
      default -> later(latency, new Handshake.Refused(result));
    };
  }

  private Row row(URI uri) {
    return parameter(uri, "sessionId")
        .flatMap(this::row)
        .orElseGet(() -> new Row("none", Instant.MAX));
  }

  private void scheduleDrop(ServerConnection connection) {
    int[] codes = {1000, 1001, 1006, 1011};
    Duration life = Duration.ofMillis(random.nextInt(90_000));
    int code = codes[random.nextInt(codes.length)];
    time.after(
        life,
        () -> {
          if (faults > 0) {
            if (random.nextInt(8) == 0) {
              rows.remove(connection.row.id);
            }
            connection.end(code, "");
          }
        });
  }

  private int handshake(String id) {
    Optional<Row> found = row(id);
    if (silent) {
      return 0;
    }
    if (strikes()) {
      return new int[] {0, 429, 500, 503, 504}[random.nextInt(5)];
    }
    if (found.isEmpty() || !(status.equals("ACTIVE") || status.equals("FULL"))) {
      return 403;
    }
    if (status.equals("FULL")) {
      return 429;
    }
    Row row = found.get();
    if (row.slot.filter(slot -> !slot.plus(GRACE).isAfter(now())).isPresent()) {
      row.slot = Optional.empty();
    }
    if (row.slot.isEmpty() && lastSlot.isAfter(now())) {
      lastSlot = lastSlot.plus(interval);
      row.slot = Optional.of(lastSlot);
      row.told = false;
      row.endsAt =
          row.endsAt.isAfter(lastSlot.plusSeconds(30)) ? row.endsAt : lastSlot.plusSeconds(30);
    }
    if (row.slot.filter(slot -> slot.isAfter(now())).isPresent()) {
      early += row.told ? 1 : 0;
      return 429;
    }
    if (row.slot.isEmpty()) {
      lastSlot = now().plus(interval);
    }
    row.slot = Optional.empty();
    use(row);
    return 101;
  }

  private static String message(String frame) {
    return frame.replaceFirst(".*\"message\":(.*)}", "$1");
  }

  // Connections

  /** The server's side of a connection. */
  final class ServerConnection implements Connection {
    private final Events events;
    private final Row row;
    private final List<Runnable> held = new ArrayList<>();
    private boolean started;
    private boolean over;
    private Instant processAt = Instant.MIN;

    private ServerConnection(Events events, Row row) {
      this.events = events;
      this.row = row;
    }

    private void deliver(Runnable event) {
      if (started) {
        event.run();
      } else {
        held.add(event);
      }
    }

    /** Sends a frame to the client. */
    void post(String frame) {
      log((over ? "lost " : "post ") + frame);
      if (!over) {
        deliver(() -> events.text(frame));
      }
    }

    /** Closes the connection. */
    void end(int code, String reason) {
      if (!over) {
        over = true;
        connections.remove(this);
        log("closed " + code);
        deliver(() -> events.closed(code, reason));
      }
    }

    @Override
    public void start() {
      started = true;
      held.forEach(Runnable::run);
      held.clear();
    }

    @Override
    public CompletionStage<Boolean> send(String text) {
      log("frame " + text);
      frames.add(text);
      if (over) {
        return later(latency, false);
      }
      if (!silent) {
        time.after(latency, () -> receive(text));
      }
      return later(Duration.ZERO, true);
    }

    private void receive(String frame) {
      if (frame.contains("Heartbeat")) {
        post("{\"type\":\"error\",\"code\":\"BAD_FRAME\",\"detail\":\"expected\"}");
        return;
      }
      Matcher matcher = ID.matcher(frame);
      String id = matcher.find() ? matcher.group(1) : "";
      switch (strikes() ? random.nextInt(5) : -1) {
        case 0 -> post("{\"type\":\"error\",\"code\":\"UNAVAILABLE\",\"detail\":\"again\"}");
        case 1 -> {
          post(
              "{\"message\":\"Internal server error\",\"connectionId\":\"c=\",\"requestId\":\"r=\"}");
          process(id, frame);
        }
        case 2 -> process(id, frame);
        case 3 -> {
          process(id, frame);
          end(1006, "reset");
        }
        case 4 -> end(1006, "reset");
        default -> {
          post("{\"type\":\"accepted\",\"id\":\"%s\"}".formatted(id));
          process(id, frame);
        }
      }
    }

    private void process(String id, String frame) {
      // Without a draw, histories without a backlog stay the same.
      Duration held =
          backlog.isZero() ? latency : latency.plusMillis(random.nextLong(backlog.toMillis()));
      processAt = processAt.isAfter(now().plus(held)) ? processAt : now().plus(held);
      time.after(
          Duration.between(now(), processAt),
          () -> {
            Instant known = row.processed.get(id);
            if (known != null && now().isBefore(known.plus(KNOWN))) {
              return;
            }
            if (random.nextDouble() < throttled) {
              post(
                  "{\"type\":\"error\",\"id\":\"%s\",\"code\":\"THROTTLED\",\"detail\":\"rate\",\"retryAfterSeconds\":%d}"
                      .formatted(id, 1 + random.nextInt(5)));
              return;
            }
            row.processed.put(id, now());
            use(row);
            processed.add(message(frame));
            if (replies) {
              connections.stream()
                  .filter(connection -> connection.row == row)
                  .toList()
                  .forEach(
                      connection ->
                          connection.post(
                              "{\"type\":\"reply\",\"id\":\"%s\",\"message\":\"done\"}"
                                  .formatted(id)));
            }
          });
    }

    @Override
    public CompletionStage<Boolean> close() {
      over = true;
      connections.remove(this);
      log("client closes");
      return CompletableFuture.completedFuture(true);
    }

    @Override
    public void abort() {
      over = true;
      connections.remove(this);
      log("client aborts");
    }
  }
}
