package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.util.List;
import java.util.Locale;
import software.amazon.awscdk.aws_apigatewayv2_authorizers.HttpIamAuthorizer;
import software.amazon.awscdk.aws_apigatewayv2_authorizers.HttpJwtAuthorizer;
import software.amazon.awscdk.aws_apigatewayv2_integrations.HttpLambdaIntegration;
import software.amazon.awscdk.services.apigatewayv2.AddRoutesOptions;
import software.amazon.awscdk.services.apigatewayv2.CorsHttpMethod;
import software.amazon.awscdk.services.apigatewayv2.CorsPreflightOptions;
import software.amazon.awscdk.services.apigatewayv2.HttpApi;
import software.amazon.awscdk.services.apigatewayv2.HttpMethod;
import software.amazon.awscdk.services.apigatewayv2.HttpNoneAuthorizer;
import software.amazon.awscdk.services.apigatewayv2.HttpStage;
import software.amazon.awscdk.services.apigatewayv2.IHttpRouteAuthorizer;
import software.amazon.awscdk.services.apigatewayv2.ThrottleSettings;
import software.constructs.Construct;

/** The session API, which clients call, and the control plane, which the platform team calls. */
final class HttpApis extends Construct {
  private final TollgateProps props;
  private final HttpApi session;
  private final HttpApi control;

  HttpApis(
      Construct scope,
      TollgateProps props,
      TenantFunction sessionApi,
      TenantFunction controlPlane) {
    super(scope, "Http");
    this.props = props;

    session =
        api(
            "Session",
            HttpApi.Builder.create(this, "Session")
                .corsPreflight(
                    CorsPreflightOptions.builder()
                        .allowOrigins(List.of("*"))
                        .allowMethods(
                            List.of(CorsHttpMethod.GET, CorsHttpMethod.PUT, CorsHttpMethod.DELETE))
                        // What a signed request or one with a token carries, where sessions are not
                        // open to all.
                        .allowHeaders(
                            List.of(
                                "authorization",
                                "content-type",
                                "x-amz-date",
                                "x-amz-security-token"))
                        .exposeHeaders(List.of("retry-after", "ratelimit", "ratelimit-policy"))
                        .build()));
    Routes sessions =
        new Routes(session, integration(sessionApi), authorizer(props.sessionAccess()));
    sessions.add("/session", HttpMethod.PUT, HttpMethod.GET, HttpMethod.DELETE);
    if (props.listTenants()) {
      sessions.add("/tenant", HttpMethod.GET);
    }

    control = api("Control", HttpApi.Builder.create(this, "Control"));
    Routes operations = new Routes(control, integration(controlPlane), new HttpIamAuthorizer());
    operations.add("/tenants", HttpMethod.POST, HttpMethod.GET);
    operations.add("/tenants/{tenantId}", HttpMethod.GET, HttpMethod.PATCH, HttpMethod.DELETE);
    operations.add("/tiers", HttpMethod.GET);
    operations.add("/tiers/{tier}", HttpMethod.GET, HttpMethod.PUT, HttpMethod.DELETE);
    operations.add("/activity", HttpMethod.GET);
    operations.add("/drift", HttpMethod.GET);
    operations.add("/repairs", HttpMethod.POST);
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

  /** Where the session API answers, without a path. */
  String sessionUrl() {
    return session.getApiEndpoint();
  }

  /** Where the control plane answers, without a path. */
  String controlUrl() {
    return control.getApiEndpoint();
  }

  private HttpApi api(String id, HttpApi.Builder settings) {
    HttpApi api =
        settings
            .apiName(props.prefix() + id.toLowerCase(Locale.ROOT))
            .createDefaultStage(false)
            .build();
    HttpStage.Builder.create(api, "Stage")
        .httpApi(api)
        .autoDeploy(true)
        .accessLogSettings(AccessLog.ofHttpApi(api, props))
        .throttle(
            ThrottleSettings.builder()
                .rateLimit(props.requestsPerSecond())
                .burstLimit(props.requestBurst())
                .build())
        .build();
    return api;
  }

  private static HttpLambdaIntegration integration(TenantFunction function) {
    return HttpLambdaIntegration.Builder.create("Function", function.live())
        // One permission for the API, not one for each of its routes.
        .scopePermissionToRoute(false)
        .build();
  }

  private record Routes(
      HttpApi api, HttpLambdaIntegration integration, IHttpRouteAuthorizer authorizer) {
    void add(String path, HttpMethod... methods) {
      api.addRoutes(
              AddRoutesOptions.builder()
                  .path(path)
                  .methods(List.of(methods))
                  .integration(integration)
                  .authorizer(authorizer)
                  .build())
          .forEach(
              route -> {
                if (authorizer instanceof HttpNoneAuthorizer) {
                  NagSuppressions.addResourceSuppressions(
                      route,
                      List.of(
                          NagPackSuppression.builder()
                              .id("AwsSolutions-APIG4")
                              .reason(
                                  "The deployer left sessions open: whoever knows a tenant's id may "
                                      + "create a session of it. What that can cost is bounded by "
                                      + "the tenant's own limit and by the stage's throttle, and a "
                                      + "session can be read or ended only by who knows its id, a "
                                      + "random number of 128 bits.")
                              .build()));
                }
              });
    }
  }
}
