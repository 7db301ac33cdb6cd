package dev.tollgate.handlers.connect;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketResponse;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.handlers.Wiring;
import java.time.InstantSource;
import java.util.Map;

/**
 * The function of the {@code $disconnect} route: removes the connection from its session and from
 * the tenant's count. API Gateway delivers this event at most once and ignores the response.
 */
public final class Disconnect
    implements RequestHandler<APIGatewayV2WebSocketEvent, APIGatewayV2WebSocketResponse> {
  private final Disconnection disconnection;

  /** The function as Lambda creates it. */
  public Disconnect() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public Disconnect(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock).disconnection());
  }

  Disconnect(Disconnection disconnection) {
    this.disconnection = disconnection;
  }

  @Override
  public APIGatewayV2WebSocketResponse handleRequest(
      APIGatewayV2WebSocketEvent event, Context context) {
    Map<String, Object> authorizer = WebSocketEvents.authorizer(event);
    disconnection.remove(
        AuthorizerContext.tenant(authorizer),
        AuthorizerContext.session(authorizer),
        event.getRequestContext().getConnectionId());
    return WebSocketEvents.status(200);
  }
}
