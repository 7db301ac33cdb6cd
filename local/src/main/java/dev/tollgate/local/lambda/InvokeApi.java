package dev.tollgate.local.lambda;

import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.Invocation.Failure;
import dev.tollgate.local.lambda.Invocation.NotFound;
import dev.tollgate.local.lambda.Invocation.Success;
import dev.tollgate.local.lambda.Invocation.Throttled;
import io.undertow.server.HttpHandler;
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
 * Lambda's {@code Invoke} operation over HTTP (Lambda API Reference, "Invoke"): {@code POST
 * /2015-03-31/functions/{name}/invocations}. A failed asynchronous invocation ({@code Event}) is
 * not retried; Lambda would retry it a minute later.
 */
public final class InvokeApi implements HttpHandler {

  private static final Pattern PATH =
      Pattern.compile("/2015-03-31/functions/([^/]+)/invocations/?");
  private static final HttpString INVOCATION_TYPE = new HttpString("X-Amz-Invocation-Type");
  private static final HttpString FUNCTION_ERROR = new HttpString("X-Amz-Function-Error");
  private static final HttpString ERROR_TYPE = new HttpString("x-amzn-ErrorType");

  private final Invoker functions;
  private final Executor workers;
  private final Set<CompletableFuture<Invocation>> asynchronous = ConcurrentHashMap.newKeySet();
  private final AtomicLong accepted = new AtomicLong();

  /**
   * The operation over some functions.
   *
   * @param functions what is invoked
   * @param workers runs work that would block the server's I/O threads
   */
  public InvokeApi(Invoker functions, Executor workers) {
    this.functions = functions;
    this.workers = workers;
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    Matcher path = PATH.matcher(exchange.getRequestURI());
    if (!path.matches() || !exchange.getRequestMethod().equals(Methods.POST)) {
      refuse(exchange, 404, "UnknownOperationException", Map.of());
      return;
    }
    String function = URLDecoder.decode(path.group(1), StandardCharsets.UTF_8);
    Deque<String> qualifier = exchange.getQueryParameters().get("Qualifier");
    String qualified = qualifier == null ? function : function + ':' + qualifier.getFirst();
    exchange.dispatch(workers, blocking -> invoke(blocking, qualified));
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
