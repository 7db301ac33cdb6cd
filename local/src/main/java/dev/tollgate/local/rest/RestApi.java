package dev.tollgate.local.rest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.Call;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Serves the operations of one service. */
public abstract class RestApi implements HttpHandler {
  /** The media type of requests and answers. */
  protected static final String JSON = "application/json";

  private static final System.Logger LOGGER = System.getLogger("dev.tollgate.local");
  private static final HttpString REQUEST_ID = new HttpString("x-amzn-RequestId");

  /** The kind of a resource after the API's version, if it has one, and the resource's name. */
  private static final Pattern PATH =
      Pattern.compile("/(?:\\d{4}-\\d{2}-\\d{2}/)?[a-z-]+/([^/]+)(?:/.*)?");

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

    /** Reads the parameters of the query as members. */
    public Members members() {
      ObjectNode first = Json.object();
      query.forEach((parameter, values) -> first.put(parameter, values.getFirst()));
      return new Members(first);
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
   * Executes a request.
   *
   * @throws ApiException if it is refused
   */
  protected abstract Answer answer(String operation, Request request);

  /** The error of a request whose body is not a JSON object. */
  protected abstract ApiException unreadable();

  /** The body of an error. */
  protected abstract ObjectNode error(ApiException refused);

  @Override
  public void handleRequest(HttpServerExchange exchange) throws Exception {
    exchange.getResponseHeaders().put(REQUEST_ID, UUID.randomUUID().toString());
    Call call = Call.of(exchange);
    try {
      Request request =
          new Request(name(exchange), exchange.getQueryParameters(), parse(call.body()));
      send(exchange, answer(call.operation(), request));
    } catch (ApiException e) {
      refuse(exchange, e);
    } catch (RuntimeException e) {
      LOGGER.log(System.Logger.Level.ERROR, call.operation(), e);
      refuse(exchange, new ApiException(500, "InternalServerException", e.toString()));
    }
  }

  /** The error of a request for an operation that the API does not have. */
  protected static ApiException unknownOperation() {
    return new ApiException(404, "UnknownOperationException", "");
  }

  /** The name, ARN or id in the path of a request, or an empty text. */
  protected static String name(HttpServerExchange exchange) {
    Matcher path = PATH.matcher(exchange.getRequestURI());
    return path.matches()
        ? URLDecoder.decode(path.group(1).replace("+", "%2B"), StandardCharsets.UTF_8)
        : "";
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

  private void refuse(HttpServerExchange exchange, ApiException refused) {
    refused.sendJson(exchange, JSON, error(refused));
  }

  private static void send(HttpServerExchange exchange, Answer answer) {
    exchange.setStatusCode(answer.status());
    if (answer.status() == 204) {
      exchange.endExchange();
      return;
    }
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, JSON);
    exchange.getResponseSender().send(answer.body().toString());
  }
}
