package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketResponse;
import java.util.Map;
import java.util.Optional;

/** Reads and answers the events of a WebSocket API's routes. */
final class WebSocketEvents {
  private WebSocketEvents() {}

  /** What the authorizer said when the connection was made. */
  static Map<String, Object> authorizer(APIGatewayV2WebSocketEvent event) {
    return Optional.ofNullable(event.getRequestContext().getAuthorizer()).orElse(Map.of());
  }

  /** An answer that is nothing but a status. */
  static APIGatewayV2WebSocketResponse status(int status) {
    APIGatewayV2WebSocketResponse response = new APIGatewayV2WebSocketResponse();
    response.setStatusCode(status);
    return response;
  }
}
