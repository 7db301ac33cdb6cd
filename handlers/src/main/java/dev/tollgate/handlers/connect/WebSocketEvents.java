package dev.tollgate.handlers.connect;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketResponse;
import java.util.Map;
import java.util.Optional;

/** Reads events of the WebSocket API's routes and builds their responses. */
final class WebSocketEvents {
  /** The annotation of traces with the id of a connection. */
  static final String CONNECTION = "connectionId";

  private WebSocketEvents() {}

  /** The context that the authorizer returned for this connection's handshake. */
  static Map<String, Object> authorizer(APIGatewayV2WebSocketEvent event) {
    return Optional.ofNullable(event.getRequestContext().getAuthorizer()).orElse(Map.of());
  }

  /** A response without headers and body. */
  static APIGatewayV2WebSocketResponse status(int status) {
    APIGatewayV2WebSocketResponse response = new APIGatewayV2WebSocketResponse();
    response.setStatusCode(status);
    return response;
  }
}
