package dev.tollgate.local.resources.api;

import dev.tollgate.local.gateway.Cors;
import dev.tollgate.local.gateway.Gateway;
import dev.tollgate.local.iam.FunctionPolicies;
import dev.tollgate.local.resources.CreatedResource;
import dev.tollgate.local.resources.ResourceFamily;
import dev.tollgate.local.resources.ResourceType;
import dev.tollgate.local.resources.Stack;
import dev.tollgate.local.template.Properties;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;

/**
 * HTTP and WebSocket APIs and their stages. An API is served once all resources of the stack exist.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_ApiGatewayV2.html">AWS::ApiGatewayV2</a>
 */
public final class Apis implements ResourceFamily {
  @Override
  public Map<String, ResourceType> types() {
    return Map.of("AWS::ApiGatewayV2::Api", Apis::api, "AWS::ApiGatewayV2::Stage", Apis::stage);
  }

  /** The API that a property {@code ApiId} names. */
  static ApiDraft of(Properties properties, Stack stack) {
    return stack.required(ApiDraft.class, properties, "ApiId", "an API of the template");
  }

  private static CreatedResource api(String logicalName, Properties properties, Stack stack) {
    String id = properties.text("Name").toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
    boolean webSocket = properties.oneOf("ProtocolType", "HTTP", "WEBSOCKET").equals("WEBSOCKET");
    properties.ignore("Description", "DisableExecuteApiEndpoint", "Tags");
    ApiDraft draft =
        new ApiDraft(
            id,
            webSocket,
            properties.optionalText("RouteSelectionExpression").orElse(""),
            properties.object("CorsConfiguration").map(Apis::cors));
    if (!stack.add(ApiDraft.class, id, draft)) {
      throw properties.error("Name", id + " (expected: a name that no other API has)");
    }
    stack.addFinalStep(() -> serve(draft, stack));
    String endpoint =
        stack.service(Gateway.class).endpoint(webSocket ? "ws" : "http", id).toString();
    return new CreatedResource(id, Map.of("ApiEndpoint", endpoint, "ApiId", id));
  }

  private static CreatedResource stage(String logicalName, Properties properties, Stack stack) {
    ApiDraft api = of(properties, stack);
    String name =
        api.webSocket ? properties.text("StageName") : properties.oneOf("StageName", "$default");
    api.stages.add(name);
    api.stageVariables = properties.textMap("StageVariables");
    properties.ignore(
        "AccessLogSettings",
        "AutoDeploy",
        "DefaultRouteSettings",
        "Description",
        "RouteSettings",
        "Tags");
    return CreatedResource.of(name);
  }

  private static void serve(ApiDraft api, Stack stack) {
    String stage = api.stage();
    Gateway gateway = stack.service(Gateway.class);
    if (api.webSocket) {
      gateway.add(api.webSocketApi());
    } else {
      gateway.add(api.httpApi());
    }
    for (ApiDraft.Route route : api.routes) {
      String path = api.id + "/" + stage + "/" + route.key.replaceFirst(" ", "");
      route.integration.function().ifPresent(function -> requirePermission(stack, function, path));
    }
    api.authorizer.ifPresent(
        authorizer ->
            requirePermission(
                stack, authorizer.spec().function(), api.id + "/authorizers/" + authorizer.name()));
  }

  /**
   * Refuses a function that API Gateway may not invoke.
   *
   * @param source the part of the API, as the last part of its ARN: {@code api/stage/route} or
   *     {@code api/authorizers/authorizer}
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/arn-format-reference.html">ARNs
   *     of APIs</a>
   */
  private static void requirePermission(Stack stack, String function, String source) {
    if (!stack
        .service(FunctionPolicies.class)
        .allows(
            function, "apigateway.amazonaws.com", stack.environment().arn("execute-api", source))) {
      throw new IllegalStateException(
          "API Gateway may not invoke "
              + function
              + " for "
              + source
              + " (expected: an AWS::Lambda::Permission; on AWS every request would be answered"
              + " with 500)");
    }
  }

  private static Cors cors(Properties cors) {
    return new Cors(
        cors.texts("AllowOrigins"),
        cors.texts("AllowMethods"),
        cors.texts("AllowHeaders"),
        cors.texts("ExposeHeaders"),
        cors.integer("MaxAge").map(OptionalLong::of).orElse(OptionalLong.empty()),
        cors.optionalText("AllowCredentials").map(Boolean::parseBoolean).orElse(false));
  }
}
