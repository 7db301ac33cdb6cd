package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.verify.Deployment.Handshake;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * One run of one check: what it does with the deployment, and what it notes on the way. The tenants
 * and sockets of a trial are its own.
 */
public final class Trial implements AutoCloseable {
  private static final Duration SHORTEST_POLL = Duration.ofMillis(500);
  private static final Duration LONGEST_POLL = Duration.ofSeconds(5);

  /** A value that took t to change is seen at most t / 8 late. */
  private static final int POLLS = 8;

  private static final Duration BETWEEN_ATTEMPTS = Duration.ofSeconds(1);

  /** How often a handshake is repeated that should be admitted. */
  private static final int ATTEMPTS = 5;

  private final ComparedDeployment deployment;
  private final Inventory inventory;
  private final Shell shell;
  private final Bounds bounds;
  private final String name;
  private final List<String> steps = new ArrayList<>();
  private final Map<String, String> figures = new LinkedHashMap<>();
  private final List<String> tenants = new ArrayList<>();
  private final List<Deployment.Socket> sockets = new ArrayList<>();
  private int repeatedHandshakes;

  Trial(Deployment deployment, Inventory inventory, Shell shell, Bounds bounds, String name) {
    this.deployment = new ComparedDeployment(deployment);
    this.inventory = inventory;
    this.shell = shell;
    this.bounds = bounds;
    this.name = name;
  }

