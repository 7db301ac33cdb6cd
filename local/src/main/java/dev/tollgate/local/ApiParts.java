package dev.tollgate.local;

import dev.tollgate.local.gateway.Cors;
import dev.tollgate.local.gateway.Gateway;
import dev.tollgate.local.gateway.HttpApiSpec;
import dev.tollgate.local.gateway.WebSocketApiSpec;
import dev.tollgate.local.template.Properties;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Gathers HTTP and WebSocket APIs with their routes, integrations, authorizers and stages, which
 * are resources of their own, until all can be served.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_ApiGatewayV2.html">AWS::ApiGatewayV2</a>
 */
final class ApiParts {
  private final InetSocketAddress gateway;
  private final Map<String, Part> apis = new LinkedHashMap<>();
  private final Map<String, String> integrations = new HashMap<>();
  private final Map<String, WebSocketApiSpec.Authorizer> authorizers = new HashMap<>();

  /** An API, and what was found of it so far. */
  private static final class Part {
    private final boolean webSocket;
    private final String routeSelection;
    private final Optional<Cors> cors;
    private final List<Route> routes = new ArrayList<>();
    private final List<String> stages = new ArrayList<>();
    private Optional<WebSocketApiSpec.Authorizer> authorizer = Optional.empty();

    private Part(boolean webSocket, String routeSelection, Optional<Cors> cors) {
      this.webSocket = webSocket;
      this.routeSelection = routeSelection;
      this.cors = cors;
    }
  }

  private record Route(String key, String function, boolean signed) {}

  ApiParts(InetSocketAddress gateway) {
    this.gateway = gateway;
  }

  Brought api(String logicalName, Properties properties) {
    String id = properties.text("Name").toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
    String protocol = properties.text("ProtocolType");
    if (!protocol.matches("HTTP|WEBSOCKET")) {
      throw properties.error("ProtocolType", protocol + " (expected: HTTP or WEBSOCKET)");
    }
    boolean webSocket = protocol.equals("WEBSOCKET");
    properties.ignore("Description", "DisableExecuteApiEndpoint", "Tags");
    Part part =
        new Part(
            webSocket,
            properties.optionalText("RouteSelectionExpression").orElse(""),
            properties.object("CorsConfiguration").map(ApiParts::cors));
    if (apis.putIfAbsent(id, part) != null) {
      throw properties.error("Name", id + " (expected: another than that of any other API)");
    }
    String endpoint =
        "%s://%s:%d/%s"
            .formatted(
                webSocket ? "ws" : "http",
                gateway.getAddress().getHostAddress(),
                gateway.getPort(),
                id);
    return new Brought(id, Map.of("ApiEndpoint", endpoint, "ApiId", id));
  }

  Brought integration(String logicalName, Properties properties) {
    String type = properties.text("IntegrationType");
    if (!type.equals("AWS_PROXY")) {
      throw properties.error("IntegrationType", type + " (expected: AWS_PROXY)");
    }
    properties
        .optionalText("PayloadFormatVersion")
        .filter(version -> !version.equals("2.0"))
        .ifPresent(
            version -> {
              throw properties.error("PayloadFormatVersion", version + " (expected: 2.0)");
            });
    properties.ignore("ApiId", "Description", "IntegrationMethod", "TimeoutInMillis");
    integrations.put(logicalName, functionArn(properties.text("IntegrationUri")));
    return Brought.of(logicalName);
  }

  Brought authorizer(String logicalName, Properties properties) {
    String type = properties.text("AuthorizerType");
    if (!type.equals("REQUEST")) {
      throw properties.error("AuthorizerType", type + " (expected: REQUEST)");
    }
    properties.ignore("ApiId", "Name");
    authorizers.put(
        logicalName,
        new WebSocketApiSpec.Authorizer(
            functionArn(properties.text("AuthorizerUri")), properties.texts("IdentitySource")));
    return Brought.of(logicalName);
  }

  Brought route(String logicalName, Properties properties) {
    Part api = part(properties);
    String target = properties.text("Target").replaceFirst("^integrations/", "");
    String function = integrations.get(target);
    if (function == null) {
      throw properties.error("Target", target + " (expected: an integration of the template)");
    }
    String authorization = properties.optionalText("AuthorizationType").orElse("NONE");
    switch (authorization) {
      case "NONE", "AWS_IAM" -> {}
      case "CUSTOM" -> {
        String id = properties.text("AuthorizerId");
        if (!api.webSocket || !authorizers.containsKey(id)) {
          throw properties.error(
              "AuthorizerId", id + " (expected: an authorizer of a WebSocket API)");
        }
        api.authorizer = Optional.ofNullable(authorizers.get(id));
      }
      default ->
          throw properties.error(
              "AuthorizationType", authorization + " (expected: NONE, AWS_IAM or CUSTOM)");
    }
    properties.ignore("OperationName");
    api.routes.add(
        new Route(properties.text("RouteKey"), function, authorization.equals("AWS_IAM")));
    return Brought.of(logicalName);
  }

  Brought stage(String logicalName, Properties properties) {
    String name = properties.text("StageName");
    Part api = part(properties);
    if (!api.webSocket && !name.equals("$default")) {
      throw properties.error("StageName", name + " (expected: $default)");
    }
    api.stages.add(name);
    properties.ignore(
        "AccessLogSettings", "AutoDeploy", "DefaultRouteSettings", "Description", "Tags");
    return Brought.of(name);
  }

  /** Serves all APIs that were gathered and have a stage. */
  void serve(Gateway server) {
    apis.forEach(
        (id, api) -> {
          if (api.stages.size() != 1) {
            throw new IllegalStateException(
                "API " + id + " has stages " + api.stages + " (expected: one)");
          }
          if (api.webSocket) {
            Map<String, String> routes = new HashMap<>();
            api.routes.forEach(route -> routes.put(route.key(), route.function()));
            server.add(
                new WebSocketApiSpec(
                    id, api.stages.get(0), api.routeSelection, routes, api.authorizer));
          } else {
            server.add(
                new HttpApiSpec(
                    id,
                    api.routes.stream()
                        .map(r -> new HttpApiSpec.Route(r.key(), r.function(), r.signed()))
                        .toList(),
                    api.cors));
          }
        });
  }

  private Part part(Properties properties) {
    String id = properties.text("ApiId");
    Part part = apis.get(id);
    if (part == null) {
      throw properties.error("ApiId", id + " (expected: an API of the template)");
    }
    return part;
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

  /**
   * The function in {@code
   * arn:aws:apigateway:REGION:lambda:path/2015-03-31/functions/ARN/invocations}.
   */
  private static String functionArn(String uri) {
    return uri.replaceFirst("^arn:[^:]+:apigateway:.*/functions/", "")
        .replaceFirst("/invocations$", "");
  }
}
