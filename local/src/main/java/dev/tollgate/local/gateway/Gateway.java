package dev.tollgate.local.gateway;

import dev.tollgate.local.gateway.mapping.ServiceCalls;
import dev.tollgate.local.hosts.AllowedHosts;
import dev.tollgate.local.hosts.Refusal;
import dev.tollgate.local.lambda.Invoker;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.threads.DaemonThreads;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.DateUtils;
import io.undertow.util.Headers;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The public server of HTTP and WebSocket APIs. The path of each API begins with its id, because
 * one machine has no host name per API.
 *
 * <p>Every request waits for its functions on a separate thread, so that slow authorizers do not
 * delay other requests. As on AWS, the concurrency of functions limits the number of requests; a
 * request beyond it gets 500. A request beyond the throttle of its route, or beyond API Gateway's
 * quotas (500 new connections and 10,000 requests a second per account and Region), gets 429.
 */
public final class Gateway implements AutoCloseable {
  private static final long INVOCATION_SWEEP_MILLIS = 100;

  /** Longer, because this sweep looks at each of thousands of connections. */
  private static final long CONNECTION_SWEEP_MILLIS = 1_000;

  private static final long CLOSE_SECONDS = 2;

  /**
   * How many functions of the {@code $disconnect} routes run at once. A thread for each of
   * thousands of sockets that close together would leave no processor for the thread that closes
   * them.
   */
  static final int MOST_DISCONNECTIONS = 32;

  /** From the first byte of a request, or of a handshake, to the end of its headers. */
  private static final int HEADERS_WITHIN_MILLIS = 5_000;

  /** How long a connection without a request stays open. */
  private static final int IDLE_MILLIS = 30_000;

  private final Functions functions;
  private final ServiceCalls services;
  private final Environment environment;
  private final Throttles throttles;
  private final AllowedHosts hosts;
  private final Consumer<String> log;
  private final Map<String, Api> apis = new ConcurrentHashMap<>();
  private final HttpHandler connections;
  private final ExecutorService workers =
      Executors.newCachedThreadPool(new DaemonThreads("gateway"));
  private final ExecutorService disconnections =
      Executors.newFixedThreadPool(
          MOST_DISCONNECTIONS, new DaemonThreads("gateway-disconnections"));
  private final ScheduledExecutorService sweeps =
      Executors.newSingleThreadScheduledExecutor(new DaemonThreads("gateway-sweep"));
  private final Undertow server;

  /**
   * A server that listens, without any API yet.
   *
   * @param address where to listen; port 0 for any that is free
   * @param hosts the host names and origins of requests that the server accepts
   * @param functions invokes the functions behind the APIs
   * @param services calls the AWS services behind the APIs
   * @param aroundConnections wraps the handler of {@code @connections}. Called once; its result
   *     runs on threads that may block, as does the exchange's dispatch executor
   * @param log receives one line for each failure between a request and its function
   */
  public Gateway(
      InetSocketAddress address,
      AllowedHosts hosts,
      Invoker functions,
      ServiceCalls services,
      Environment environment,
      UnaryOperator<HttpHandler> aroundConnections,
      Consumer<String> log) {
    this(
        address,
        hosts,
        functions,
        services,
        environment,
        aroundConnections,
        log,
        ConnectionsApi.MAX_SEND_TIME);
  }

  /**
   * A server whose clients may leave messages unread for another time.
   *
   * @param maxSendTime how long a message waits for a client that does not read
   */
  Gateway(
      InetSocketAddress address,
      AllowedHosts hosts,
      Invoker functions,
      ServiceCalls services,
      Environment environment,
      UnaryOperator<HttpHandler> aroundConnections,
      Consumer<String> log,
      Duration maxSendTime) {
    this.hosts = hosts;
    this.functions = new Functions(functions, environment.clock());
    this.services = services;
    this.environment = environment;
    this.throttles = new Throttles(environment.clock(), System::nanoTime);
    this.log = log;
    HttpHandler guarded =
        aroundConnections.apply(new ConnectionsApi(apis, environment.clock(), maxSendTime));
    this.connections =
        exchange -> {
          // A call may wait for a client; the server's one worker thread would wait with it.
          exchange.setDispatchExecutor(workers);
          guarded.handleRequest(exchange);
        };
    this.server =
        Undertow.builder()
            .addHttpListener(address.getPort(), address.getAddress().getHostAddress())
            .setWorkerThreads(1)
            .setServerOption(
                UndertowOptions.MAX_ENTITY_SIZE, -1L) // the APIs have limits of their own
            .setServerOption(UndertowOptions.REQUEST_PARSE_TIMEOUT, HEADERS_WITHIN_MILLIS)
            .setServerOption(UndertowOptions.NO_REQUEST_TIMEOUT, IDLE_MILLIS)
            .setHandler(exchange -> exchange.dispatch(workers, this::route))
            .build();
    server.start();
    repeat(this.functions::sweep, INVOCATION_SWEEP_MILLIS);
    repeat(this::sweepConnections, CONNECTION_SWEEP_MILLIS);
  }

