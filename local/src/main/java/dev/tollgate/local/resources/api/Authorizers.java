package dev.tollgate.local.resources.api;

import dev.tollgate.local.gateway.HttpRoute;
import dev.tollgate.local.gateway.WebSocketApiSpec;
import dev.tollgate.local.gateway.jwt.IssuerKeys;
import dev.tollgate.local.gateway.jwt.JwtAuthorizer;
import dev.tollgate.local.gateway.jwt.KeySets;
import dev.tollgate.local.resources.ResourceFamily;
import dev.tollgate.local.resources.ResourceType;
import dev.tollgate.local.resources.Stack;
import dev.tollgate.local.resources.UserPools.UserPool;
import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** The authorizers of APIs: Lambda functions for WebSocket APIs, JSON Web Tokens for HTTP APIs. */
public final class Authorizers implements ResourceFamily {
  private static final String AUTHORIZATION = "$request.header.Authorization";

  /**
   * An authorizer of an HTTP API.
   *
   * @param api the id of its API
   * @param forScopes the authorizer of a route that needs one of some scopes; it admits everyone if
   *     the API's users are those of a {@link UserPool}
   */
  private record TokenAuthorizer(
      String api, Function<List<String>, HttpRoute.Authorizer> forScopes) {}

  @Override
  public Map<String, ResourceType> types() {
    return Map.of("AWS::ApiGatewayV2::Authorizer", Authorizers::authorizer);
  }

  private static CreatedResource authorizer(
      String logicalName, Properties properties, Stack stack) {
    properties.ignore("Name");
    if (properties.oneOf("AuthorizerType", "REQUEST", "JWT").equals("JWT")) {
      stack.add(TokenAuthorizer.class, logicalName, tokenAuthorizer(properties, stack));
    } else {
      properties.ignore("ApiId");
      stack.add(
          WebSocketApiSpec.Authorizer.class,
          logicalName,
          new WebSocketApiSpec.Authorizer(
              Integrations.functionArn(properties.text("AuthorizerUri")),
              properties.texts("IdentitySource")));
    }
    return CreatedResource.of(logicalName);
  }

  private static TokenAuthorizer tokenAuthorizer(Properties properties, Stack stack) {
    ApiDraft api = Apis.of(properties, stack);
    if (api.webSocket) {
      throw properties.error("AuthorizerType", "JWT (expected: REQUEST, for a WebSocket API)");
    }
    List<String> sources = properties.texts("IdentitySource");
    if (!sources.equals(List.of(AUTHORIZATION))) {
      throw properties.error("IdentitySource", sources + " (expected: " + AUTHORIZATION + ")");
    }
    Properties jwt = properties.requiredObject("JwtConfiguration");
    String issuer = jwt.text("Issuer");
    if (!issuer.startsWith("https://")) {
      throw jwt.error("Issuer", issuer + " (expected: https://…)");
    }
    List<String> audiences = jwt.texts("Audience");
    if (audiences.isEmpty()) {
      throw jwt.error("Audience", "absent (expected: at least one)");
    }
    if (stack.find(UserPool.class, issuer).isPresent()) {
      return new TokenAuthorizer(api.id, scopes -> HttpRoute.Authorizer.NONE);
    }
    IssuerKeys keys = stack.service(KeySets.class).keys(issuer);
    JwtAuthorizer authorizer =
        new JwtAuthorizer(issuer, audiences, keys, stack.environment().clock());
    return new TokenAuthorizer(api.id, scopes -> header -> authorizer.decide(header, scopes));
  }

  /** The authorizer of a route. */
  static HttpRoute.Authorizer of(ApiDraft api, Properties properties, Stack stack) {
    if (properties.optionalText("AuthorizationType").isEmpty()) {
      return HttpRoute.Authorizer.NONE;
    }
    return switch (properties.oneOf("AuthorizationType", "NONE", "AWS_IAM", "JWT", "CUSTOM")) {
      case "AWS_IAM" -> HttpRoute.Authorizer.iam(stack.environment().accountId());
      case "JWT" ->
          stack
              .required(
                  TokenAuthorizer.class,
                  found -> found.api.equals(api.id),
                  properties,
                  "AuthorizerId",
                  "an authorizer of type JWT of the route's API")
              .forScopes
              .apply(properties.texts("AuthorizationScopes"));
      case "CUSTOM" -> {
        WebSocketApiSpec.Authorizer authorizer =
            stack.required(
                WebSocketApiSpec.Authorizer.class,
                found -> api.webSocket,
                properties,
                "AuthorizerId",
                "an authorizer of a WebSocket API");
        api.authorizer = Optional.of(authorizer);
        String part = api.id + "/authorizers/" + properties.text("AuthorizerId");
        Apis.requirePermission(properties, stack, authorizer.function(), () -> part);
        yield HttpRoute.Authorizer.NONE;
      }
      default -> HttpRoute.Authorizer.NONE;
    };
  }
}
