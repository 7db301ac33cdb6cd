package dev.tollgate.handlers.connect;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayCustomAuthorizerEvent;
import com.amazonaws.services.lambda.runtime.events.IamPolicyResponse;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.LogText;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tracing.Segment;
import dev.tollgate.core.tracing.Tracing;
import dev.tollgate.handlers.InvocationTrace;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.handlers.Wiring;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Decides whether a WebSocket handshake is admitted, and leases a token for it.
 *
 * <p>An authorizer can only respond with 401 or 403. So an unknown or suspended tenant is denied
 * here. A handshake that exceeds a limit passes on to {@code $connect} with the refusal in the
 * context, and {@code $connect} responds with 429. A handshake without the valid token that an
 * attached API may require is denied before anything is read or claimed.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api-lambda-auth.html">Control
 *     access to WebSocket APIs with AWS Lambda REQUEST authorizers</a>
 */
public final class ConnectAuthorizer
    implements RequestHandler<APIGatewayCustomAuthorizerEvent, IamPolicyResponse> {
  /** The principal of a handshake whose parameters name no valid tenant. */
  private static final String NOBODY = "nobody";

  private final TenantSource source;
  private final Admission admission;
  private final Metrics metrics;
  private final Tracing tracing;

  /** The function as Lambda creates it. */
  public ConnectAuthorizer() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public ConnectAuthorizer(Map<String, String> environment, InstantSource clock) {
    this(TenantSource.of(environment, clock), new Wiring(environment, clock), new Metrics(clock));
  }

  private ConnectAuthorizer(TenantSource source, Wiring wiring, Metrics metrics) {
    this(source, wiring.admission(), metrics, wiring.tracing());
  }

  ConnectAuthorizer(Admission admission, Metrics metrics, Tracing tracing) {
    this(new TenantSource.OfSession(), admission, metrics, tracing);
  }

  ConnectAuthorizer(TenantSource source, Admission admission, Metrics metrics, Tracing tracing) {
    this.source = source;
    this.admission = admission;
    this.metrics = metrics;
    this.tracing = tracing;
  }

  @Override
  public IamPolicyResponse handleRequest(APIGatewayCustomAuthorizerEvent event, Context context) {
    try (Segment segment = tracing.begin("Authorizer", () -> InvocationTrace.header(context))) {
      return authorize(event, context, segment);
    }
  }

  private IamPolicyResponse authorize(
      APIGatewayCustomAuthorizerEvent event, Context context, Segment segment) {
    TenantId tenant;
    SessionId session;
    Optional<String> subject;
    try {
      TenantSource.Caller caller = source.caller(event);
      tenant = caller.tenant();
      session = caller.session();
      subject = caller.subject();
    } catch (InvalidToken invalid) {
      // For a 401 the function would have to fail: strangers could then raise the alarm of errors.
      context.getLogger().log("denied: " + LogText.lines(invalid.reason()));
      segment.outcome("INVALID", Refusal.UNKNOWN.status());
      return denied(event, NOBODY);
    } catch (InvalidValue invalid) {
      context.getLogger().log("denied: " + invalid.logged());
      segment.outcome("INVALID", Refusal.UNKNOWN.status());
      return denied(event, NOBODY);
    }
    segment.annotate(AuthorizerContext.TENANT, tenant.value());
    AdmissionDecision decision = admission.decide(tenant, session);
    if (decision instanceof AdmissionDecision.Ticketed ticketed) {
      ticketed.slot().ifPresent(slot -> metrics.slotUsed(context.getLogger(), tenant, slot));
      ticketed
          .failure()
          .map(failure -> "tenant " + tenant + ": admitted without a token: " + failure)
          .ifPresent(line -> context.getLogger().log(LogText.lines(line)));
      segment.outcome("ALLOWED", 200);
      return allowed(
          event,
          tenant,
          AuthorizerContext.withSubject(AuthorizerContext.of(ticketed.ticket()), subject),
          segment);
    }
    AdmissionDecision.Refused refused = (AdmissionDecision.Refused) decision;
    Refusal refusal = refused.refusal();
    segment.outcome(refusal.name(), refusal.status());
    if (refused.placeTaken()) {
      refused.retryAt().ifPresent(slot -> metrics.placeTaken(context.getLogger(), tenant, slot));
    }
    metrics.connection(
        context.getLogger(), tenant, refusal.name(), Optional.empty(), refused.failure());
    return refusal == Refusal.UNKNOWN || refusal == Refusal.SUSPENDED
        ? denied(event, tenant.value())
        : allowed(event, tenant, AuthorizerContext.of(tenant, session, refusal), segment);
  }

  private static IamPolicyResponse allowed(
      APIGatewayCustomAuthorizerEvent event,
      TenantId tenant,
      Map<String, Object> context,
      Segment segment) {
    IamPolicyResponse response =
        policy(tenant.value(), IamPolicyResponse.allowStatement(event.getMethodArn()));
    response.setContext(AuthorizerContext.withTrace(context, segment.header()));
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
