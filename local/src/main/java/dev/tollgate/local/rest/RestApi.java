package dev.tollgate.local.rest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Serves the operations of one service. */
public abstract class RestApi implements HttpHandler {
  private static final System.Logger LOGGER = System.getLogger("dev.tollgate.local");

  /** The header that names the exception of the service model. */
  protected static final HttpString ERROR_TYPE = new HttpString("x-amzn-ErrorType");

  private static final HttpString REQUEST_ID = new HttpString("x-amzn-RequestId");

  /** An operation of the API. */
  @FunctionalInterface
  public interface Operation {
    /**
     * Executes a request.
     *
     * @throws ApiException if it is refused
     */
    Answer handle(Request request);
  }

  /**
   * A request.
   *
   * @param name the name, ARN or id in the path, or empty
   */
  public record Request(String name, Map<String, Deque<String>> query, ObjectNode body) {
    /** The first value of a parameter of the query. */
    public Optional<String> query(String parameter) {
      return queries(parameter).stream().findFirst();
    }

    /** The values of a parameter of the query. */
    public List<String> queries(String parameter) {
      return Optional.ofNullable(query.get(parameter)).map(List::copyOf).orElse(List.of());
    }
  }

  /** The answer to a request that was executed. */
  public record Answer(int status, JsonNode body) {
    /** An answer with status 200. */
    public static Answer ok(JsonNode body) {
      return new Answer(200, body);
    }
  }

  /**
   * The addressee of a request.
   *
   * @param operation the operation, as {@link RestApi#operation} knows it
   * @param rawName the name, ARN or id in the path as the client encoded it, or empty
   */
  public record Target(String operation, String rawName) {}

  private final Map<String, Operation> operations;

  /** An API of some operations. */
  protected RestApi(Map<String, Operation> operations) {
    this.operations = Map.copyOf(operations);
  }

  /** Which operation a request is for. */
  protected abstract Target target(HttpServerExchange exchange);

  /** The error of a request whose body is not a JSON object. */
  protected abstract ApiException unreadable();

  /** The body of an error. */
  protected abstract ObjectNode error(ApiException refused);

  @Override
  public void handleRequest(HttpServerExchange exchange) throws Exception {
    if (exchange.isInIoThread()) {
      exchange.dispatch(this);
      return;
    }
    if (!exchange.isBlocking()) {
      exchange.startBlocking();
    }
    exchange.getResponseHeaders().put(REQUEST_ID, UUID.randomUUID().toString());
    String body = new String(exchange.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Target target = target(exchange);
    try {
      Operation operation = operations.get(target.operation());
      if (operation == null) {
        throw new ApiException(404, "UnknownOperationException", "");
      }
      String name = URLDecoder.decode(target.rawName().replace("+", "%2B"), StandardCharsets.UTF_8);
      Request request = new Request(name, exchange.getQueryParameters(), parse(body));
      send(exchange, operation.handle(request));
    } catch (ApiException e) {
      fail(exchange, e);
    } catch (RuntimeException e) {
      LOGGER.log(System.Logger.Level.ERROR, target.operation(), e);
      fail(exchange, new ApiException(500, "InternalServerException", e.toString()));
    }
  }

  private ObjectNode parse(String body) {
    try {
      if (body.isEmpty()) {
        return Json.object();
      }
      if (Json.readStrictly(body) instanceof ObjectNode object) {
        return object;
      }
    } catch (JsonProcessingException e) {
      throw (ApiException) unreadable().initCause(e);
    }
    throw unreadable();
  }

  private void fail(HttpServerExchange exchange, ApiException refused) {
    exchange.getResponseHeaders().put(ERROR_TYPE, refused.code());
    send(exchange, new Answer(refused.status(), error(refused)));
  }

  private static void send(HttpServerExchange exchange, Answer answer) {
    exchange.setStatusCode(answer.status());
    if (answer.status() == 204) {
      exchange.endExchange();
      return;
    }
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
    exchange.getResponseSender().send(answer.body().toString());
  }
}
