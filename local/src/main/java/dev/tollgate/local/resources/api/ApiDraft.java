package dev.tollgate.local.resources.api;

import dev.tollgate.local.gateway.Cors;
import dev.tollgate.local.gateway.HttpApiSpec;
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
  final List<Route> routes = new ArrayList<>();
  final List<String> stages = new ArrayList<>();
  Map<String, String> stageVariables = Map.of();
  Optional<Authorizers.RequestAuthorizer> authorizer = Optional.empty();
  private final String routeSelection;
  private final Optional<Cors> cors;

  ApiDraft(String id, boolean webSocket, String routeSelection, Optional<Cors> cors) {
    this.id = id;
    this.webSocket = webSocket;
    this.routeSelection = routeSelection;
    this.cors = cors;
  }

  /** A route. It answers if it has a route response. */
  static final class Route {
    final String key;
    final IntegrationDraft integration;
    private final HttpApiSpec.Authorization authorization;
    boolean answers;

    Route(String key, IntegrationDraft integration, HttpApiSpec.Authorization authorization) {
      this.key = key;
      this.integration = integration;
      this.authorization = authorization;
    }
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

  HttpApiSpec httpApi() {
    return new HttpApiSpec(
        id,
        routes.stream()
            .map(
                route ->
                    new HttpApiSpec.Route(
                        route.key, route.integration.function().orElseThrow(), route.authorization))
            .toList(),
        cors);
  }

  WebSocketApiSpec webSocketApi() {
    Map<String, WebSocketApiSpec.Route> served = new HashMap<>();
    routes.forEach(
        route ->
            served.put(
                route.key,
                new WebSocketApiSpec.Route(route.integration.integration(), route.answers)));
    return new WebSocketApiSpec(
        id,
        stage(),
        routeSelection,
        served,
        authorizer.map(Authorizers.RequestAuthorizer::spec),
        stageVariables);
  }
}
