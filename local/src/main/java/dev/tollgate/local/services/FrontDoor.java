package dev.tollgate.local.services;

import dev.tollgate.local.sites.AllowedHosts;
import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.connector.PooledByteBuffer;
import io.undertow.server.Connectors;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.HttpContinueReadHandler;
import io.undertow.util.AttachmentKey;
import io.undertow.util.Headers;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The one HTTP endpoint of all AWS APIs, on the loopback interface.
 *
 * <p>A call goes through a chain: it is understood and attributed ({@link Call}), recorded, refused
 * if it may not be made ({@link Authorization}), made to fail if a fault was injected or planned,
 * and handed to the service that its credential scope names. Signatures are not verified, but
 * access key, session token and expiry are.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html">Signature
 *     Version 4</a>
 */
public final class FrontDoor implements AutoCloseable {
  private static final Pattern CREDENTIAL =
      Pattern.compile("AWS4-HMAC-SHA256 .*Credential=([^/]+)/\\d{8}/[^/]+/([^/]+)/aws4_request.*");

  private static final AttachmentKey<String> BODY = AttachmentKey.create(String.class);
  private static final String ACCESS_DENIED = "AccessDenied";

  private final AccessKeys accessKeys;
  private final Authorization authorization;
  private final Requests requests;
  private final Faults faults;
  private final PlannedFaults planned;
  private final InstantSource clock;
  private final Map<String, HttpHandler> services = new ConcurrentHashMap<>();
  private final List<Consumer<Call>> watchers = new CopyOnWriteArrayList<>();
  private final Undertow server;

  private FrontDoor(
      AccessKeys accessKeys,
      Authorization authorization,
      Requests requests,
      Faults faults,
      PlannedFaults planned,
      InstantSource clock) {
    this.planned = planned;
    this.accessKeys = accessKeys;
    this.authorization = authorization;
    this.requests = requests;
    this.faults = faults;
    this.clock = clock;
    this.server =
        Undertow.builder()
            .addHttpListener(0, "127.0.0.1")
            .setHandler(
                Handlers.header(
                    AllowedHosts.LOCAL.before(guard(this::dispatch)),
                    Headers.X_CONTENT_TYPE_OPTIONS_STRING,
                    "nosniff"))
            .build();
  }

  /** Opens the front door on a free port. */
  public static FrontDoor open(
      AccessKeys accessKeys,
      Authorization authorization,
      Requests requests,
      Faults faults,
      PlannedFaults planned,
      InstantSource clock) {
    FrontDoor frontDoor =
        new FrontDoor(accessKeys, authorization, requests, faults, planned, clock);
    frontDoor.server.start();
    return frontDoor;
  }

  /** Lets a handler serve the calls whose credential scope names a service. */
  public void serve(String service, HttpHandler handler) {
    services.put(service, handler);
  }

  /** Tells of every call that was answered with success, just before the caller learns of it. */
  public void watch(Consumer<Call> watcher) {
    watchers.add(watcher);
  }

  /**
   * Puts the checks and the record of the front door before a handler of calls that do not come
   * through it, such as {@code @connections}. It runs on the dispatch executor that the exchange
   * has when it comes, or else on the workers of the server that received it.
   */
  public HttpHandler guard(HttpHandler handler) {
    return receive(understand(record(authorize(faults.before(planned.before(handler))))));
  }

  /** Where the APIs are: a value for {@code AWS_ENDPOINT_URL}. */
  public URI endpoint() {
    InetSocketAddress address = (InetSocketAddress) server.getListenerInfo().get(0).getAddress();
    return URI.create("http://127.0.0.1:" + address.getPort());
  }

  @Override
  public void close() {
    server.stop();
  }

  private HttpHandler understand(HttpHandler next) {
    return exchange -> {
      String body = exchange.getAttachment(BODY);
      String authorization =
          Optional.ofNullable(exchange.getRequestHeaders().getFirst(Headers.AUTHORIZATION))
              .orElse("");
      Matcher credential = CREDENTIAL.matcher(authorization);
      if (!credential.matches()) {
        new ServiceError(
                403, "MissingAuthenticationToken", "Request is missing Authentication Token")
            .sendJson(exchange);
        return;
      }
      String service = credential.group(2);
      Instant now = clock.instant();
      Optional<AccessKeys.Issued> issued =
          accessKeys
              .find(credential.group(1))
              .filter(
                  key ->
                      key.key()
                          .sessionToken()
                          .equals(exchange.getRequestHeaders().getFirst("X-Amz-Security-Token")));
      boolean query = isQuery(exchange);
      if (issued.isEmpty()) {
        refuse(
            exchange,
            new ServiceError(
                query || isRest(service) ? 403 : 400,
                query ? "InvalidClientTokenId" : "UnrecognizedClientException",
                "The security token included in the request is invalid."));
      } else if (issued.get().expired(now)) {
        refuse(
            exchange,
            new ServiceError(
                query || isRest(service) ? 403 : 400,
                query ? "ExpiredToken" : "ExpiredTokenException",
                "The security token included in the request is expired"));
      } else {
        exchange.putAttachment(
            Call.KEY, Operations.understand(service, exchange, issued.get(), now, body));
        next.handleRequest(exchange);
      }
    };
  }

