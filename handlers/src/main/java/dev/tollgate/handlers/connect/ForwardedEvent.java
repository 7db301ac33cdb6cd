package dev.tollgate.handlers.connect;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketEvent;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.OptionalInt;

/**
 * An event of an attached API's route, as its text: the application's function gets it unchanged.
 *
 * @param json the event as API Gateway sent it, with the context that the authorizer returned
 * @param connectionId the connection of the event
 * @param authorizer the context that the authorizer returned for the connection's handshake
 */
record ForwardedEvent(String json, String connectionId, Map<String, Object> authorizer) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final TypeReference<Map<String, Object>> VALUES = new TypeReference<>() {};

  /**
   * Reads an event.
   *
   * @throws IOException if it is not JSON
   */
  static ForwardedEvent read(InputStream event) throws IOException {
    String json = new String(event.readAllBytes(), StandardCharsets.UTF_8);
    JsonNode context = JSON.readTree(json).path("requestContext");
    return new ForwardedEvent(
        json,
        context.path("connectionId").asText(),
        context.has("authorizer")
            ? JSON.convertValue(context.path("authorizer"), VALUES)
            : Map.of());
  }

  /** What Tollgate's own function reads of the event. */
  APIGatewayV2WebSocketEvent parsed() {
    APIGatewayV2WebSocketEvent.RequestContext context =
        new APIGatewayV2WebSocketEvent.RequestContext();
    context.setConnectionId(connectionId);
    context.setAuthorizer(authorizer);
    APIGatewayV2WebSocketEvent event = new APIGatewayV2WebSocketEvent();
    event.setRequestContext(context);
    return event;
  }

  /**
   * The status in a function's answer, which is a number or the text of one; empty if API Gateway
   * could not read it either.
   */
  static OptionalInt status(String answer) {
    try {
      int status = JSON.readTree(answer).path("statusCode").asInt(-1);
      return status >= 100 && status <= 599 ? OptionalInt.of(status) : OptionalInt.empty();
    } catch (JsonProcessingException malformed) {
      return OptionalInt.empty();
    }
  }

  /** An answer without headers and body. */
  static String answer(int status) {
    return JSON.createObjectNode().put("statusCode", status).toString();
  }
}
