package dev.tollgate.handlers.connect;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketEvent;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * An event of an attached API's route, as its text: the application's function gets it unchanged.
 *
 * @param json the event as API Gateway sent it, with the context that the authorizer returned
 * @param connectionId the connection of the event
 * @param authorizer the context that the authorizer returned for the connection's handshake
 * @param offered the subprotocols that the handshake offers; empty if there are none
 */
record ForwardedEvent(
    String json, String connectionId, Map<String, Object> authorizer, String offered) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** One object without trailing text, of which all readers read the same. */
  private static final ObjectReader STRICT =
      JSON.reader()
          .with(
              DeserializationFeature.FAIL_ON_TRAILING_TOKENS,
              DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY);

  private static final Pattern STATUS = Pattern.compile("[1-5][0-9]{2}");
  private static final TypeReference<Map<String, Object>> VALUES = new TypeReference<>() {};

  /**
   * Reads an event.
   *
   * @throws IOException if it is not JSON
   */
  static ForwardedEvent read(InputStream input) throws IOException {
    String json = new String(input.readAllBytes(), StandardCharsets.UTF_8);
    JsonNode event = JSON.readTree(json);
    JsonNode context = event.path("requestContext");
    return new ForwardedEvent(
        json,
        context.path("connectionId").asText(),
        context.has("authorizer")
            ? JSON.convertValue(context.path("authorizer"), VALUES)
            : Map.of(),
        header(event.path("headers")).map(JsonNode::asText).orElse(""));
  }

  private static Optional<JsonNode> header(JsonNode headers) {
    return headers.properties().stream()
        .filter(header -> header.getKey().equalsIgnoreCase(Subprotocols.HEADER))
        .map(Map.Entry::getValue)
        .findFirst();
  }

  /**
   * The application's answer, with a selected subprotocol if the handshake carries a token in one
   * and the answer selects none, or that with the token. Any other answer is unchanged.
   */
  String answered(String answer) throws JsonProcessingException {
    if (Subprotocols.tokens(offered).isEmpty()
        || !(JSON.readTree(answer) instanceof ObjectNode changed)) {
      return answer;
    }
    ObjectNode headers =
        changed.path("headers") instanceof ObjectNode present
            ? present
            : changed.putObject("headers");
    if (header(headers)
        .filter(selected -> Subprotocols.tokens(selected.asText()).isEmpty())
        .isPresent()) {
      return answer;
    }
    headers.properties().removeIf(each -> each.getKey().equalsIgnoreCase(Subprotocols.HEADER));
    Subprotocols.selected(offered).ifPresent(each -> headers.put(Subprotocols.HEADER, each));
    return changed.toString();
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
   * The status in a function's answer: a whole number, or a string of three digits; empty if the
   * answer has none, or is not one JSON object.
   */
  static OptionalInt status(String answer) {
    try {
      JsonNode status = STRICT.readTree(answer).path("statusCode");
      return (status.isIntegralNumber() || status.isTextual())
              && STATUS.matcher(status.asText()).matches()
          ? OptionalInt.of(Integer.parseInt(status.asText()))
          : OptionalInt.empty();
    } catch (JsonProcessingException malformed) {
      return OptionalInt.empty();
    }
  }

  /** An answer without headers and body. */
  static String answer(int status) {
    return JSON.createObjectNode().put("statusCode", status).toString();
  }
}
