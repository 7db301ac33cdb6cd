package dev.tollgate.local.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Environment;
import io.undertow.server.HttpServerExchange;
import io.undertow.websockets.core.CloseMessage;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The events of a WebSocket API, as its functions receive them (API Gateway Developer Guide,
 * "Control access to WebSocket APIs with AWS Lambda REQUEST authorizers", "WebSocket mapping
 * template reference"; events of {@code $connect} and {@code $disconnect} as observed on AWS).
 */
final class WebSocketEvents {
  private final WebSocketApiSpec spec;
  private final Environment environment;

  WebSocketEvents(WebSocketApiSpec spec, Environment environment) {
    this.spec = spec;
    this.environment = environment;
  }

  /** The headers and the query of a handshake, as members of an event. */
  static ObjectNode handshake(HttpServerExchange exchange) {
    ObjectNode handshake = Json.object();
    putBoth(handshake, "headers", "multiValueHeaders", Requests.headers(exchange));
    if (!exchange.getQueryParameters().isEmpty()) {
      putBoth(
          handshake,
          "queryStringParameters",
          "multiValueQueryStringParameters",
          Requests.query(exchange));
    }
    return handshake;
  }

  ObjectNode authorizer(ObjectNode handshake, String methodArn, Connection connection) {
    ObjectNode event = Json.object();
    event.put("type", "REQUEST").put("methodArn", methodArn).setAll(handshake);
    event.putObject("stageVariables");
    event.set("requestContext", context("$connect", "CONNECT", connection));
    return event;
  }

  ObjectNode connect(ObjectNode handshake, Connection connection) {
    ObjectNode event = handshake.deepCopy();
    event.set("requestContext", context("$connect", "CONNECT", connection));
    return event.put("isBase64Encoded", false);
  }

  ObjectNode message(Connection connection, String routeKey, String message) {
    ObjectNode event = Json.object();
    event.set(
        "requestContext",
        context(routeKey, "MESSAGE", connection).put("messageId", Requests.newId()));
    return event.put("body", message).put("isBase64Encoded", false);
  }

  ObjectNode disconnect(Connection connection, CloseMessage end) {
    Map<String, List<String>> headers =
        Map.of(
            "Host", List.of(Requests.domainName(environment, spec.apiId())),
            "x-api-key", List.of(""),
            "X-Forwarded-For", List.of(""),
            "x-restapi", List.of(""));
    ObjectNode event = Json.object();
    putBoth(event, "headers", "multiValueHeaders", headers);
    event.set(
        "requestContext",
        context("$disconnect", "DISCONNECT", connection)
            .put("disconnectStatusCode", end.getCode())
            .put("disconnectReason", end.getReason()));
    return event.put("isBase64Encoded", false);
  }

  private static void putBoth(
      ObjectNode event, String single, String multiple, Map<String, List<String>> values) {
    ObjectNode last = event.putObject(single);
    values.forEach((name, all) -> last.put(name, all.get(all.size() - 1)));
    event.set(multiple, Json.MAPPER.valueToTree(values));
  }

  private ObjectNode context(String routeKey, String eventType, Connection connection) {
    Instant now = environment.clock().instant();
    String requestId = Requests.newId();
    ObjectNode context = Json.object();
    context.put("routeKey", routeKey);
    if (!connection.authorizer().isEmpty()) {
      context.set("authorizer", connection.authorizer());
    }
    context
        .put("eventType", eventType)
        .put("extendedRequestId", requestId)
        .put("requestTime", Requests.time(now))
        .put("messageDirection", "IN")
        .put("stage", spec.stage())
        .put("connectedAt", connection.connectedAt.toEpochMilli())
        .put("requestTimeEpoch", now.toEpochMilli());
    context.set("identity", connection.identity());
    return context
        .put("requestId", requestId)
        .put("domainName", Requests.domainName(environment, spec.apiId()))
        .put("connectionId", connection.id)
        .put("apiId", spec.apiId());
  }
}
