package dev.tollgate.handlers.connect;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketResponse;
import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.connect.Ticket;
import dev.tollgate.core.tracing.Segment;
import dev.tollgate.core.tracing.Tracing;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.handlers.Wiring;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;

/**
 * The function of the {@code $connect} route: registers the connection and spends its token. If the
 * authorizer found a reason to refuse, the handshake fails with the status of that reason.
 */
public final class Connect
    implements RequestHandler<APIGatewayV2WebSocketEvent, APIGatewayV2WebSocketResponse> {
  private final Registration registration;
  private final Metrics metrics;
  private final Tracing tracing;

  /** The function as Lambda creates it. */
  public Connect() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public Connect(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock), new Metrics(clock));
  }

  private Connect(Wiring wiring, Metrics metrics) {
    this(wiring.registration(), metrics, wiring.tracing());
  }

  Connect(Registration registration, Metrics metrics, Tracing tracing) {
    this.registration = registration;
    this.metrics = metrics;
    this.tracing = tracing;
  }

  @Override
  public APIGatewayV2WebSocketResponse handleRequest(
      APIGatewayV2WebSocketEvent event, Context context) {
    Map<String, Object> authorizer = WebSocketEvents.authorizer(event);
    try (Segment segment = tracing.begin("Connect", () -> AuthorizerContext.trace(authorizer))) {
      segment.annotate(WebSocketEvents.CONNECTION, event.getRequestContext().getConnectionId());
      return connect(event, authorizer, context, segment);
    }
  }

  private APIGatewayV2WebSocketResponse connect(
      APIGatewayV2WebSocketEvent event,
      Map<String, Object> authorizer,
      Context context,
      Segment segment) {
    AdmissionDecision decision = AuthorizerContext.decision(authorizer);
    segment.annotate(AuthorizerContext.TENANT, AuthorizerContext.tenant(authorizer).value());
    if (decision instanceof AdmissionDecision.Refused refused) {
      segment.outcome(refused.refusal().name(), refused.refusal().status());
      return WebSocketEvents.status(refused.refusal().status());
    }
    String connectionId = event.getRequestContext().getConnectionId();
    Ticket ticket = ((AdmissionDecision.Ticketed) decision).ticket();
    Registration.Result outcome = registration.register(ticket, connectionId);
    String name = outcomeName(ticket, outcome);
    metrics.connection(
        context.getLogger(),
        AuthorizerContext.tenant(authorizer),
        name,
        Optional.of(connectionId),
        Optional.empty());
    if (outcome instanceof Registration.NotRegistered refused) {
      segment.outcome(name, refused.refusal().status());
      return WebSocketEvents.status(refused.refusal().status());
    }
    segment.outcome(name, 200);
    return accepted(event);
  }

  /** The outcome of a registration, for the metric. */
  static String outcomeName(Ticket ticket, Registration.Result outcome) {
    if (outcome instanceof Registration.NotRegistered refused) {
      return refused.refusal().name();
    }
    Registration.Registered admitted = (Registration.Registered) outcome;
    if (admitted.wouldRefuse().isPresent()) {
      return "WOULD_REFUSE";
    }
    return admitted.tokenSpent() || !ticket.bounds().needToken()
        ? "ADMITTED"
        : "ADMITTED_WITHOUT_TOKEN";
  }

  /** Accepts the handshake with the subprotocol to select, if the client offers any. */
  private static APIGatewayV2WebSocketResponse accepted(APIGatewayV2WebSocketEvent event) {
    APIGatewayV2WebSocketResponse response = WebSocketEvents.status(200);
    Subprotocols.header(
            Optional.ofNullable(event.getHeaders()).orElse(Map.of()), Subprotocols.HEADER)
        .flatMap(Subprotocols::selected)
        .ifPresent(selected -> response.setHeaders(Map.of(Subprotocols.HEADER, selected)));
    return response;
  }
}
