package dev.tollgate.local.gateway;

import dev.tollgate.local.gateway.jwt.JwtAuthorizer;
import java.util.List;
import java.util.Optional;

/**
 * An HTTP API with Lambda proxy integrations of payload format 2.0, at stage {@code $default}.
 *
 * @param apiId the API's id, first segment of its local path
 * @param routes its routes, in any order
 * @param cors answers to browsers of other origins, if the API gives any
 */
public record HttpApiSpec(String apiId, List<Route> routes, Optional<Cors> cors) {

  public HttpApiSpec {
    requireApiId(apiId);
    routes = List.copyOf(routes);
  }

  /**
   * A route.
   *
   * @param routeKey {@code METHOD /path}, where METHOD may be ANY and a segment of the path {@code
   *     {name}} or, at the end, {@code {name+}}; or {@code $default}
   * @param function ARN of the function that answers
   * @param authorization who may call it
   */
  public record Route(String routeKey, String function, Authorization authorization) {

    public Route {
      if (!routeKey.matches("\\$default|[A-Z]+ /\\S*")) {
        throw new IllegalArgumentException(
            "routeKey: " + routeKey + " (expected: METHOD /path or $default)");
      }
    }
  }

  /** Who may call a route. */
  public sealed interface Authorization {

    /** All callers. */
    record None() implements Authorization {}

    /**
     * Callers that IAM authorizes. Requests are not checked, and the event names the account's root
     * user.
     */
    record Iam() implements Authorization {}

    /**
     * Callers with a JSON Web Token.
     *
     * @param authorizer checks it
     * @param scopes one of these must be among its scopes, if there are any
     */
    record Jwt(JwtAuthorizer authorizer, List<String> scopes) implements Authorization {}
  }

  static void requireApiId(String apiId) {
    if (!apiId.matches("[A-Za-z0-9-]+")) {
      throw new IllegalArgumentException("apiId: " + apiId + " (expected: [A-Za-z0-9-]+)");
    }
  }
}
