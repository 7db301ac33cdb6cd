package dev.tollgate.local.lambda;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.Invocation.Failure;
import dev.tollgate.local.lambda.Invocation.NotFound;
import dev.tollgate.local.lambda.Invocation.Success;
import dev.tollgate.local.lambda.Invocation.Throttled;
import dev.tollgate.local.rest.ApiException;
import dev.tollgate.local.rest.RestApi;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import io.undertow.util.Methods;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lambda's API: {@code Invoke}, and the operations of other parts. A failed asynchronous invocation
 * ({@code Event}) is not retried; Lambda would retry it a minute later.
 *
 * @see <a href="https://docs.aws.amazon.com/lambda/latest/api/API_Operations.html">Lambda API
 *     Reference</a>
 */
public final class LambdaApi extends RestApi {
  private static final Pattern PATH = Pattern.compile("/2015-03-31/[a-z-]+/([^/]+)(?:/.*)?");
  private static final Pattern INVOCATIONS =
      Pattern.compile("/2015-03-31/functions/([^/]+)/invocations/?");
  private static final HttpString INVOCATION_TYPE = new HttpString("X-Amz-Invocation-Type");
  private static final HttpString FUNCTION_ERROR = new HttpString("X-Amz-Function-Error");

  private final Invoker functions;
  private final Executor workers;
  private final Set<CompletableFuture<Invocation>> asynchronous = ConcurrentHashMap.newKeySet();
  private final AtomicLong accepted = new AtomicLong();

  /**
   * An API.
   *
   * @param functions what is invoked
   * @param workers runs work that would block the server's I/O threads
   * @param operations other operations by name
   */
  public LambdaApi(Invoker functions, Executor workers, Map<String, Operation> operations) {
    super(operations);
    this.functions = functions;
    this.workers = workers;
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) throws Exception {
    Matcher path = INVOCATIONS.matcher(exchange.getRequestURI());
    if (!path.matches() || !exchange.getRequestMethod().equals(Methods.POST)) {
      super.handleRequest(exchange);
      return;
    }
    String function = URLDecoder.decode(path.group(1), StandardCharsets.UTF_8);
    Deque<String> qualifier = exchange.getQueryParameters().get("Qualifier");
    String qualified = qualifier == null ? function : function + ':' + qualifier.getFirst();
    exchange.dispatch(workers, blocking -> invoke(blocking, qualified));
  }

  @Override
  protected Target target(HttpServerExchange exchange) {
    Matcher path = PATH.matcher(exchange.getRequestURI());
    return new Target(Call.of(exchange).operation(), path.matches() ? path.group(1) : "");
  }

  @Override
  protected ApiException unreadable() {
    return invalidContent();
  }

  @Override
  protected ObjectNode error(ApiException refused) {
    return Json.object()
        .put("Type", refused.status() < 500 ? "User" : "Service")
        .put("Message", refused.text());
  }

  /** A value that does not fit what exists. */
  public static ApiException invalid(String message) {
    return new ApiException(400, "InvalidParameterValueException", message);
  }

  /** A resource that exists already. */
  public static ApiException conflict(String message) {
    return new ApiException(409, "ResourceConflictException", message);
  }

  static ApiException stale() {
    return new ApiException(
        412,
        "PreconditionFailedException",
        "The Revision Id provided does not match the latest Revision Id. "
            + "Call the GetFunction/GetAlias API to retrieve the latest Revision Id");
  }

  static ApiException invalidContent() {
    return new ApiException(
        400, "InvalidRequestContentException", "Could not parse request body into json");
  }

  private void invoke(HttpServerExchange exchange, String function) throws Exception {
    exchange.setMaxEntitySize(-1); // too large payloads get the error of Lambda
    exchange.startBlocking();
    byte[] payload = exchange.getInputStream().readNBytes(Functions.MAX_PAYLOAD_BYTES + 1);
    if (payload.length > Functions.MAX_PAYLOAD_BYTES) {
      refuse(exchange, 413, "RequestTooLargeException", Map.of("Type", "User"));
      return;
    }
    CompletableFuture<Invocation> started = functions.start(function, payload);
    boolean refused = started.isDone() && !(started.join() instanceof Success);
    if (!refused && "Event".equals(exchange.getRequestHeaders().getFirst(INVOCATION_TYPE))) {
      asynchronous.removeIf(CompletableFuture::isDone);
      asynchronous.add(started);
      accepted.incrementAndGet();
      exchange.setStatusCode(202).endExchange();
    } else {
      answer(exchange, started.join());
    }
  }

  /**
   * Waits until all asynchronous invocations have ended.
   *
   * @return how many have been accepted so far
   */
  public long settle() {
    long before = -1;
    while (before != accepted.get()) {
      before = accepted.get();
      CompletableFuture.allOf(asynchronous.toArray(CompletableFuture<?>[]::new))
          .handle((all, failure) -> true)
          .join();
    }
    return before;
  }

  private static void answer(HttpServerExchange exchange, Invocation invocation) {
    if (invocation instanceof Success success) {
      send(exchange, success.payload());
    } else if (invocation instanceof Failure failure) {
      exchange.getResponseHeaders().put(FUNCTION_ERROR, "Unhandled");
      send(exchange, failure.payload());
    } else if (invocation instanceof Throttled throttled) {
      refuse(
          exchange,
          429,
          "TooManyRequestsException",
          Map.of("Reason", throttled.reason(), "Type", "User", "message", "Rate Exceeded."));
    } else if (invocation instanceof NotFound missing) {
      refuse(
          exchange,
          404,
          "ResourceNotFoundException",
          Map.of("Type", "User", "Message", "Function not found: " + missing.function()));
    }
  }

  private static void send(HttpServerExchange exchange, byte[] json) {
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
    exchange.getResponseSender().send(ByteBuffer.wrap(json));
  }

  private static void refuse(
      HttpServerExchange exchange, int status, String type, Map<String, String> body) {
    exchange.setStatusCode(status).getResponseHeaders().put(ERROR_TYPE, type);
    send(exchange, Json.bytes(Json.MAPPER.valueToTree(body)));
  }
}
