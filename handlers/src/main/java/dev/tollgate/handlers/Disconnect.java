package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketResponse;
import dev.tollgate.core.connect.Disconnection;
import java.time.InstantSource;
import java.util.Map;

/**
 * The {@code $disconnect} route: takes the connection off the books. API Gateway delivers this
 * event at best once, and does not read the answer.
 */
public final class Disconnect
    implements RequestHandler<APIGatewayV2WebSocketEvent, APIGatewayV2WebSocketResponse> {
  private final Disconnection departure;

  /** The function as Lambda makes it. */
  public Disconnect() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with this environment and clock. */
  public Disconnect(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock).departure());
  }

  Disconnect(Disconnection departure) {
    this.departure = departure;
  }

  @Override
  public APIGatewayV2WebSocketResponse handleRequest(
      APIGatewayV2WebSocketEvent event, Context context) {
    Map<String, Object> authorizer = WebSocketEvents.authorizer(event);
    departure.remove(
        TicketContext.tenant(authorizer),
        TicketContext.session(authorizer),
        event.getRequestContext().getConnectionId());
    return WebSocketEvents.status(200);
  }
}