  private void repeat(Runnable sweep, long millis) {
    var unused = sweeps.scheduleWithFixedDelay(sweep, millis, millis, TimeUnit.MILLISECONDS);
  }

  /**
   * Serves an HTTP API with Lambda proxy integrations of payload format 2.0, at stage {@code
   * $default}.
   *
   * @param apiId the API's id, first segment of its local path
   * @param cors the CORS configuration, if the API has one
   * @throws IllegalArgumentException if the id is taken or malformed
   */
  public void addHttpApi(
      String apiId, List<HttpRoute> routes, RouteLimits limits, Optional<Cors> cors) {
    Consumer<String> named = line -> log.accept("HTTP API " + apiId + ", " + line);
    add(
        apiId,
        new HttpApi(apiId, routes, throttles.ofStage(limits), cors, functions, environment, named));
  }

  /**
   * Serves a WebSocket API.
   *
   * @throws IllegalArgumentException if its id is taken or malformed
   */
  public void add(WebSocketApiSpec spec) {
    Consumer<String> named = line -> log.accept("WebSocket API " + spec.apiId() + ", " + line);
    add(
        spec.apiId(),
        new WebSocketApi(
            spec, throttles, functions, services, environment, workers, disconnections, named));
  }

  private void add(String apiId, Api api) {
    if (!apiId.matches("[A-Za-z0-9-]+") || apis.putIfAbsent(apiId, api) != null) {
      throw new IllegalArgumentException(
          "apiId: " + apiId + " (expected: [A-Za-z0-9-]+, not yet taken)");
    }
  }

  /** Where the server listens. */
  public InetSocketAddress address() {
    return (InetSocketAddress) server.getListenerInfo().get(0).getAddress();
  }

  /** The URL of an API, without a stage: {@code http://127.0.0.1:8080/abc} or {@code ws://…}. */
  public URI endpoint(String scheme, String apiId) {
    InetAddress host = address().getAddress();
    return URI.create(
        "%s://%s:%d/%s"
            .formatted(
                scheme,
                // The wildcard address is not one that a client can connect to.
                host.isAnyLocalAddress() ? "127.0.0.1" : host.getHostAddress(),
                address().getPort(),
                apiId));
  }

  /**
   * Ends the invocations that have timed out, and closes the connections that have been idle for
   * ten minutes or open for two hours. The gateway also does the first ten times a second and the
   * second once.
   */
  public void sweep() {
    functions.sweep();
    sweepConnections();
  }

  private void sweepConnections() {
    apis.values().forEach(Api::sweep);
  }

  /** Sweeps, and waits until the functions have processed all messages and disconnections. */
  public void settle() {
    sweep();
    apis.values().forEach(Api::settle);
  }

  /** Closes all connections with 1001, waits two seconds for their disconnections, and stops. */
  @Override
  public void close() {
    if (sweeps.isShutdown()) {
      return;
    }
    sweeps.shutdownNow();
    apis.values().forEach(Api::close);
    boolean settled =
        CompletableFuture.runAsync(() -> apis.values().forEach(Api::settle), workers)
            .thenApply(done -> true)
            .completeOnTimeout(false, CLOSE_SECONDS, TimeUnit.SECONDS)
            .join();
    if (!settled) {
      log.accept("closing: a function takes too long to process a disconnection");
    }
    server.stop();
    disconnections.shutdownNow();
    workers.shutdownNow();
  }

  private void route(HttpServerExchange exchange) throws Exception {
    // The time of the local cloud, which tests move, as on AWS the time of all its services.
    exchange
        .getResponseHeaders()
        .put(Headers.DATE, DateUtils.toDateString(Date.from(environment.clock().instant())));
    String path = Requests.rawPath(exchange);
    int end = path.indexOf('/', 1);
    Optional<Api> api =
        Optional.ofNullable(
            apis.get((end < 0 ? path : path.substring(0, end)).replaceFirst("^/", "")));
    Optional<Refusal> refusal =
        hosts.refusal(exchange, origin -> api.filter(a -> a.allows(origin)).isPresent());
    if (refusal.isPresent()) {
      refusal.get().send(exchange);
    } else if (!path.startsWith("/") || Requests.isMalformed(path)) {
      Requests.refuse(exchange, 400);
    } else if (ConnectionsApi.isConnections(path)) {
      if (throttles.admitRequest()) {
        connections.handleRequest(exchange);
      } else {
        Requests.refuse(exchange, 429);
      }
    } else if (api.isEmpty()) {
      Requests.refuse(exchange, 404);
    } else {
      api.get().handle(exchange, end < 0 ? "" : path.substring(end));
    }
  }
}
