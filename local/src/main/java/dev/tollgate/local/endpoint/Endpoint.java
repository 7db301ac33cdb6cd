package dev.tollgate.local.endpoint;

import dev.tollgate.local.hosts.AllowedHosts;
import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.HttpContinueReadHandler;
import io.undertow.util.AttachmentKey;
import io.undertow.util.Headers;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The HTTP endpoint of all AWS APIs, on the loopback interface.
 *
 * <p>It identifies the operation and the caller of a request ({@link Call}), records the call,
 * refuses one that is not allowed ({@link Authorization}), applies faults, and passes the rest to
 * the service in the credential scope. It checks access key, session token and expiry, but not the
 * signature.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html">Signature
 *     Version 4</a>
 */
public final class Endpoint implements AutoCloseable {

  private static final Pattern CREDENTIAL =
      Pattern.compile("AWS4-HMAC-SHA256 .*Credential=([^/]+)/\\d{8}/[^/]+/([^/]+)/aws4_request.*");

  private static final AttachmentKey<String> BODY = AttachmentKey.create(String.class);
  private static final String ACCESS_DENIED = "AccessDenied";
  private static final String CORAL_ACCESS_DENIED =
      "com.amazon.coral.service#AccessDeniedException";

  private final AccessKeys accessKeys;
  private final Authorization authorization;
  private final RecordedRequests requests;
  private final UnaryOperator<HttpHandler> faults;
  private final InstantSource clock;
  private final Map<String, HttpHandler> services = new ConcurrentHashMap<>();
  private final List<Consumer<Call>> watchers = new CopyOnWriteArrayList<>();
  private final List<Consumer<Exchange>> observers = new CopyOnWriteArrayList<>();
  private final Undertow server;

  /**
   * Opens the endpoint on a free port.
   *
   * @param faults puts faults before a handler
   */
  public Endpoint(
      AccessKeys accessKeys,
      Authorization authorization,
      RecordedRequests requests,
      UnaryOperator<HttpHandler> faults,
      InstantSource clock) {
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
                    AllowedHosts.LOCAL.before(guard(refusing(this::dispatch))),
                    Headers.X_CONTENT_TYPE_OPTIONS_STRING,
                    "nosniff"))
            .build();
    server.start();
  }

  /** Passes calls with a service in their credential scope to a handler. */
  public void serve(String service, HttpHandler handler) {
    services.put(service, handler);
  }

  /** Reports every successful call, just before its answer is sent. */
  public void watch(Consumer<Call> watcher) {
    watchers.add(watcher);
  }

  /** Reports every call of a known caller after its answer, also if it is refused or unanswered. */
  public void observe(Consumer<Exchange> observer) {
    observers.add(observer);
  }

  /**
   * Puts this endpoint's checks and record before a handler of calls that another server receives,
   * such as {@code @connections}. The handler runs on the exchange's dispatch executor, or else on
   * the workers of that server.
   */
  public HttpHandler guard(HttpHandler handler) {
    return receive(refusing(understand(record(authorize(faults.apply(handler))))));
  }

  /** The URL of the APIs: a value for {@code AWS_ENDPOINT_URL}. */
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
        throw new ApiException(
            403, "MissingAuthenticationToken", "Request is missing Authentication Token");
      }
      String service = credential.group(2);
      Instant now = clock.instant();
      String token = exchange.getRequestHeaders().getFirst("X-Amz-Security-Token");
      boolean query = QueryProtocol.speaks(exchange);
      int status = query || List.of("scheduler", "lambda").contains(service) ? 403 : 400;
      AccessKeys.Issued issued =
          accessKeys
              .find(credential.group(1))
              .filter(key -> key.key().sessionToken().equals(token))
              .orElseThrow(
                  () ->
                      new ApiException(
                          status,
                          query ? "InvalidClientTokenId" : "UnrecognizedClientException",
                          "The security token included in the request is invalid."));
      if (issued.expired(now)) {
        throw new ApiException(
            status,
            query ? "ExpiredToken" : "ExpiredTokenException",
            "The security token included in the request is expired");
      }
      Operations.understand(service, exchange, issued, now, body).attachTo(exchange);
      next.handleRequest(exchange);
    };
  }

  /**
   * The id of an SDK's call, which its attempts share. An attempt may be lost before it is
   * recorded.
   */
  private static String invocation(HttpServerExchange exchange) {
    String header = exchange.getRequestHeaders().getFirst("amz-sdk-invocation-id");
    return header == null ? UUID.randomUUID().toString() : header;
  }

  private HttpHandler record(HttpHandler next) {
    return exchange -> {
      Call call = Call.of(exchange);
      // On commit, so that a caller who has the answer finds the call in the record.
      exchange.addResponseCommitListener(
          committed -> {
            requests.add(
                new RecordedRequests.Request(
                    call.service(),
                    call.operation(),
                    call.principal(),
                    call.at(),
                    committed.getStatusCode(),
                    call.resource(),
                    invocation(exchange)));
            if (committed.getStatusCode() == 200) {
              watchers.forEach(watcher -> watcher.accept(call));
            }
          });
      if (!observers.isEmpty()) {
        Exchange.observe(
            exchange, call, done -> observers.forEach(observer -> observer.accept(done)));
      }
      next.handleRequest(exchange);
    };
  }

  private HttpHandler authorize(HttpHandler next) {
    return exchange -> {
      Call call = Call.of(exchange);
      Optional<String> refusal = authorization.refusal(call);
      if (refusal.isPresent()) {
        throw accessDenied(call.service(), refusal.get());
      }
      next.handleRequest(exchange);
    };
  }

  /** The error with which a service denies access. */
  private static ApiException accessDenied(String service, String message) {
    return switch (service) {
      case "dynamodb" -> new ApiException(400, CORAL_ACCESS_DENIED, message);
      case "sqs" -> new ApiException(403, CORAL_ACCESS_DENIED, ACCESS_DENIED, message);
      case "sts" -> new ApiException(403, ACCESS_DENIED, message);
      case "execute-api" -> new ApiException(403, "ForbiddenException", message);
      default -> new ApiException(403, "AccessDeniedException", message);
    };
  }

  private void dispatch(HttpServerExchange exchange) throws Exception {
    String service = Call.of(exchange).service();
    HttpHandler handler = services.get(service);
    if (handler == null) {
      throw new ApiException(
          400,
          "UnknownService",
          "service: " + service + " (expected: one of " + services.keySet() + ")");
    }
    handler.handleRequest(exchange);
  }

  /** Answers requests that a handler refuses. */
  private static HttpHandler refusing(HttpHandler handler) {
    return exchange -> {
      try {
        handler.handleRequest(exchange);
      } catch (ApiException e) {
        e.send(exchange);
      }
    };
  }

  /** Reads the body without blocking a thread, because a caller may never send the rest of it. */
  private static HttpHandler receive(HttpHandler next) {
    HttpHandler blocking =
        exchange -> {
          exchange.startBlocking();
          next.handleRequest(exchange);
        };
    return new HttpContinueReadHandler(
        received -> {
          // Undertow loses the executor when the rest of the body arrives later.
          Executor threads = received.getDispatchExecutor();
          received
              .getRequestReceiver()
              .receiveFullBytes(
                  (exchange, body) -> {
                    exchange.getRequestHeaders().remove(Headers.EXPECT);
                    exchange.putAttachment(
                        BODY,
                        RpcCbor.speaks(exchange)
                            ? RpcCbor.json(body)
                            : new String(body, StandardCharsets.UTF_8));
                    exchange.dispatch(threads, blocking);
                  });
        });
  }
}
