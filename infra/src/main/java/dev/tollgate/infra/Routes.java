package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.util.List;
import java.util.Locale;
import software.amazon.awscdk.aws_apigatewayv2_integrations.HttpLambdaIntegration;
import software.amazon.awscdk.services.apigatewayv2.AddRoutesOptions;
import software.amazon.awscdk.services.apigatewayv2.HttpApi;
import software.amazon.awscdk.services.apigatewayv2.HttpMethod;
import software.amazon.awscdk.services.apigatewayv2.HttpNoneAuthorizer;
import software.amazon.awscdk.services.apigatewayv2.HttpStage;
import software.amazon.awscdk.services.apigatewayv2.IHttpRouteAuthorizer;
import software.amazon.awscdk.services.apigatewayv2.ThrottleSettings;
import software.amazon.awscdk.services.lambda.Alias;
import software.constructs.Construct;

/**
 * Routes of an HTTP API with one function and one authorizer.
 *
 * @param reasonIfOpen why the routes need no authorizer, for cdk-nag; unused if there is one
 */
record Routes(
    HttpApi api,
    HttpLambdaIntegration integration,
    IHttpRouteAuthorizer authorizer,
    String reasonIfOpen) {

  Routes(HttpApi api, HttpLambdaIntegration integration, IHttpRouteAuthorizer authorizer) {
    this(api, integration, authorizer, "");
  }

  /** A copy with the reason why the routes need no authorizer. */
  Routes unauthorized(String reason) {
    return new Routes(api, integration, authorizer, reason);
  }

  /** An API with its stage, throttling and access log. */
  static HttpApi api(Construct scope, String id, TollgateProps props, HttpApi.Builder settings) {
    String name = props.prefix() + id.toLowerCase(Locale.ROOT);
    HttpApi api = settings.apiName(name).createDefaultStage(false).build();
    HttpStage.Builder.create(api, "Stage")
        .httpApi(api)
        .autoDeploy(true)
        .accessLogSettings(AccessLog.ofHttpApi(api, name, props))
        .throttle(
            ThrottleSettings.builder()
                .rateLimit(props.requestsPerSecond())
                .burstLimit(props.requestBurst())
                .build())
        .build();
    return api;
  }

  static HttpLambdaIntegration integration(Alias function) {
    return HttpLambdaIntegration.Builder.create("Function", function)
        // One permission for the API instead of one per route.
        .scopePermissionToRoute(false)
        .build();
  }

  /** Adds all routes of the control plane. */
  void controlPlane() {
    add("/tenants", HttpMethod.POST, HttpMethod.GET);
    add("/tenants/{tenantId}", HttpMethod.GET, HttpMethod.PATCH, HttpMethod.DELETE);
    add("/tenants/{tenantId}/line", HttpMethod.DELETE);
    add("/tenants/{tenantId}/schedules", HttpMethod.POST);
    add("/tenants/{tenantId}/schedules/{schedule}", HttpMethod.DELETE);
    add("/tiers/{tier}/schedules", HttpMethod.POST);
    add("/tiers/{tier}/schedules/{schedule}", HttpMethod.DELETE);
    add("/tenants/{tenantId}/sessions", HttpMethod.GET);
    add("/tenants/{tenantId}/sessions/{session}", HttpMethod.DELETE);
    add("/tenants/{tenantId}/push", HttpMethod.POST);
    add("/tenants/{tenantId}/dead-letters", HttpMethod.GET);
    add("/tenants/{tenantId}/dead-letters/redrive", HttpMethod.POST);
    add("/tiers", HttpMethod.GET);
    add("/tiers/{tier}", HttpMethod.GET, HttpMethod.PUT, HttpMethod.DELETE);
    add("/tenants/{tenantId}/history", HttpMethod.GET);
    add("/fleet", HttpMethod.GET);
    add("/fleet/tenants", HttpMethod.GET);
    add("/audit", HttpMethod.GET);
    add("/alarms", HttpMethod.GET);
    add("/activity", HttpMethod.GET);
    add("/drift", HttpMethod.GET);
    add("/repairs", HttpMethod.POST);
    add("/admit-all", HttpMethod.GET, HttpMethod.PUT, HttpMethod.DELETE);
  }

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
                            .reason(reasonIfOpen)
                            .build()));
              }
            });
  }
}
