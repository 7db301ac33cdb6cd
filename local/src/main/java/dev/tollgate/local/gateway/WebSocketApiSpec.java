package dev.tollgate.local.gateway;

import dev.tollgate.local.gateway.mapping.Integration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A WebSocket API at one stage.
 *
 * @param apiId the API's id, first segment of its local path
 * @param stage name of the stage, second segment of the path
 * @param routeSelectionExpression selects the route key of a JSON message: {@code
 *     $request.body.name}
 * @param routes the routes by their keys: {@code $connect} and {@code $disconnect}, which functions
 *     serve, {@code $default}, and the application's own
 * @param authorizer the authorizer of {@code $connect}
 * @param limits the limits of the routes; {@code $disconnect} is not throttled
 * @param stageVariables the variables for mapping templates
 */
public record WebSocketApiSpec(
    String apiId,
    String stage,
    String routeSelectionExpression,
    Map<String, Route> routes,
    Optional<Authorizer> authorizer,
    RouteLimits limits,
    Map<String, String> stageVariables) {
  private static final Pattern SELECTION =
      Pattern.compile("\\$request\\.body\\.[\\w.-]+|\\$\\{request\\.body\\.[\\w.-]+}");

  public WebSocketApiSpec {
    if (!SELECTION.matcher(routeSelectionExpression).matches()) {
      throw new IllegalArgumentException(
          "routeSelectionExpression: %s (expected: $request.body.name)"
              .formatted(routeSelectionExpression));
    }
    routes = Map.copyOf(routes);
    stageVariables = Map.copyOf(stageVariables);
    for (String key : List.of("$connect", "$disconnect")) {
      Route route = routes.get(key);
      if (route != null && !(route.integration() instanceof Integration.Function)) {
        throw new IllegalArgumentException(
            "routes: " + key + " = " + route.integration() + " (expected: a function)");
      }
    }
  }

  /** The function that serves {@code $connect} or {@code $disconnect}, if there is such a route. */
  Optional<Integration.Function> function(String routeKey) {
    return Optional.ofNullable(routes.get(routeKey))
        .map(route -> (Integration.Function) route.integration());
  }

  /** JSON pointer to the route key in a message. */
  String selector() {
    return routeSelectionExpression.replaceAll("^\\$\\{?request\\.body|}", "").replace('.', '/');
  }

  /**
   * A route.
   *
   * @param answers whether it has a route response, so that the client receives the answer
   */
  public record Route(Integration integration, boolean answers) {}

  /**
   * A Lambda authorizer of type REQUEST.
   *
   * @param function ARN of the function
   * @param identitySources the parts that a request must have: {@code
   *     route.request.querystring.name} or {@code route.request.header.name}. A request without
   *     them is refused, and the function is not invoked
   */
  public record Authorizer(String function, List<String> identitySources) {
    static final String QUERY = "route.request.querystring.";
    static final String HEADER = "route.request.header.";

    public Authorizer {
      for (String source : identitySources) {
        if (!source.startsWith(QUERY) && !source.startsWith(HEADER)) {
          throw new IllegalArgumentException(
              "identitySources: " + source + " (expected: " + QUERY + "… or " + HEADER + "…)");
        }
      }
      identitySources = List.copyOf(identitySources);
    }
  }
}
