package dev.tollgate.local.resources.api;

import dev.tollgate.local.gateway.Cors;
import dev.tollgate.local.gateway.HttpApiSpec;
import dev.tollgate.local.gateway.HttpRoute;
import dev.tollgate.local.gateway.RouteAuthorizer;
import dev.tollgate.local.gateway.WebSocketApiSpec;
import dev.tollgate.local.gateway.mapping.Integration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** An API as far as its resources are created. */
final class ApiDraft {
  final String id;
  final boolean webSocket;
  final List<Route> routes = new ArrayList<>();

  /** The keys of the routes that have a route response. */
  final Set<String> answering = new HashSet<>();

  final List<String> stages = new ArrayList<>();
  Map<String, String> stageVariables = Map.of();
  Optional<Authorizers.RequestAuthorizer> authorizer = Optional.empty();

  ApiDraft(String id, boolean webSocket) {
    this.id = id;
    this.webSocket = webSocket;
  }

  record Route(ApiDraft api, String key, Integration integration, RouteAuthorizer authorizer) {}

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

  HttpApiSpec httpApi(Optional<Cors> cors) {
    List<HttpRoute> served = new ArrayList<>();
    for (Route route : routes) {
      String function = ((Integration.Function) route.integration).arn();
      served.add(new HttpRoute(route.key, function, route.authorizer));
    }
    return new HttpApiSpec(id, served, cors);
  }

  WebSocketApiSpec webSocketApi(String stage, String routeSelection) {
    Map<String, WebSocketApiSpec.Route> served = new HashMap<>();
    for (Route route : routes) {
      boolean answers = answering.contains(route.key);
      served.put(route.key, new WebSocketApiSpec.Route(route.integration, answers));
    }
    return new WebSocketApiSpec(
        id,
        stage,
        routeSelection,
        served,
        authorizer.map(Authorizers.RequestAuthorizer::spec),
        stageVariables);
  }
}
