package dev.tollgate.handlers.connect;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketResponse;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.tracing.Segment;
import dev.tollgate.core.tracing.Tracing;
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
  private final Tracing tracing;

  /** The function as Lambda creates it. */
  public Disconnect() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public Disconnect(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock));
  }

  private Disconnect(Wiring wiring) {
    this(wiring.disconnection(), wiring.tracing());
  }

  Disconnect(Disconnection disconnection, Tracing tracing) {
    this.disconnection = disconnection;
    this.tracing = tracing;
  }

  @Override
  public APIGatewayV2WebSocketResponse handleRequest(
      APIGatewayV2WebSocketEvent event, Context context) {
    Map<String, Object> authorizer = WebSocketEvents.authorizer(event);
    TenantId tenant = AuthorizerContext.tenant(authorizer);
    String connectionId = event.getRequestContext().getConnectionId();
    try (Segment segment = tracing.begin("Disconnect", () -> AuthorizerContext.trace(authorizer))) {
      segment.annotate(WebSocketEvents.CONNECTION, connectionId);
      segment.annotate(AuthorizerContext.TENANT, tenant.value());
      disconnection.remove(tenant, AuthorizerContext.session(authorizer), connectionId);
      segment.outcome("CLOSED", 200);
    }
    return WebSocketEvents.status(200);
  }
}
