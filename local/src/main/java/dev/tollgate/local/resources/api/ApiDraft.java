package dev.tollgate.local.resources.api;

import dev.tollgate.local.gateway.HttpRoute;
import dev.tollgate.local.gateway.RouteLimits;
import dev.tollgate.local.gateway.WebSocketApiSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An API as far as its resources are created. */
final class ApiDraft {
  final String id;
  final boolean webSocket;
  final List<HttpRoute> httpRoutes = new ArrayList<>();
  final Map<String, WebSocketApiSpec.Route> webSocketRoutes = new HashMap<>();
  final List<String> stages = new ArrayList<>();
  Map<String, String> stageVariables = Map.of();
  RouteLimits limits = RouteLimits.NONE;
  Optional<WebSocketApiSpec.Authorizer> authorizer = Optional.empty();

  ApiDraft(String id, boolean webSocket) {
    this.id = id;
    this.webSocket = webSocket;
  }

  /** Whether a route exists. */
  boolean hasRoute(String key) {
    return webSocketRoutes.containsKey(key)
        || httpRoutes.stream().anyMatch(route -> route.routeKey().equals(key));
  }

  /**
   * The API's stage.
   *
   * @throws IllegalStateException if there is not exactly one
   */
  String stage() {
    if (stages.size() != 1) {
      throw new IllegalStateException("API " + id + " has stages " + stages + " (expected: one)");
    }
    return stages.get(0);
  }
}
