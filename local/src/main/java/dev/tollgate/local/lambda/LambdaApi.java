package dev.tollgate.local.lambda;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.Call;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lambda's REST-JSON protocol behind the front door: invocations, and whatever operations it is
 * given.
 *
 * @see <a href="https://docs.aws.amazon.com/lambda/latest/api/API_Operations.html">Lambda API
 *     Reference</a>
 */
public final class LambdaApi implements HttpHandler {
  private static final System.Logger LOGGER = System.getLogger("dev.tollgate.local");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpString ERROR_TYPE = new HttpString("x-amzn-ErrorType");
  private static final Pattern PATH = Pattern.compile("/2015-03-31/[a-z-]+/([^/]+)(?:/.*)?");

  private final InvokeApi invocations;
  private final Map<String, Operation> operations = new HashMap<>();

  /** An operation of the API. */
  @FunctionalInterface
  public interface Operation {

    /**
     * Does what is asked for.
     *
     * @throws LambdaException if it cannot be done
     */
    Answer handle(Request request);
  }

  /**
   * A request.
   *
   * @param name the name, ARN or id in the path, or empty
   */
  public record Request(String name, Map<String, Deque<String>> query, ObjectNode body) {

    /** A parameter of the query. */
    public Optional<String> query(String parameter) {
      return Optional.ofNullable(query.get(parameter)).map(Deque::getFirst);
    }
  }

  /** An answer that is no error. */
  public record Answer(int status, JsonNode body) {

    /** The usual answer. */
    public static Answer ok(JsonNode body) {
      return new Answer(200, body);
    }
  }

  /** The operations of several parts, by name. */
  @SafeVarargs
  public LambdaApi(InvokeApi invocations, Map<String, Operation>... operations) {
    this.invocations = invocations;
    for (Map<String, Operation> part : operations) {
      this.operations.putAll(part);
    }
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    Call call = Call.of(exchange);
    if (call.operation().equals("Invoke")) {
      invocations.handleRequest(exchange);
      return;
    }
    try {
      Operation operation = operations.get(call.operation());
      if (operation == null) {
        throw LambdaException.unknownOperation();
      }
      Matcher path = PATH.matcher(exchange.getRequestURI());
      String name = path.matches() ? URLDecoder.decode(path.group(1), StandardCharsets.UTF_8) : "";
      Answer answer =
          operation.handle(new Request(name, exchange.getQueryParameters(), body(call.body())));
      exchange.setStatusCode(answer.status());
      send(exchange, answer.body());
    } catch (LambdaException e) {
      fail(exchange, e.status(), e.type(), String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      LOGGER.log(System.Logger.Level.ERROR, call.operation(), e);
      fail(exchange, 500, "ServiceException", e.toString());
    }
  }

  private static ObjectNode body(String text) {
    try {
      if (text.isEmpty()) {
        return JsonNodeFactory.instance.objectNode();
      }
      if (JSON.readTree(text) instanceof ObjectNode object) {
        return object;
      }
    } catch (JsonProcessingException e) {
      throw (LambdaException) LambdaException.unreadable().initCause(e);
    }
    throw LambdaException.unreadable();
  }

  private static void fail(HttpServerExchange exchange, int status, String type, String message) {
    exchange.setStatusCode(status).getResponseHeaders().put(ERROR_TYPE, type);
    send(
        exchange,
        JsonNodeFactory.instance
            .objectNode()
            .put("Type", status < 500 ? "User" : "Service")
            .put("Message", message));
  }

  private static void send(HttpServerExchange exchange, JsonNode body) {
    if (exchange.getStatusCode() == 204) {
      exchange.endExchange();
      return;
    }
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
    exchange.getResponseSender().send(body.toString());
  }
}
