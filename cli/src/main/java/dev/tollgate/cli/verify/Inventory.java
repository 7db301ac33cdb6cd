package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.terminal.Shell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * The tenants and tiers that one run creates. They have names of their own, so a run needs no tier
 * of the deployment and never touches another tenant. Thread-safe.
 */
final class Inventory {
  /** Defaults for tests of limits: high enough to be out of the way. */
  private static final Map<String, Integer> LIMITS =
      Map.of(
          "tenantPerMinute", 60,
          "sessionPerMinute", 600,
          "connectionsPerSession", 50,
          "tenantConnections", 1000,
          "sessionTTL", 600,
          "messagesPerMinute", 60,
          "sessionLifetime", 3600,
          "sessionsPerSubject", 100);

  private static final Duration BETWEEN_ROUNDS = Duration.ofSeconds(2);

  /** The tiers of a run. */
  enum Tier {
    POOL,
    SILO,
    /** As {@link #POOL}, with fewer connections a minute. */
    SLOW;

    private ObjectNode document() {
      ObjectNode document = Json.object().put("isolation", this == SILO ? "SILO" : "POOL");
      ObjectNode limits = Json.object(LIMITS);
      if (this == SLOW) {
        limits.put("tenantPerMinute", SLOW_RATE);
      }
      return document.set("limits", limits);
    }
  }

  /** The connections a minute of {@link Tier#SLOW}. */
  static final int SLOW_RATE = 6;

  private final ComparedDeployment deployment;
  private final Shell shell;
  private final String prefix;
  private final Set<String> tenants = new ConcurrentSkipListSet<>();
  private final Set<String> tiers = new ConcurrentSkipListSet<>();

  /** Held shared while a request creates something, and exclusively to stop that. */
  private final ReadWriteLock creating = new ReentrantReadWriteLock();

  private boolean stopped;

  /**
   * @param prefix begins the names of all tenants and tiers of the run
   */
  Inventory(Deployment deployment, Shell shell, String prefix) {
    this.deployment = new ComparedDeployment(deployment);
    this.shell = shell;
    this.prefix = prefix;
  }

  String prefix() {
    return prefix;
  }

  /** What the answers to requests outside of checks have that the contracts do not allow. */
  SortedSet<String> differences() {
    return deployment.differences();
  }

  String name(Tier tier) {
    return prefix + "-" + tier.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Creates the tiers of the run.
   *
   * @throws Failure if the deployment refuses; nothing is left to remove if it refuses all requests
   */
  void createTiers() {
    deployment.control("GET", "/tiers", Optional.empty()).orThrow();
    for (Tier tier : Tier.values()) {
      tiers.add(name(tier));
      create(deployment, "PUT", Paths.tier(name(tier)), tier.document()).orThrow();
    }
  }

  /** Onboards a tenant of a check. */
  Response onboard(Deployment ofCheck, String tenantId, Tier tier, Map<String, Integer> overrides) {
    ObjectNode body = Json.object().put("tenantId", tenantId).put("tier", name(tier));
    body.set("overrides", Json.object(overrides));
    tenants.add(tenantId);
    return create(ofCheck, "POST", "/tenants", body);
  }

  private Response create(Deployment through, String method, String path, JsonNode body) {
    creating.readLock().lock();
    try {
      if (stopped) {
        throw Failure.of("the run was stopped");
      }
      return through.control(method, path, Optional.of(body));
    } finally {
      creating.readLock().unlock();
    }
  }

  /** Starts to offboard a tenant of a check; {@link #remove} makes sure that it goes. */
  Response offboard(Deployment ofCheck, String tenantId) {
    return ofCheck.control("DELETE", Paths.tenant(tenantId), Optional.empty());
  }

  /** How many tenants and tiers the run has created and not removed yet. */
  int size() {
    return tenants.size() + tiers.size();
  }

  /**
   * Removes all tenants and tiers of the run, and creates no more.
   *
   * @return the names of those that are still there after the limit
   */
  List<String> remove(Duration limit) {
    creating.writeLock().lock();
    try {
      stopped = true;
    } finally {
      creating.writeLock().unlock();
    }
    long end = shell.nanoTime().getAsLong() + limit.toNanos();
    while (true) {
      tenants.removeIf(tenant -> isGone(Paths.tenant(tenant)));
      if (tenants.isEmpty()) {
        tiers.removeIf(tier -> isGone(Paths.tier(tier)));
      }
      if (size() == 0 || shell.nanoTime().getAsLong() >= end) {
        List<String> left = new ArrayList<>(tenants);
        left.addAll(tiers);
        return left;
      }
      shell.sleep(BETWEEN_ROUNDS);
    }
  }

  /** Whether a tenant or tier is removed. A failure to ask is repeated in the next round. */
  private boolean isGone(String path) {
    try {
      int status = deployment.control("DELETE", path, Optional.empty()).status();
      return status == 204 || status == 404;
    } catch (Failure notAnswered) {
      return false;
    }
  }
}
