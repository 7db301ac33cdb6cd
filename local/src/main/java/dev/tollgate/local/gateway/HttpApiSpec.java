package dev.tollgate.local.gateway;

import java.util.List;
import java.util.Optional;

/**
 * An HTTP API with Lambda proxy integrations of payload format 2.0, at stage {@code $default}.
 *
 * @param apiId the API's id, first segment of its local path
 * @param routes its routes, in any order
 * @param cors answers to browsers of other origins, if the API gives any
 */
public record HttpApiSpec(String apiId, List<HttpRoute> routes, Optional<Cors> cors) {

  public HttpApiSpec {
    requireApiId(apiId);
    routes = List.copyOf(routes);
  }

  static void requireApiId(String apiId) {
    if (!apiId.matches("[A-Za-z0-9-]+")) {
      throw new IllegalArgumentException("apiId: " + apiId + " (expected: [A-Za-z0-9-]+)");
    }
  }
}
