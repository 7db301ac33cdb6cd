package dev.tollgate.infra;

import java.util.List;
import software.amazon.awscdk.aws_apigatewayv2_authorizers.HttpIamAuthorizer;
import software.amazon.awscdk.aws_apigatewayv2_authorizers.HttpJwtAuthorizer;
import software.amazon.awscdk.services.apigatewayv2.CorsHttpMethod;
import software.amazon.awscdk.services.apigatewayv2.CorsPreflightOptions;
import software.amazon.awscdk.services.apigatewayv2.HttpApi;
import software.amazon.awscdk.services.apigatewayv2.HttpMethod;
import software.amazon.awscdk.services.apigatewayv2.HttpNoneAuthorizer;
import software.amazon.awscdk.services.apigatewayv2.IHttpRouteAuthorizer;
import software.constructs.Construct;

/** The session API, for clients, and the control plane, for the platform team. */
final class HttpApis extends Construct {
  private final HttpApi session;
  private final HttpApi control;

  HttpApis(
      Construct scope,
      TollgateProps props,
      FunctionWithRoles sessionApi,
      FunctionWithRoles controlPlane) {
    super(scope, "Http");

    session =
        Routes.api(
            this,
            "Session",
            props,
            HttpApi.Builder.create(this, "Session")
                .corsPreflight(
                    CorsPreflightOptions.builder()
                        .allowOrigins(List.of("*"))
                        .allowMethods(
                            List.of(CorsHttpMethod.GET, CorsHttpMethod.PUT, CorsHttpMethod.DELETE))
                        // The headers of signed requests and of requests with a token.
                        .allowHeaders(
                            List.of(
                                "authorization",
                                "content-type",
                                "x-amz-date",
                                "x-amz-security-token"))
                        .exposeHeaders(
                            List.of(
                                "retry-after",
                                "ratelimit",
                                "ratelimit-policy",
                                "x-ratelimit-limit",
                                "x-ratelimit-remaining",
                                "x-ratelimit-reset"))
                        .build()));
    Routes sessions =
        new Routes(
                session, Routes.integration(sessionApi.live()), authorizer(props.sessionAccess()))
            .unauthorized(
                "The deployer chose open sessions: every caller who knows a tenant's id may create "
                    + "a session of the tenant. The tenant's rate limit and the throttle of the "
                    + "stage bound the cost. Only callers who know a session's id, a random number "
                    + "of 128 bits, can read or end the session.");
    sessions.add("/session", HttpMethod.PUT, HttpMethod.GET, HttpMethod.DELETE);
    if (props.listTenants()) {
      sessions.add("/tenant", HttpMethod.GET);
    }

    control = Routes.api(this, "Control", props, HttpApi.Builder.create(this, "Control"));
    new Routes(control, Routes.integration(controlPlane.live()), new HttpIamAuthorizer())
        .controlPlane();
  }

  private static IHttpRouteAuthorizer authorizer(SessionAccess access) {
    if (access instanceof SessionAccess.Jwt jwt) {
      return HttpJwtAuthorizer.Builder.create("Tokens", jwt.issuer())
          .jwtAudience(jwt.audiences())
          .build();
    }
    return access instanceof SessionAccess.Open
        ? new HttpNoneAuthorizer()
        : new HttpIamAuthorizer();
  }

  /** The URL of the session API, without a path. */
  String sessionUrl() {
    return session.getApiEndpoint();
  }

  /** The URL of the control plane, without a path. */
  String controlUrl() {
    return control.getApiEndpoint();
  }

  /** The ARN pattern of requests that push to clients of any tenant. */
  String pushArn() {
    return control.arnForExecuteApi("POST", "/tenants/*/push", "$default");
  }
}
