package dev.tollgate.local.gateway;

import java.util.Map;

/**
 * The limits of the routes of a stage. Each route has a bucket of its own.
 *
 * @param others the limit of each route that is not named
 * @param byRoute the limits of routes by their keys
 */
public record RouteLimits(RateLimit others, Map<String, RateLimit> byRoute) {
  /** The limits of a stage without settings: those of the account. */
  public static final RouteLimits NONE = new RouteLimits(RateLimit.OF_ACCOUNTS, Map.of());

  /** Copies the map. */
  public RouteLimits {
    byRoute = Map.copyOf(byRoute);
  }

  RateLimit of(String routeKey) {
    return byRoute.getOrDefault(routeKey, others);
  }
}
