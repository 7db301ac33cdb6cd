package dev.tollgate.local.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.gateway.mapping.Integration;
import dev.tollgate.local.gateway.mapping.MappedIntegrations;
import dev.tollgate.local.gateway.mapping.ServiceCalls;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.template.Environment;
import io.undertow.Handlers;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.AttachmentKey;
import io.undertow.util.HeaderMap;
import io.undertow.util.Headers;
import io.undertow.websockets.core.CloseMessage;
import io.undertow.websockets.core.WebSocketChannel;
import io.undertow.websockets.spi.WebSocketHttpExchange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.time.Instant;
import java.util.Deque;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A WebSocket API: the handshake with its authorizer and {@code $connect} route, the connections,
 * and their end.
 *
 * <p>Statuses of a refused handshake, from the API Gateway Developer Guide ("Use API Gateway Lambda
 * authorizers", "Manage connected users and client apps") unless said otherwise:
 *
 * <ul>
 *   <li>too many new connections, or requests of {@code $connect}: 429
 *   <li>an identity source is missing: 401, and the authorizer is not invoked
 *   <li>the authorizer fails with exactly {@code Unauthorized}: 401
 *   <li>its policy denies, or does not allow: 403
 *   <li>it fails otherwise, times out, or its answer is invalid: 500
 *   <li>{@code $connect} answers another status than 2xx: that status, without its body and headers
 *   <li>{@code $connect} fails, or answers no HTTP status: 500; times out: 504
 * </ul>
 */
final class WebSocketApi implements Api {
  /** "Quotas for configuring and running a WebSocket API", as all limits here. */
  private static final int MAX_URL_CHARS = 4_096;

  /**
   * The longest time-out of an integration. AWS documents none for authorizers of WebSocket APIs
   * (10 s for those of HTTP APIs).
   */
  private static final Duration AUTHORIZER_TIMEOUT = Duration.ofSeconds(29);

  private static final Duration MAX_IDLE = Duration.ofMinutes(10);
  private static final Duration MAX_AGE = Duration.ofHours(2);

  private static final AttachmentKey<Connection> CONNECTION =
      AttachmentKey.create(Connection.class);

  private static final int GOING_AWAY = 1001;
  private static final int ABNORMAL = 1006;

  private final WebSocketApiSpec spec;
  private final WebSocketEvents events;
  private final Throttles throttles;
  private final Predicate<String> routeThrottle;
  private final Functions functions;
  private final MappedIntegrations mapped;
  private final Environment environment;
  private final ExecutorService workers;
  private final ExecutorService disconnections;
  private final Consumer<String> log;
  private final ConcurrentMap<String, Connection> connections = new ConcurrentHashMap<>();

  /** One for all connections, each of which would otherwise keep its own. */
  private final HttpHandler handshakes = Handlers.websocket(this::opened);

  /** The events that functions are processing. */
  private final Phaser inProgress =
      new Phaser() {
        @Override
        protected boolean onAdvance(int phase, int registeredParties) {
          return false; // the phaser stays usable when no event is left
        }
      };

  WebSocketApi(
      WebSocketApiSpec spec,
      Throttles throttles,
      Functions functions,
      ServiceCalls services,
      Environment environment,
      ExecutorService workers,
      ExecutorService disconnections,
      Consumer<String> log) {
    this.spec = spec;
    this.events = new WebSocketEvents(spec, environment);
    this.throttles = throttles;
    this.routeThrottle = throttles.ofStage(spec.limits());
    this.functions = functions;
    this.mapped = new MappedIntegrations(services, spec.stageVariables());
    this.environment = environment;
    this.workers = workers;
    this.disconnections = disconnections;
    this.log = log;
  }

  String stage() {
    return spec.stage();
  }

  /** An established connection. */
  Optional<Connection> connection(String id) {
    return Optional.ofNullable(connections.get(id));
  }

  @Override
  public void sweep() {
    Instant now = environment.clock().instant();
    Instant idleSince = now.minus(MAX_IDLE);
    Instant oldSince = now.minus(MAX_AGE);
    for (Connection connection : connections.values()) {
      boolean idle = !connection.lastActiveAt().isAfter(idleSince);
      boolean old = !connection.connectedAt.isAfter(oldSince);
      if (idle || old) {
        var unused = connection.close(GOING_AWAY, "Going away");
      }
    }
  }

  @Override
  public void settle() {
    inProgress.register();
    inProgress.awaitAdvance(inProgress.arriveAndDeregister());
  }

  @Override
  public void close() {
    CompletableFuture.allOf(
            connections.values().stream()
                .map(connection -> connection.close(GOING_AWAY, "Going away"))
                .toArray(CompletableFuture[]::new))
        .completeOnTimeout(null, 1, TimeUnit.SECONDS)
        .exceptionally(unwritten -> null)
        .join();
  }

  @Override
  public void handle(HttpServerExchange exchange, String path) throws Exception {
    if (!path.equals("/" + spec.stage()) && !path.equals("/" + spec.stage() + "/")) {
      Requests.refuse(exchange, 403);
    } else if (Requests.rawPath(exchange).length() + exchange.getQueryString().length()
        >= MAX_URL_CHARS) {
      Requests.reply(exchange, 414, "Request URI Too Long");
    } else if (!isHandshake(exchange.getRequestHeaders())) {
      exchange.getResponseHeaders().put(Headers.UPGRADE, "websocket");
      Requests.refuse(exchange, 426);
    } else if (!throttles.admitConnection() || !routeThrottle.test("$connect")) {
      Requests.refuse(exchange, 429);
    } else {
      connect(exchange);
    }
  }

  /** RFC 6455, section 4.2.1. */
  private static boolean isHandshake(HeaderMap headers) {
    return "websocket".equalsIgnoreCase(headers.getFirst(Headers.UPGRADE))
        && "13".equals(headers.getFirst(Headers.SEC_WEB_SOCKET_VERSION))
        && headers.contains(Headers.SEC_WEB_SOCKET_KEY);
  }

  private void connect(HttpServerExchange exchange) throws Exception {
    Connection connection = new Connection(exchange, environment.clock().instant(), this::ended);
    ObjectNode handshake = WebSocketEvents.handshake(exchange);
    if (spec.authorizer().isPresent()) {
      WebSocketApiSpec.Authorizer authorizer = spec.authorizer().get();
      Decision decision =
          authorizer.identitySources().stream().allMatch(source -> isPresent(source, exchange))
              ? authorize(authorizer.function(), handshake, connection)
              : new Decision.Refused(401, "", "");
      if (decision instanceof Decision.Refused refused) {
        if (!refused.trouble().isEmpty()) {
          log.accept("authorizer: " + refused.trouble());
        }
        Requests.refuse(exchange, refused.status());
        return;
      }
      connection.authorized(((Decision.Admitted) decision).context());
    }
    Optional<Integration.Function> function = spec.function("$connect");
    if (function.isPresent()) {
      JsonNode answer =
          integrate(function.get(), events.connect(handshake, connection))
              .orElse(Json.object().put("statusCode", 504));
      int status = answer.path("statusCode").asInt();
      if (status < 200 || status > 299) {
        exchange.setStatusCode(status >= 300 && status <= 599 ? status : 500).endExchange();
        return;
      }
      forwardSubprotocol(answer, exchange);
    }
    open(exchange, connection);
  }

  /** Invokes the authorizer. As in API Gateway, its context contains the latency. */
  private Decision authorize(String function, ObjectNode handshake, Connection connection)
      throws IOException {
    String methodArn =
        environment.arn("execute-api", spec.apiId() + "/" + spec.stage() + "/$connect");
    ObjectNode event = events.authorizer(handshake, methodArn, connection);
    long start = System.nanoTime();
    Decision decision =
        functions
            .invoke(function, Json.bytes(event), AUTHORIZER_TIMEOUT)
            .map(end -> AuthorizerAnswer.of(end, methodArn))
            .orElse(AuthorizerAnswer.broken("no answer within " + AUTHORIZER_TIMEOUT));
    if (decision instanceof Decision.Admitted admitted) {
      admitted.context().put("integrationLatency", (System.nanoTime() - start) / 1_000_000);
    }
    return decision;
  }

  private static boolean isPresent(String identitySource, HttpServerExchange exchange) {
    String query = WebSocketApiSpec.Authorizer.QUERY;
    if (!identitySource.startsWith(query)) {
      String header = identitySource.substring(WebSocketApiSpec.Authorizer.HEADER.length());
      String value = exchange.getRequestHeaders().getFirst(header);
      return value != null && !value.isEmpty();
    }
    Deque<String> values =
        exchange.getQueryParameters().get(identitySource.substring(query.length()));
    return values != null && !values.getLast().isEmpty();
  }

  /** Forwards the only header of the answer of {@code $connect} that reaches the client. */
  private static void forwardSubprotocol(JsonNode answer, HttpServerExchange exchange) {
    for (var header : answer.path("headers").properties()) {
      if (header.getKey().equalsIgnoreCase(Headers.SEC_WEB_SOCKET_PROTOCOL_STRING)) {
        exchange
            .getResponseHeaders()
            .put(Headers.SEC_WEB_SOCKET_PROTOCOL, header.getValue().asText());
      }
    }
  }

  /**
   * Accepts the connection. Messages to it can be sent from now on and wait for the end of the
   * handshake.
   */
  private void open(HttpServerExchange exchange, Connection connection) throws Exception {
    connections.put(connection.id, connection);
    exchange
        .getConnection()
        .addCloseListener(closed -> connection.ended(ABNORMAL, "Connection closed abnormally"));
    exchange.putAttachment(CONNECTION, connection);
    handshakes.handleRequest(exchange);
  }

  private void opened(WebSocketHttpExchange upgraded, WebSocketChannel channel) {
    Connection connection = upgraded.getAttachment(CONNECTION);
    channel.addCloseTask(
        closed ->
            connection.ended(
                closed.getCloseCode() > 0 ? closed.getCloseCode() : ABNORMAL,
                Objects.requireNonNullElse(
                    closed.getCloseReason(), "Connection closed abnormally")));
    channel
        .getReceiveSetter()
        .set(new Frames(connection, environment.clock(), message -> received(connection, message)));
    connection.opened(channel);
    channel.resumeReceives();
  }

  /**
   * Removes a connection, and invokes the {@code $disconnect} route if the connection was opened.
   */
  private void ended(Connection connection, CloseMessage end) {
    connections.remove(connection.id);
    Optional<Integration.Function> function = spec.function("$disconnect");
    if (function.isEmpty() || !connection.wasOpened()) {
      return;
    }
    ObjectNode event = events.disconnect(connection, end);
    start(() -> integrate(function.get(), event), disconnections);
  }

  /**
   * Serves a message by its route, after the earlier messages of the connection. That the frame of
   * a throttled message has the words of a REST API's response ({@code THROTTLED}, "Gateway
   * response types") is an inference from the other frames of this kind.
   */
  private void received(Connection connection, String message) {
    String selected = routeKey(message);
    String routeKey = spec.routes().containsKey(selected) ? selected : "$default";
    ObjectNode event = events.message(connection, routeKey, message);
    Optional<WebSocketApiSpec.Route> route = Optional.ofNullable(spec.routes().get(routeKey));
    if (route.isPresent() && !routeThrottle.test(routeKey)) {
      start(
          () -> complain(connection, "Too Many Requests", event),
          work -> connection.inTurn(work, workers));
      return;
    }
    start(
        () ->
            route.ifPresentOrElse(
                served -> serve(connection, served, event),
                () -> complain(connection, "Forbidden", event)),
        work -> connection.inTurn(work, workers));
  }

  /**
   * Serves a message. Without a route response the client receives an answer only after a failure,
   * {@code Internal server error}, or a time-out, {@code Endpoint request timed out} (observed on
   * AWS: github.com/Kludex/mangum/issues/128, github.com/aws/chalice/issues/1406).
   */
  private void serve(Connection connection, WebSocketApiSpec.Route route, ObjectNode event) {
    try {
      Optional<String> answer = answer(route.integration(), event);
      if (route.answers() && answer.isPresent()) {
        var unused = connection.send(answer.get());
      }
    } catch (RuntimeException e) {
      log.accept(event.at("/requestContext/routeKey").asText() + ": " + e);
      boolean timedOut = e.getCause() instanceof HttpTimeoutException;
      complain(
          connection, timedOut ? "Endpoint request timed out" : "Internal server error", event);
    }
  }

  private Optional<String> answer(Integration integration, ObjectNode event) {
    if (integration instanceof Integration.Function function) {
      JsonNode answer =
          integrate(function, event)
              .orElseThrow(
                  () ->
                      new UncheckedIOException(
                          new HttpTimeoutException("no answer within " + function.timeout())));
      if (answer.isMissingNode()) {
        throw new IllegalStateException(function.arn() + " failed");
      }
      return Optional.of(answer.path("body")).filter(JsonNode::isTextual).map(JsonNode::asText);
    }
    return Optional.of(mapped.answer(integration, event));
  }

  /**
   * The route key in a message; {@code $default} if there is none or it names a predefined route.
   */
  private String routeKey(String message) {
    JsonNode key = Json.readOrMissing(message).at(spec.selector());
    return key.isValueNode() && !key.asText().startsWith("$") ? key.asText() : "$default";
  }

  private static void complain(Connection connection, String message, ObjectNode event) {
    ObjectNode complaint = Json.object().put("message", message);
    complaint.put("connectionId", connection.id);
    complaint.set("requestId", event.at("/requestContext/requestId"));
    var unused = connection.send(complaint.toString());
  }

  /**
   * The answer of a route's function: missing if it failed, empty if it took too long.
   *
   * <p>A throttled function counts as failed, too; the status is not 429.
   */
  private Optional<JsonNode> integrate(Integration.Function function, ObjectNode event) {
    try {
      Optional<InvocationResult> end =
          functions.invoke(function.arn(), Json.bytes(event), function.timeout());
      if (end.isEmpty()) {
        return Optional.empty();
      }
      if (end.get() instanceof InvocationResult.Success success) {
        return Optional.of(Json.read(success.payload()));
      }
      log.accept(function.arn() + ": " + end.get());
    } catch (IOException e) {
      log.accept(function.arn() + ": " + e);
    }
    return Optional.of(MissingNode.getInstance());
  }

  private void start(Runnable integration, Executor threads) {
    inProgress.register();
    threads.execute(
        () -> {
          try {
            integration.run();
          } finally {
            inProgress.arriveAndDeregister();
          }
        });
  }
}
