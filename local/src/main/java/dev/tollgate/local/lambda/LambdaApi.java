package dev.tollgate.local.lambda;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.InvocationResult.Failure;
import dev.tollgate.local.lambda.InvocationResult.NotFound;
import dev.tollgate.local.lambda.InvocationResult.Success;
import dev.tollgate.local.lambda.InvocationResult.Throttled;
import dev.tollgate.local.lambda.runtime.ExecutionEnvironment;
import dev.tollgate.local.rest.RestApi;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Lambda's API: {@code Invoke}, and the operations of other parts.
 *
 * @see <a href="https://docs.aws.amazon.com/lambda/latest/api/API_Operations.html">Lambda API
 *     Reference</a>
 */
public final class LambdaApi extends RestApi {
  private static final HttpString INVOCATION_TYPE = new HttpString("X-Amz-Invocation-Type");
  private static final HttpString FUNCTION_ERROR = new HttpString("X-Amz-Function-Error");

  /** An event of an asynchronous invocation (Developer Guide, "Lambda quotas"). */
  private static final int MAX_EVENT_BYTES = 1024 * 1024;

  private final Invoker functions;
  private final Executor workers;
  private final Consumer<String> requireActive;
  private final Map<String, Operation> operations;
  private final AsyncInvocations asynchronous;

  /**
   * An API.
   *
   * @param functions what is invoked
   * @param asynchronous queues invocations of type {@code Event}
   * @param workers runs work that would block the server's I/O threads
   * @param requireActive throws an {@link ApiException} for a function that cannot be invoked yet
   * @param operations other operations by name
   */
  public LambdaApi(
      Invoker functions,
      AsyncInvocations asynchronous,
      Executor workers,
      Consumer<String> requireActive,
      Map<String, Operation> operations) {
    this.functions = functions;
    this.asynchronous = asynchronous;
    this.requireActive = requireActive;
    this.workers = workers;
    this.operations = Map.copyOf(operations);
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) throws Exception {
    if (Call.of(exchange).operation().equals("Invoke")) {
      exchange.dispatch(workers, this::invoke);
    } else {
      super.handleRequest(exchange);
    }
  }

  @Override
  protected Answer answer(String operation, Request request) {
    if (!operations.containsKey(operation)) {
      throw unknownOperation();
    }
    return operations.get(operation).handle(request);
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

  private void invoke(HttpServerExchange exchange) {
    Call call = Call.of(exchange);
    byte[] payload = call.body().getBytes(StandardCharsets.UTF_8);
    boolean event = "Event".equals(exchange.getRequestHeaders().getFirst(INVOCATION_TYPE));
    if (payload.length > (event ? MAX_EVENT_BYTES : ExecutionEnvironment.MAX_PAYLOAD_BYTES)) {
      refuse(exchange, 413, "RequestTooLargeException", Json.object().put("Type", "User"));
      return;
    }
    try {
      requireActive.accept(name(exchange));
    } catch (ApiException refused) {
      refused.sendJson(exchange, JSON, error(refused));
      return;
    }
    String function = name(exchange) + call.query("Qualifier").map(text -> ":" + text).orElse("");
    if (!event) {
      answer(exchange, functions.start(function, payload).join());
    } else if (asynchronous.accept(function, call.body()).isPresent()) {
      exchange.setStatusCode(202).endExchange();
    } else {
      answer(exchange, new NotFound(function));
    }
  }

  private static void answer(HttpServerExchange exchange, InvocationResult result) {
    if (result instanceof Success success) {
      send(exchange, success.payload());
    } else if (result instanceof Failure failure) {
      exchange.getResponseHeaders().put(FUNCTION_ERROR, "Unhandled");
      send(exchange, failure.payload());
    } else if (result instanceof Throttled throttled) {
      ObjectNode body = Json.object().put("Reason", throttled.reason()).put("Type", "User");
      refuse(exchange, 429, "TooManyRequestsException", body.put("message", "Rate Exceeded."));
    } else if (result instanceof NotFound missing) {
      ObjectNode body = Json.object().put("Type", "User");
      body.put("Message", "Function not found: " + missing.function());
      refuse(exchange, 404, "ResourceNotFoundException", body);
    }
  }

  private static void refuse(
      HttpServerExchange exchange, int status, String type, ObjectNode body) {
    new ApiException(status, type, "").sendJson(exchange, JSON, body);
  }

  private static void send(HttpServerExchange exchange, byte[] json) {
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, JSON);
    exchange.getResponseSender().send(ByteBuffer.wrap(json));
  }
}
