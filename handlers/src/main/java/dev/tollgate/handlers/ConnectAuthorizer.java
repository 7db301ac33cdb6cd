package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayCustomAuthorizerEvent;
import com.amazonaws.services.lambda.runtime.events.IamPolicyResponse;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.session.SessionId;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Decides on a WebSocket handshake, and holds a token for it.
 *
 * <p>An authorizer can only answer 401 or 403. So whoever has no business here is denied, and
 * whoever is over a limit is let through to {@code $connect} with the refusal in the context, where
 * it becomes 429.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api-lambda-auth.html">Control
 *     access to WebSocket APIs with AWS Lambda REQUEST authorizers</a>
 */
public final class ConnectAuthorizer
    implements RequestHandler<APIGatewayCustomAuthorizerEvent, IamPolicyResponse> {
  private static final String NOBODY = "nobody";

  private final Admission admission;
  private final Telemetry telemetry;

  /** The function as Lambda makes it. */
  public ConnectAuthorizer() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with this environment and clock. */
  public ConnectAuthorizer(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock).admission(), new Telemetry(clock));
  }

  ConnectAuthorizer(Admission admission, Telemetry telemetry) {
    this.admission = admission;
    this.telemetry = telemetry;
  }

  @Override
  public IamPolicyResponse handleRequest(APIGatewayCustomAuthorizerEvent event, Context context) {
    TenantId tenant;
    SessionId session;
    try {
      tenant = new TenantId(parameter(event, TicketContext.TENANT));
      session = new SessionId(parameter(event, TicketContext.SESSION));
    } catch (InvalidValue invalid) {
      context.getLogger().log("denied: " + invalid.logged());
      return denied(event, NOBODY);
    }
    AdmissionDecision verdict = admission.decide(tenant, session);
    if (verdict instanceof AdmissionDecision.Ticketed ticketed) {
      return allowed(event, tenant, TicketContext.of(ticketed.ticket()));
    }
    Refusal refusal = ((AdmissionDecision.Refused) verdict).refusal();
    telemetry.connection(context.getLogger(), tenant, refusal.name());
    return refusal == Refusal.UNKNOWN || refusal == Refusal.SUSPENDED
        ? denied(event, tenant.value())
        : allowed(event, tenant, TicketContext.of(tenant, session, refusal));
  }

  private static String parameter(APIGatewayCustomAuthorizerEvent event, String name) {
    return Optional.ofNullable(event.getQueryStringParameters())
        .map(parameters -> parameters.get(name))
        .orElse("");
  }

  private static IamPolicyResponse allowed(
      APIGatewayCustomAuthorizerEvent event, TenantId tenant, Map<String, Object> context) {
    IamPolicyResponse response =
        policy(tenant.value(), IamPolicyResponse.allowStatement(event.getMethodArn()));
    response.setContext(context);
    return response;
  }

  private static IamPolicyResponse denied(APIGatewayCustomAuthorizerEvent event, String principal) {
    return policy(principal, IamPolicyResponse.denyStatement(event.getMethodArn()));
  }

  private static IamPolicyResponse policy(String principal, IamPolicyResponse.Statement statement) {
    return IamPolicyResponse.builder()
        .withPrincipalId(principal)
        .withPolicyDocument(
            IamPolicyResponse.PolicyDocument.builder()
                .withVersion(IamPolicyResponse.VERSION_2012_10_17)
                .withStatement(List.of(statement))
                .build())
        .build();
  }
}