  private HttpHandler record(HttpHandler next) {
    return exchange -> {
      Call call = Call.of(exchange);
      // On commit, so that who has seen the answer finds it in the record.
      exchange.addResponseCommitListener(
          committed -> {
            requests.add(
                new Requests.Request(
                    call.service(),
                    call.operation(),
                    call.principal(),
                    call.at(),
                    committed.getStatusCode(),
                    call.resource()));
            if (committed.getStatusCode() == 200) {
              watchers.forEach(watcher -> watcher.accept(call));
            }
          });
      next.handleRequest(exchange);
    };
  }

  private HttpHandler authorize(HttpHandler next) {
    return exchange -> {
      Call call = Call.of(exchange);
      Optional<String> refusal = authorization.refusal(call);
      if (refusal.isEmpty()) {
        next.handleRequest(exchange);
      } else {
        denyAccess(exchange, call.service(), refusal.get());
      }
    };
  }

  /** Each service has an error of its own for it. */
  private static void denyAccess(HttpServerExchange exchange, String service, String message) {
    if (QueryProtocol.speaks(exchange) && QueryProtocol.wantsJson(exchange)) {
      exchange.setStatusCode(403);
      exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
      exchange.getResponseSender().send(QueryProtocol.error(ACCESS_DENIED, message).toString());
    } else if (isQuery(exchange)) {
      new ServiceError(403, ACCESS_DENIED, message).sendXml(exchange);
    } else if (service.equals("dynamodb")) {
      new ServiceError(400, "com.amazon.coral.service#AccessDeniedException", message)
          .sendJson(exchange);
    } else if (service.equals("sqs")) {
      new ServiceError(403, "com.amazon.coral.service#AccessDeniedException", message)
          .sendJson(exchange, ACCESS_DENIED);
    } else if (service.equals("execute-api")) {
      new ServiceError(403, "ForbiddenException", message).sendJson(exchange);
    } else {
      new ServiceError(403, "AccessDeniedException", message).sendJson(exchange);
    }
  }

  private void dispatch(HttpServerExchange exchange) throws Exception {
    String service = Call.of(exchange).service();
    HttpHandler handler = services.get(service);
    if (handler == null) {
      refuse(
          exchange,
          new ServiceError(
              400,
              "UnknownService",
              "service: " + service + " (expected: one of " + services.keySet() + ")"));
      return;
    }
    handler.handleRequest(exchange);
  }

  private static void refuse(HttpServerExchange exchange, ServiceError error) {
    if (isQuery(exchange)) {
      error.sendXml(exchange);
    } else {
      error.sendJson(exchange);
    }
  }

  private static boolean isRest(String service) {
    return service.equals("scheduler") || service.equals("lambda");
  }

  private static boolean isQuery(HttpServerExchange exchange) {
    String type = exchange.getRequestHeaders().getFirst(Headers.CONTENT_TYPE);
    return type != null && type.startsWith("application/x-www-form-urlencoded");
  }

  /**
   * Waits for the body without a thread, since a caller that gives up in the midst of it may never
   * send the rest; and puts it back, so that the handlers behind can read it in their own way.
   */
  private static HttpHandler receive(HttpHandler next) {
    HttpHandler blocking =
        exchange -> {
          exchange.startBlocking();
          next.handleRequest(exchange);
        };
    return new HttpContinueReadHandler(
        received -> {
          // Undertow forgets it when the rest of the body comes later.
          Executor threads = received.getDispatchExecutor();
          received
              .getRequestReceiver()
              .receiveFullBytes(
                  (exchange, body) -> {
                    exchange.getRequestHeaders().remove(Headers.EXPECT);
                    exchange.putAttachment(BODY, new String(body, StandardCharsets.UTF_8));
                    putBack(exchange, body);
                    exchange.dispatch(threads, blocking);
                  });
        });
  }

  private static void putBack(HttpServerExchange exchange, byte[] body) {
    ByteBuffer rest = ByteBuffer.wrap(body);
    List<PooledByteBuffer> buffers = new ArrayList<>();
    while (rest.hasRemaining()) {
      PooledByteBuffer pooled = exchange.getConnection().getByteBufferPool().allocate();
      ByteBuffer buffer = pooled.getBuffer();
      int length = Math.min(rest.remaining(), buffer.remaining());
      buffer.put(rest.slice().limit(length)).flip();
      rest.position(rest.position() + length);
      buffers.add(pooled);
    }
    Connectors.ungetRequestBytes(exchange, buffers.toArray(PooledByteBuffer[]::new));
    Connectors.resetRequestChannel(exchange);
  }
}
