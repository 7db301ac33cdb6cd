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
import java.util.function.UnaryOperator;

/**
 * The tenants and tiers that one run creates. They have names of their own, so a run needs no tier
 * of the deployment and never touches another tenant. Thread-safe.
 */
final class Inventory {
  /** Defaults for tests of limits: high enough to be out of the way. */
  static final Map<String, Integer> LIMITS =
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

    ObjectNode document() {
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

  /** What requests that are not answered yet create: it may come after it was removed. */
  private final Set<String> pending = new ConcurrentSkipListSet<>();

  private volatile boolean stopped;

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
      create(
              deployment,
              "PUT",
              Paths.tier(name(tier)),
              Paths.tier(name(tier)),
              tier.document(),
              Map.of())
          .orThrow();
    }
  }

  /** Onboards a tenant of a check. */
  Response onboard(
      Deployment ofCheck,
      String tenantId,
      Tier tier,
      Map<String, Integer> overrides,
      Map<String, String> headers) {
    ObjectNode body = Json.object().put("tenantId", tenantId).put("tier", name(tier));
    body.set("overrides", Json.object(overrides));
    tenants.add(tenantId);
    return create(ofCheck, "POST", "/tenants", Paths.tenant(tenantId), body, headers);
  }

  private Response create(
      Deployment through,
      String method,
      String path,
      String created,
      JsonNode body,
      Map<String, String> headers) {
    pending.add(created);
    try {
      if (stopped) {
        throw Failure.of("the run was stopped");
      }
      return through.control(method, path, Optional.of(body), headers);
    } finally {
      pending.remove(created);
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
   * Removes all tenants and tiers of the run, and creates no more. Does not wait for requests that
   * others have sent.
   *
   * @return those that are still there after the limit, such as {@code tier verify-x-pool}
   */
  List<String> remove(Duration limit) {
    stopped = true;
    long end = shell.nanoTime().getAsLong() + limit.toNanos();
    while (true) {
      remove(tenants, Paths::tenant, end);
      if (tenants.isEmpty()) {
        remove(tiers, Paths::tier, end);
      }
      if (size() == 0 || isPast(end)) {
        List<String> left = new ArrayList<>();
        tenants.forEach(tenant -> left.add("tenant " + tenant));
        tiers.forEach(tier -> left.add("tier " + tier));
        return left;
      }
      shell.sleep(BETWEEN_ROUNDS);
    }
  }

  private void remove(Set<String> names, UnaryOperator<String> path, long end) {
    names.removeIf(name -> !isPast(end) && isGone(path.apply(name)));
  }

  private boolean isPast(long end) {
    return shell.nanoTime().getAsLong() - end >= 0;
  }

  /** Whether a tenant or tier is removed. A failure to ask is repeated in the next round. */
  private boolean isGone(String path) {
    boolean mayStillCome = pending.contains(path);
    try {
      int status = deployment.control("DELETE", path, Optional.empty()).status();
      return !mayStillCome && (status == 204 || status == 404);
    } catch (Failure notAnswered) {
      return false;
    }
  }
}
