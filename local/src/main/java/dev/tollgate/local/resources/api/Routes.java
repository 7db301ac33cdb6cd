package dev.tollgate.local.resources.api;

import dev.tollgate.local.gateway.HttpApiSpec.Authorization;
import dev.tollgate.local.resources.CreatedResource;
import dev.tollgate.local.resources.ResourceFamily;
import dev.tollgate.local.resources.ResourceType;
import dev.tollgate.local.resources.Stack;
import dev.tollgate.local.resources.api.Authorizers.RequestAuthorizer;
import dev.tollgate.local.resources.api.Authorizers.TokenAuthorizer;
import dev.tollgate.local.template.Properties;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The routes of APIs and their route responses. */
public final class Routes implements ResourceFamily {
  @Override
  public Map<String, ResourceType> types() {
    return Map.of(
        "AWS::ApiGatewayV2::Route", Routes::route,
        "AWS::ApiGatewayV2::RouteResponse", Routes::response);
  }

  private static CreatedResource route(String logicalName, Properties properties, Stack stack) {
    ApiDraft api = Apis.of(properties, stack);
    String target = properties.text("Target").replaceFirst("^integrations/", "");
    IntegrationDraft integration =
        stack
            .find(IntegrationDraft.class, target)
            .filter(found -> api.webSocket || found.function().isPresent())
            .orElseThrow(
                () ->
                    properties.error(
                        "Target", target + " (expected: an integration of the template)"));
    Authorization authorization = authorization(api, properties, stack);
    properties.ignore("OperationName", "RouteResponseSelectionExpression");
    ApiDraft.Route route =
        new ApiDraft.Route(properties.text("RouteKey"), integration, authorization);
    api.routes.add(route);
    stack.add(ApiDraft.Route.class, logicalName, route);
    return CreatedResource.of(logicalName);
  }

  private static CreatedResource response(String logicalName, Properties properties, Stack stack) {
    ApiDraft.Route route =
        stack.required(ApiDraft.Route.class, properties, "RouteId", "a route of the template");
    properties.oneOf("RouteResponseKey", "$default");
    properties.ignore("ApiId");
    route.answers = true;
    return CreatedResource.of(logicalName);
  }

  private static Authorization authorization(ApiDraft api, Properties properties, Stack stack) {
    if (properties.optionalText("AuthorizationType").isEmpty()) {
      return new Authorization.None();
    }
    return switch (properties.oneOf("AuthorizationType", "NONE", "AWS_IAM", "JWT", "CUSTOM")) {
      case "AWS_IAM" -> new Authorization.Iam();
      case "JWT" -> jwt(api, properties, stack);
      case "CUSTOM" -> {
        api.authorizer = Optional.of(authorizer(api, properties, stack));
        yield new Authorization.None();
      }
      default -> new Authorization.None();
    };
  }

  private static Authorization jwt(ApiDraft api, Properties properties, Stack stack) {
    String id = properties.text("AuthorizerId");
    TokenAuthorizer found =
        stack
            .find(TokenAuthorizer.class, id)
            .filter(authorizer -> authorizer.api().equals(api.id))
            .orElseThrow(
                () ->
                    properties.error(
                        "AuthorizerId",
                        id + " (expected: an authorizer of type JWT of the route's API)"));
    List<String> scopes = properties.texts("AuthorizationScopes");
    return found
        .authorizer()
        .<Authorization>map(authorizer -> new Authorization.Jwt(authorizer, scopes))
        .orElseGet(Authorization.None::new);
  }

  private static RequestAuthorizer authorizer(ApiDraft api, Properties properties, Stack stack) {
    String id = properties.text("AuthorizerId");
    return stack
        .find(RequestAuthorizer.class, id)
        .filter(authorizer -> api.webSocket)
        .orElseThrow(
            () ->
                properties.error(
                    "AuthorizerId", id + " (expected: an authorizer of a WebSocket API)"));
  }
}
