package dev.tollgate.local.resources.api;

import dev.tollgate.local.gateway.RouteAuthorizer;
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
import java.util.function.Predicate;

/** The authorizers of APIs: Lambda functions for WebSocket APIs, JSON Web Tokens for HTTP APIs. */
public final class Authorizers implements ResourceFamily {
  private static final String AUTHORIZATION = "$request.header.Authorization";

  /** An authorizer of a WebSocket API. */
  record RequestAuthorizer(String name, WebSocketApiSpec.Authorizer spec) {}

  /**
   * An authorizer of an HTTP API.
   *
   * @param api the id of its API
   * @param forScopes the authorizer of a route that needs one of some scopes; it admits everyone if
   *     the API's users are those of a {@link UserPool}
   */
  private record TokenAuthorizer(String api, Function<List<String>, RouteAuthorizer> forScopes) {}

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
      WebSocketApiSpec.Authorizer spec =
          new WebSocketApiSpec.Authorizer(
              Integrations.functionArn(properties.text("AuthorizerUri")),
              properties.texts("IdentitySource"));
      stack.add(RequestAuthorizer.class, logicalName, new RequestAuthorizer(logicalName, spec));
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
      return new TokenAuthorizer(api.id, scopes -> RouteAuthorizer.NONE);
    }
    IssuerKeys keys = stack.service(KeySets.class).keys(issuer);
    JwtAuthorizer authorizer =
        new JwtAuthorizer(issuer, audiences, keys, stack.environment().clock());
    return new TokenAuthorizer(api.id, scopes -> header -> authorizer.decide(header, scopes));
  }

  /** The authorizer of a route. */
  static RouteAuthorizer of(ApiDraft api, Properties properties, Stack stack) {
    if (properties.optionalText("AuthorizationType").isEmpty()) {
      return RouteAuthorizer.NONE;
    }
    return switch (properties.oneOf("AuthorizationType", "NONE", "AWS_IAM", "JWT", "CUSTOM")) {
      case "AWS_IAM" -> RouteAuthorizer.iam(stack.environment().accountId());
      case "JWT" ->
          authorizer(
                  TokenAuthorizer.class,
                  found -> found.api.equals(api.id),
                  "an authorizer of type JWT of the route's API",
                  properties,
                  stack)
              .forScopes
              .apply(properties.texts("AuthorizationScopes"));
      case "CUSTOM" -> {
        String expected = "an authorizer of a WebSocket API";
        api.authorizer =
            Optional.of(
                authorizer(
                    RequestAuthorizer.class, a -> api.webSocket, expected, properties, stack));
        yield RouteAuthorizer.NONE;
      }
      default -> RouteAuthorizer.NONE;
    };
  }

  private static <T> T authorizer(
      Class<T> type, Predicate<T> fits, String expected, Properties properties, Stack stack) {
    String id = properties.text("AuthorizerId");
    return stack
        .find(type, id)
        .filter(fits)
        .orElseThrow(() -> properties.error("AuthorizerId", id + " (expected: " + expected + ")"));
  }
}
