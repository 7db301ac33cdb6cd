package dev.tollgate.local.gateway;

import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/** The throttles of an account in a Region. */
final class Throttles {
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final Throttle requests;
  private final Throttle newConnections;

  Throttles(InstantSource clock, LongSupplier nanoTime) {
    this.clock = clock;
    this.nanoTime = nanoTime;
    requests = throttle(RateLimit.OF_ACCOUNTS);
    newConnections = throttle(RateLimit.OF_NEW_CONNECTIONS);
  }

  private Throttle throttle(RateLimit limit) {
    return new Throttle(limit, clock, nanoTime);
  }

  /** Whether the account may receive another request, message or call of {@code @connections}. */
  boolean admitRequest() {
    return requests.admits();
  }

  /** Whether another WebSocket may be opened. */
  boolean admitConnection() {
    return newConnections.admits();
  }

  /** Given the key of a route of a stage, decides whether the route may serve another request. */
  Predicate<String> ofStage(RouteLimits limits) {
    Map<String, Throttle> routes = new ConcurrentHashMap<>();
    return routeKey ->
        routes.computeIfAbsent(routeKey, key -> throttle(limits.of(key))).admits()
            && admitRequest();
  }
}
