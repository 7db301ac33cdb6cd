package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketResponse;
import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.connect.Registration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;

/**
 * The {@code $connect} route: registers the connection and spends its token, or refuses the
 * handshake with the status of what the authorizer found.
 */
public final class Connect
    implements RequestHandler<APIGatewayV2WebSocketEvent, APIGatewayV2WebSocketResponse> {
  private final Registration registration;
  private final Telemetry telemetry;

  /** The function as Lambda makes it. */
  public Connect() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with this environment and clock. */
  public Connect(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock).registration(), new Telemetry(clock));
  }

  Connect(Registration registration, Telemetry telemetry) {
    this.registration = registration;
    this.telemetry = telemetry;
  }

  @Override
  public APIGatewayV2WebSocketResponse handleRequest(
      APIGatewayV2WebSocketEvent event, Context context) {
    Map<String, Object> authorizer = WebSocketEvents.authorizer(event);
    AdmissionDecision verdict = TicketContext.verdict(authorizer);
    if (verdict instanceof AdmissionDecision.Refused refused) {
      return WebSocketEvents.status(refused.refusal().status());
    }
    Registration.Result outcome =
        registration.register(
            ((AdmissionDecision.Ticketed) verdict).ticket(),
            event.getRequestContext().getConnectionId());
    telemetry.connection(
        context.getLogger(), TicketContext.tenant(authorizer), outcomeName(outcome));
    if (outcome instanceof Registration.NotRegistered refused) {
      return WebSocketEvents.status(refused.refusal().status());
    }
    return accepted(event);
  }

  private static String outcomeName(Registration.Result outcome) {
    if (outcome instanceof Registration.NotRegistered refused) {
      return refused.refusal().name();
    }
    return ((Registration.Registered) outcome).tokenSpent() ? "ADMITTED" : "ADMITTED_WITHOUT_TOKEN";
  }

  /**
   * Accepts, with the first subprotocol that the client offers, if it offers any: a browser gives
   * up unless one comes back (RFC 6455, section 4.2.2).
   */
  private static APIGatewayV2WebSocketResponse accepted(APIGatewayV2WebSocketEvent event) {
    APIGatewayV2WebSocketResponse response = WebSocketEvents.status(200);
    Optional.ofNullable(event.getHeaders()).orElse(Map.of()).entrySet().stream()
        .filter(header -> header.getKey().equalsIgnoreCase("Sec-WebSocket-Protocol"))
        .findFirst()
        .ifPresent(
            header ->
                response.setHeaders(
                    Map.of("Sec-WebSocket-Protocol", header.getValue().split(",", 2)[0].strip())));
    return response;
  }
}