  /** Ends a check without a result. */
  static final class Undecidable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Undecidable(String reason) {
      super(reason);
    }
  }

  /** Ends a check of what the deployment does not promise. */
  static final class Inapplicable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Inapplicable(String reason) {
      super(reason);
    }
  }

  /** Whether Tollgate is attached to an API of the application. */
  boolean isAttached() {
    return deployment.isAttached();
  }

  /** Ends the check if Tollgate is attached to an API of the application. */
  void requireOwnApi(String reason) {
    if (isAttached()) {
      throw new Inapplicable(reason);
    }
  }

  /** A session of a tenant. At an attached API, each connection opens its own. */
  record Session(String tenantId, String id) {
    Map<String, String> query() {
      Map<String, String> query = new LinkedHashMap<>();
      query.put("tenantId", tenantId);
      query.put("sessionId", id);
      return query;
    }
  }

  /** A client whose socket is open. */
  record Connected(Client client, Deployment.Socket socket) {
    void send(String frame) {
      socket.send(frame);
    }
  }

  Bounds bounds() {
    return bounds;
  }

  Deployment deployment() {
    return deployment;
  }

  Inventory inventory() {
    return inventory;
  }

  // Evidence

  void did(String step) {
    steps.add(step);
  }

  void figure(String figure, Object value) {
    figures.put(figure, String.valueOf(value));
  }

  void figure(String figure, Duration time) {
    figure(figure, seconds(time));
  }

  Result.Evidence evidence(Duration time) {
    Map<String, String> all = new LinkedHashMap<>(figures);
    if (repeatedHandshakes > 0) {
      all.put("handshakes repeated after an early refusal", String.valueOf(repeatedHandshakes));
    }
    return new Result.Evidence(List.copyOf(steps), all, time);
  }

  /** What the answers so far have that the contracts do not allow. */
  SortedSet<String> differences() {
    return deployment.differences();
  }

  static String seconds(Duration time) {
    return String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1000.0);
  }

  // Expectations

  void expect(String what, Object expected, Object seen) {
    if (!expected.equals(seen)) {
      throw new Broken(what, String.valueOf(expected), String.valueOf(seen));
    }
  }

  void expectBetween(String what, long least, long most, long seen) {
    if (seen < least || seen > most) {
      throw new Broken(what, least + " to " + most, String.valueOf(seen));
    }
  }

  void expectStatus(String what, int expected, Response seen) {
    if (seen.status() != expected) {
      throw new Broken(
          what, "status " + expected, seen.status() + " " + seen.problem().line().strip());
    }
  }

  /**
   * Waits until a value is as expected.
   *
   * @return how long it took
   */
  <T> Duration await(
      String what, String expected, Duration limit, Supplier<T> value, Predicate<T> condition) {
    long start = nanoTime();
    while (true) {
      T seen = value.get();
      Duration waited = since(start);
      if (condition.test(seen)) {
        return waited;
      }
      if (waited.compareTo(limit) >= 0) {
        throw new Broken(what, expected + " within " + seconds(limit), String.valueOf(seen));
      }
      Duration poll = waited.dividedBy(POLLS);
      pause(
          poll.compareTo(SHORTEST_POLL) < 0
              ? SHORTEST_POLL
              : poll.compareTo(LONGEST_POLL) > 0 ? LONGEST_POLL : poll);
    }
  }

  // Time

  long nanoTime() {
    return shell.nanoTime().getAsLong();
  }

  Duration since(long start) {
    return Duration.ofNanos(nanoTime() - start);
  }

  /** Waits; does nothing if the time is negative. */
  void pause(Duration time) {
    if (!time.isNegative()) {
      shell.sleep(time);
    }
  }

  // Tenants

  /** The id of a tenant of this check. */
  String tenantId(String suffix) {
    return inventory.prefix() + "-" + name + suffix;
  }

  /** Onboards a tenant for a check of something else, and waits until its buckets are active. */
  String onboard(String suffix, Inventory.Tier tier, Map<String, Integer> overrides) {
    String tenantId = tenantId(suffix);
    did("onboard " + tenantId + " with tier " + inventory.name(tier) + " " + overrides);
    expectStatus("POST /tenants", 201, submit(tenantId, tier, overrides));
    awaitBuckets(tenantId, "active", bucket -> true);
    return tenantId;
  }

  Response submit(String tenantId, Inventory.Tier tier, Map<String, Integer> overrides) {
    return submit(tenantId, tier, overrides, Map.of());
  }

  Response submit(
      String tenantId,
      Inventory.Tier tier,
      Map<String, Integer> overrides,
      Map<String, String> headers) {
    tenants.add(tenantId);
    return inventory.onboard(deployment, tenantId, tier, overrides, headers);
  }

  Response offboard(String tenantId) {
    return inventory.offboard(deployment, tenantId);
  }

  /**
   * Waits until all buckets of a new tenant are active and shown as full. On AWS, a queue's number
   * of messages is up to a minute old.
   */
  Duration awaitFull(String tenantId) {
    return awaitBuckets(
        tenantId,
        "active and full",
        bucket -> bucket.path("level").asLong() == bucket.path("capacity").asLong());
  }

  private Duration awaitBuckets(
      String tenantId, String expected, Predicate<JsonNode> ofEachBucket) {
    return await(
        "buckets of " + tenantId,
        expected,
        bounds.change(),
        () -> tenant(tenantId).path("buckets"),
        buckets -> {
          boolean all = !buckets.isEmpty();
          for (JsonNode bucket : buckets) {
            all &=
                bucket.path("state").asText().matches("ACTIVE|HIBERNATING")
                    && ofEachBucket.test(bucket);
          }
          return all;
        });
  }

  JsonNode tenant(String tenantId) {
    Response shown = show(tenantId);
    expectStatus("GET /tenants/" + tenantId, 200, shown);
    return shown.json();
  }

  Response show(String tenantId) {
    return deployment.control("GET", Paths.tenant(tenantId), Optional.empty());
  }

  JsonNode bucket(String tenantId, String action) {
    for (JsonNode bucket : tenant(tenantId).path("buckets")) {
      if (bucket.path("action").asText().equals(action)) {
        return bucket;
      }
    }
    throw new Broken("buckets of " + tenantId, "one for " + action, "none");
  }

  int connections(String tenantId) {
    return tenant(tenantId).path("connections").asInt(-1);
  }

  /** Changes a tenant; the response must be 200. */
  void change(String tenantId, JsonNode change) {
    did("PATCH /tenants/" + tenantId + " " + Json.write(change));
    expectStatus(
        "PATCH /tenants/" + tenantId,
        200,
        deployment.control("PATCH", Paths.tenant(tenantId), Optional.of(change)));
  }

  // Sessions and sockets

  Session session(String tenantId) {
    if (isAttached()) {
      return new Session(tenantId, "");
    }
    return new Session(tenantId, createSession(tenantId).path("sessionId").asText());
  }

  /** The document of a new session. */
  JsonNode createSession(String tenantId) {
    Response created = deployment.sessions("PUT", tenantId, Optional.empty());
    if (created.status() == 401) {
      throw new Undecidable(
          "The session API takes tokens only. Pass a command that prints a tenant's token with"
              + " --token-command.");
    }
    expectStatus("PUT /session", 201, created);
    return created.json();
  }

  /** The status of a handshake: 101 if the socket was opened. */
  int handshake(Session session) {
    return status(join(start(session.query(), new Client())));
  }

  int handshake(Map<String, String> query) {
    return status(join(start(query, new Client())));
  }

  /** Opens many sockets at once; returns their statuses. */
  List<Integer> handshakes(int count, List<Session> sessions) {
    List<CompletableFuture<Handshake>> pending = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      pending.add(start(sessions.get(i % sessions.size()).query(), new Client()));
    }
    return pending.stream().map(this::join).map(Trial::status).toList();
  }

  /**
   * Opens a socket that must be admitted. A receive from a queue with few messages may find none
   * (SQS samples its servers), so an early refusal is repeated, and counted.
   */
  Connected connect(Session session) {
    for (int attempt = 1; ; attempt++) {
      Client client = new Client();
      Handshake handshake = join(start(session.query(), client));
      if (handshake instanceof Handshake.Admitted admitted) {
        return new Connected(client, admitted.socket());
      }
      if (status(handshake) != 429 || attempt == ATTEMPTS) {
        throw new Broken("handshake", "101", String.valueOf(status(handshake)));
      }
      repeatHandshake();
    }
  }

  /** Waits before a handshake that should have been admitted is repeated, and counts that. */
  void repeatHandshake() {
    repeatedHandshakes++;
    pause(BETWEEN_ATTEMPTS);
  }

  private CompletableFuture<Handshake> start(Map<String, String> query, Client client) {
    return deployment.handshake(query, client);
  }

  private Handshake join(CompletableFuture<Handshake> pending) {
    try {
      Handshake handshake = pending.join();
      if (handshake instanceof Handshake.Admitted admitted) {
        sockets.add(admitted.socket());
      }
      return handshake;
    } catch (CompletionException e) {
      throw e.getCause() instanceof Failure failure
          ? failure
          : Failure.of("No WebSocket: " + e.getCause(), e);
    }
  }

  private static int status(Handshake handshake) {
    return handshake instanceof Handshake.Refused refused ? refused.status() : 101;
  }

  /** Closes all sockets that the trial has opened. */
  void closeSockets() {
    sockets.forEach(Deployment.Socket::close);
    sockets.clear();
  }

  /** Closes the sockets, and starts to offboard the tenants. */
  @Override
  public void close() {
    closeSockets();
    for (String tenant : tenants) {
      try {
        offboard(tenant);
      } catch (Failure notAnswered) {
        // The inventory tries again at the end of the run.
      }
    }
  }
}
