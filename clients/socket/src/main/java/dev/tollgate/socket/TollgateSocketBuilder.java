package dev.tollgate.socket;

import java.net.URI;
import java.net.http.HttpClient;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Builds a {@link TollgateSocket}. */
public final class TollgateSocketBuilder {
  private static final int MAX_QUEUED = 1_000;

  private final URI sessionUrl;
  private final String tenantId;
  private RequestHeaders headers = (method, uri) -> Map.of();
  private Optional<String> sessionId = Optional.empty();
  private Optional<URI> webSocketUrl = Optional.empty();
  private boolean asksSessionApi = true;
  private boolean replacesSession = true;
  private boolean endsSession;
  private Route route = Route.POOL;
  private int maxQueued = MAX_QUEUED;
  private SocketListener listener = new SocketListener() {};
  private Optional<HttpClient> http = Optional.empty();
  private Optional<Transport> transport = Optional.empty();
  private Optional<Scheduler> scheduler = Optional.empty();
  private InstantSource clock = monotonic();
  private RandomGenerator random = new SecureRandom();

  TollgateSocketBuilder(URI sessionUrl, String tenantId) {
    this.sessionUrl = sessionUrl;
    this.tenantId = tenantId;
  }

  /** A clock that nobody sets: it begins at the time of day, and then counts by itself. */
  private static InstantSource monotonic() {
    Instant start = InstantSource.system().instant();
    long from = System.nanoTime();
    return () -> start.plusNanos(System.nanoTime() - from);
  }

  /**
   * Sends a JSON Web Token with each request to the session API.
   *
   * @param token the current token; called before each request
   */
  public TollgateSocketBuilder token(Supplier<String> token) {
    return headers((method, uri) -> Map.of("Authorization", "Bearer " + token.get()));
  }

  /** Sends headers with each request to the session API, such as a signature. */
  public TollgateSocketBuilder headers(RequestHeaders source) {
    headers = source;
    return this;
  }

  /** Uses a session instead of creating one; the first request renews it. */
  public TollgateSocketBuilder session(String id) {
    sessionId = Optional.of(id);
    webSocketUrl = Optional.empty();
    return this;
  }

  /**
   * Uses a session instead of creating one; begins with a handshake, which keeps the session's
   * place in line.
   *
   * @param url where its sockets are opened
   */
  public TollgateSocketBuilder session(String id, URI url) {
    sessionId = Optional.of(id);
    webSocketUrl = Optional.of(url);
    return this;
  }

  /**
   * Sends no HTTP request: for applications whose back end creates their sessions. The socket then
   * cannot ask why it is refused, and backs off.
   *
   * @throws IllegalStateException if {@link #session(String, URI)} was not called
   */
  public TollgateSocketBuilder withoutSessionApi() {
    if (webSocketUrl.isEmpty()) {
      throw new IllegalStateException("the session and its URL are missing");
    }
    asksSessionApi = false;
    replacesSession = false;
    return this;
  }

  /** Closes the socket when its session is over, instead of creating another one. */
  public TollgateSocketBuilder stopWhenSessionEnds() {
    replacesSession = false;
    return this;
  }

  /** Ends the session when the application closes the socket. */
  public TollgateSocketBuilder endSessionOnClose() {
    endsSession = true;
    return this;
  }

  /** Sends messages through this queue. Default: {@link Route#POOL}. */
  public TollgateSocketBuilder route(Route queue) {
    route = queue;
    return this;
  }

  /**
   * Holds at most this many messages that are not sent yet. Default: 1,000.
   *
   * @throws IllegalArgumentException if {@code messages} is not positive
   */
  public TollgateSocketBuilder maxQueued(int messages) {
    if (messages < 1) {
      throw new IllegalArgumentException("maxQueued: " + messages + " (expected: > 0)");
    }
    maxQueued = messages;
    return this;
  }

  /** Calls a listener. */
  public TollgateSocketBuilder listener(SocketListener events) {
    listener = events;
    return this;
  }

  /** Sends requests and opens sockets with this client, for example through a proxy. */
  public TollgateSocketBuilder httpClient(HttpClient client) {
    http = Optional.of(client);
    return this;
  }

  /** Runs the steps of the socket on this scheduler. Default: a daemon thread of the socket. */
  public TollgateSocketBuilder scheduler(Scheduler steps) {
    scheduler = Optional.of(steps);
    return this;
  }

  /** Measures time with this clock. It should not be set while the socket is used. */
  public TollgateSocketBuilder clock(InstantSource source) {
    clock = source;
    return this;
  }

  /** Chooses back-offs and ids with this generator. */
  public TollgateSocketBuilder random(RandomGenerator generator) {
    random = generator;
    return this;
  }

  TollgateSocketBuilder transport(Transport network) {
    transport = Optional.of(network);
    return this;
  }

  /** Begins to connect. */
  public TollgateSocket open() {
    Optional<ThreadScheduler> own =
        scheduler.isPresent()
            ? Optional.empty()
            : Optional.of(new ThreadScheduler("tollgate-socket-" + tenantId));
    return new TollgateSocket(
        new SocketSettings(
            sessionUrl,
            tenantId,
            headers,
            sessionId,
            webSocketUrl,
            asksSessionApi,
            replacesSession,
            endsSession,
            route,
            maxQueued,
            new GuardedListener(listener),
            transport.orElseGet(() -> new JdkTransport(http.orElseGet(HttpClient::newHttpClient))),
            scheduler.or(() -> own).orElseThrow(),
            clock,
            random,
            () -> own.ifPresent(ThreadScheduler::stop)));
  }
}
