package dev.tollgate.local.gateway;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A WebSocket API with Lambda proxy integrations, at one stage.
 *
 * @param apiId the API's id, first segment of its local path
 * @param stage name of the stage, second segment of the path
 * @param routeSelectionExpression which value of a JSON message is its route key: {@code
 *     $request.body.name}
 * @param routes route key ({@code $connect}, {@code $disconnect}, {@code $default}, or the
 *     application's own) to the ARN of the function that serves the route
 * @param authorizer the authorizer of {@code $connect}
 */
public record WebSocketApiSpec(
    String apiId,
    String stage,
    String routeSelectionExpression,
    Map<String, String> routes,
    Optional<Authorizer> authorizer) {

  private static final Pattern SELECTION =
      Pattern.compile("\\$request\\.body\\.([\\w.-]+)|\\$\\{request\\.body\\.([\\w.-]+)}");

  public WebSocketApiSpec {
    HttpApiSpec.requireApiId(apiId);
    if (!SELECTION.matcher(routeSelectionExpression).matches()) {
      throw new IllegalArgumentException(
          "routeSelectionExpression: "
              + routeSelectionExpression
              + " (expected: $request.body.name)");
    }
    routes = Map.copyOf(routes);
  }

  /** JSON pointer to the route key in a message. */
  String selector() {
    Matcher selection = SELECTION.matcher(routeSelectionExpression);
    selection.matches();
    String path = selection.group(1) == null ? selection.group(2) : selection.group(1);
    return '/' + path.replace('.', '/');
  }

  /**
   * A Lambda authorizer of type REQUEST.
   *
   * @param function ARN of the function
   * @param identitySources what a request must carry, {@code route.request.querystring.name} or
   *     {@code route.request.header.name}; without it the function is not asked
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
