package dev.tollgate.local.resources.api;

import dev.tollgate.local.gateway.Cors;
import dev.tollgate.local.gateway.Gateway;
import dev.tollgate.local.gateway.HttpRoute;
import dev.tollgate.local.gateway.RateLimit;
import dev.tollgate.local.gateway.RouteLimits;
import dev.tollgate.local.gateway.WebSocketApiSpec;
import dev.tollgate.local.gateway.mapping.Integration;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.resources.ResourceFamily;
import dev.tollgate.local.resources.ResourceType;
import dev.tollgate.local.resources.Stack;
import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * HTTP and WebSocket APIs with their routes and stages. An API is served once all resources of the
 * stack exist.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_ApiGatewayV2.html">AWS::ApiGatewayV2</a>
 */
public final class Apis implements ResourceFamily {
  /** The key of a route, by its resource. */
  private record RouteKey(String key) {}

  private static final String ACCOUNT = "AWS::ApiGateway::Account";

  /** The account's settings, once their resource is created. */
  private record Account() {}

  /** The routes of an API when a deployment was created. A deployment is a snapshot. */
  private record Deployment(
      ApiDraft api,
      Map<String, WebSocketApiSpec.Route> webSocketRoutes,
      List<HttpRoute> httpRoutes) {

    static Deployment of(ApiDraft api) {
      return new Deployment(api, Map.copyOf(api.webSocketRoutes), List.copyOf(api.httpRoutes));
    }
  }

  @Override
  public Map<String, ResourceType> types() {
    return Map.of(
        ACCOUNT,
        Apis::account,
        "AWS::ApiGatewayV2::Api",
        Apis::api,
        "AWS::ApiGatewayV2::Deployment",
        Apis::deployment,
        "AWS::ApiGatewayV2::Route",
        Apis::route,
        "AWS::ApiGatewayV2::RouteResponse",
        Apis::routeResponse,
        "AWS::ApiGatewayV2::Stage",
        Apis::stage);
  }

  /** The API that a property {@code ApiId} names. */
  static ApiDraft of(Properties properties, Stack stack) {
    return stack.required(
        ApiDraft.class, any -> true, properties, "ApiId", "an API of the template");
  }

  private static CreatedResource account(String logicalName, Properties properties, Stack stack) {
    properties.ignore("CloudWatchRoleArn");
    stack.add(Account.class, "", new Account());
    return CreatedResource.of(logicalName);
  }

  private static CreatedResource api(String logicalName, Properties properties, Stack stack) {
    String id = properties.text("Name").toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
    boolean webSocket = properties.oneOf("ProtocolType", "HTTP", "WEBSOCKET").equals("WEBSOCKET");
    properties.ignore("Description", "DisableExecuteApiEndpoint", "Tags");
    String routeSelection = properties.optionalText("RouteSelectionExpression").orElse("");
    Optional<Cors> cors = properties.object("CorsConfiguration").map(Apis::cors);
    ApiDraft draft = new ApiDraft(id, webSocket);
    if (!stack.add(ApiDraft.class, id, draft)) {
      throw properties.error("Name", id + " (expected: a name that no other API has)");
    }
    Gateway gateway = stack.service(Gateway.class);
    stack.addFinalStep(
        properties,
        () -> {
          String stage = draft.stage();
          if (webSocket) {
            gateway.add(
                new WebSocketApiSpec(
                    id,
                    stage,
                    routeSelection,
                    draft.webSocketRoutes,
                    draft.authorizer,
                    draft.limits,
                    draft.stageVariables));
          } else {
            gateway.addHttpApi(id, draft.httpRoutes, draft.limits, cors);
          }
        });
    String endpoint = gateway.endpoint(webSocket ? "ws" : "http", id).toString();
    return new CreatedResource(id, Map.of("ApiEndpoint", endpoint, "ApiId", id));
  }

  private static CreatedResource deployment(
      String logicalName, Properties properties, Stack stack) {
    ApiDraft api = of(properties, stack);
    properties.ignore("Description");
    stack.add(Deployment.class, logicalName, Deployment.of(api));
    return CreatedResource.of(logicalName);
  }

  private static CreatedResource stage(String logicalName, Properties properties, Stack stack) {
    ApiDraft api = of(properties, stack);
    String name =
        api.webSocket ? properties.text("StageName") : properties.oneOf("StageName", "$default");
    api.stages.add(name);
    if (properties.optionalText("DeploymentId").isPresent()) {
      Deployment deployment =
          stack.required(
              Deployment.class,
              any -> any.api.equals(api),
              properties,
              "DeploymentId",
              "a deployment of the API");
      stack.addFinalStep(
          properties,
          () -> {
            if (!deployment.equals(Deployment.of(api))) {
              throw properties.error(
                  "DeploymentId",
                  "the deployment was created before routes of the API (expected: a deployment that depends on all routes and their responses)");
            }
          });
    }
    requireLogRole(api, properties, stack);
    api.stageVariables = properties.textMap("StageVariables");
    api.limits = limits(properties, api);
    properties.ignore("AutoDeploy", "Description", "Tags");
    return CreatedResource.of(name);
  }

  /** The throttles of a stage. Settings of a route are only accepted if the route exists. */
  private static RouteLimits limits(Properties stage, ApiDraft api) {
    RateLimit others =
        stage.object("DefaultRouteSettings").map(Apis::limit).orElse(RateLimit.OF_ACCOUNTS);
    Map<String, RateLimit> byRoute = new HashMap<>();
    stage
        .object("RouteSettings")
        .ifPresent(
            settings ->
                settings
                    .names()
                    .forEach(
                        key -> {
                          if (!api.hasRoute(key)) {
                            throw settings.error(
                                key,
                                "Unable to find Route by key "
                                    + key
                                    + " within the provided RouteSettings (expected: a stage that depends on the route)");
                          }
                          byRoute.put(key, limit(settings.requiredObject(key)));
                        }));
    return new RouteLimits(others, byRoute);
  }

  /**
   * The limit in settings. What they do not say is as for the account, even if the stage's default
   * says otherwise (github.com/terraform-aws-modules/terraform-aws-apigateway-v2/pull/80).
   */
  private static RateLimit limit(Properties settings) {
    settings.ignore("DataTraceEnabled", "DetailedMetricsEnabled", "LoggingLevel");
    RateLimit account = RateLimit.OF_ACCOUNTS;
    int burst = settings.integer("ThrottlingBurstLimit").orElse(account.burst());
    return settings
        .optionalText("ThrottlingRateLimit")
        .map(perSecond -> RateLimit.of(new BigDecimal(perSecond), burst))
        .orElse(new RateLimit(account.perThousandSeconds(), burst));
  }

  /**
   * Refuses a WebSocket stage that logs before the template's account settings name a role for it.
   * Without such settings in the template, the account has them already.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-account.html">AWS::ApiGateway::Account</a>
   */
  private static void requireLogRole(ApiDraft api, Properties properties, Stack stack) {
    boolean logs = properties.json("AccessLogSettings").isPresent();
    if (api.webSocket
        && logs
        && stack.declares(ACCOUNT)
        && stack.find(Account.class, "").isEmpty()) {
      throw properties.error(
          "AccessLogSettings",
          "CloudWatch Logs role ARN must be set in account settings to enable logging (expected: DependsOn the "
              + ACCOUNT
              + ")");
    }
  }

  private static CreatedResource route(String logicalName, Properties properties, Stack stack) {
    ApiDraft api = of(properties, stack);
    String key = properties.text("RouteKey");
    String target = properties.text("Target").replaceFirst("^integrations/", "");
    Integration integration =
        stack
            .find(Integration.class, target)
            .filter(found -> api.webSocket || found instanceof Integration.Function)
            .orElseThrow(
                () ->
                    properties.error(
                        "Target", target + " (expected: an integration of the template)"));
    HttpRoute.Authorizer authorizer = Authorizers.of(api, properties, stack);
    properties.ignore("OperationName", "RouteResponseSelectionExpression");
    if (integration instanceof Integration.Function function) {
      requirePermission(
          properties,
          stack,
          function.arn(),
          () -> api.id + "/" + api.stage() + "/" + key.replaceFirst(" ", ""));
    }
    if (api.webSocket) {
      api.webSocketRoutes.put(key, new WebSocketApiSpec.Route(integration, false));
    } else {
      api.httpRoutes.add(new HttpRoute(key, (Integration.Function) integration, authorizer));
    }
    stack.add(RouteKey.class, logicalName, new RouteKey(key));
    return CreatedResource.of(logicalName);
  }

  private static CreatedResource routeResponse(
      String logicalName, Properties properties, Stack stack) {
    ApiDraft api = of(properties, stack);
    RouteKey route =
        stack.required(
            RouteKey.class, any -> true, properties, "RouteId", "a route of the template");
    properties.oneOf("RouteResponseKey", "$default");
    api.webSocketRoutes.computeIfPresent(
        route.key,
        (key, silent) -> new WebSocketApiSpec.Route(silent.integration(), /* answers= */ true));
    return CreatedResource.of(logicalName);
  }

  /**
   * Refuses a function that API Gateway may not invoke, when all permissions exist.
   *
   * @param properties the properties of the resource for which the function is invoked
   * @param source the part of the API, as the last part of its ARN: {@code api/stage/route} or
   *     {@code api/authorizers/authorizer}
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/arn-format-reference.html">ARNs
   *     of APIs</a>
   */
  static void requirePermission(
      Properties properties, Stack stack, String function, Supplier<String> source) {
    stack.addFinalStep(
        properties,
        () -> {
          String arn = stack.environment().arn("execute-api", source.get());
          if (!stack
              .service(Policies.class)
              .allowsInvocation(function, "apigateway.amazonaws.com", arn)) {
            throw new IllegalStateException(
                "API Gateway may not invoke %s for %s (expected: an AWS::Lambda::Permission; on AWS every request would be answered with 500)"
                    .formatted(function, source.get()));
          }
        });
  }

  private static Cors cors(Properties cors) {
    return new Cors(
        cors.texts("AllowOrigins"),
        cors.texts("AllowMethods"),
        cors.texts("AllowHeaders"),
        cors.texts("ExposeHeaders"),
        cors.integer("MaxAge"),
        cors.optionalText("AllowCredentials").map(Boolean::parseBoolean).orElse(false));
  }
}
