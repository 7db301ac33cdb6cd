package dev.tollgate.controlplane.conditions;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.controlplane.tenants.IfMatch;
import dev.tollgate.controlplane.tiers.TierCatalog;
import dev.tollgate.controlplane.tiers.TierChangeResult;
import dev.tollgate.controlplane.tiers.TierRollOut;
import dev.tollgate.core.MetricLine;
import dev.tollgate.core.RecentlyUsedMap;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.condition.ConditionRules;
import dev.tollgate.core.condition.Conditions;
import dev.tollgate.core.condition.TenantCondition;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.History;
import dev.tollgate.core.history.Span;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Stores conditions of tenants that begin and end, and lets tiers stop enforcing their limits, by
 * what happened in the last complete minutes. The streams make events of it.
 *
 * <p>A process keeps the rows of tenants for {@link #KNOWN_FOR}: 10,000 active tenants would cost
 * 10,000 reads a minute otherwise. A changed limit counts here so much later.
 */
public final class ConditionWatch {
  /** The current minute, and one that may still change. */
  private static final Duration INCOMPLETE = Duration.ofMinutes(1);

  private static final Duration KNOWN_FOR = Duration.ofMinutes(5);
  private static final int MAX_KNOWN = 20_000;

  /** A roll-out that takes longer does not reach a tenant at all, most likely. */
  private static final Duration LONGEST_ROLL_OUT = Duration.ofMinutes(10);

  private final Rows rows;
  private final TierCatalog catalog;
  private final ParallelTasks parallel;
  private final Map<TenantId, Known> known =
      Collections.synchronizedMap(new RecentlyUsedMap<>(MAX_KNOWN));
  private final Map<TierName, Seen> versions = new ConcurrentHashMap<>();

  /** What a watch reads, and the conditions that it stores. */
  public record Rows(
      Tenants tenants, Connections connections, History history, Conditions conditions) {}

  /**
   * A watch over these rows.
   *
   * @param catalog changes the tiers that stop enforcing their limits
   */
  public ConditionWatch(Rows rows, TierCatalog catalog, ParallelTasks parallel) {
    this.rows = rows;
    this.catalog = catalog;
    this.parallel = parallel;
  }

  /**
   * What happened to tenants in the last complete minutes.
   *
   * @param to the end of these minutes
   */
  public record RecentMinutes(Instant to, Map<TenantId, Counts> tenants) {
    private Instant from() {
      return to.minus(ConditionRules.WINDOW);
    }
  }

  /**
   * Reads the last complete minutes.
   *
   * @throws Unavailable if the history cannot be read
   */
  public RecentMinutes recentMinutes(Instant now) {
    Instant to = now.minus(INCOMPLETE).truncatedTo(ChronoUnit.MINUTES);
    return new RecentMinutes(
        to, rows.history().active(new Span(to.minus(ConditionRules.WINDOW), to)));
  }

  /**
   * Stores the conditions that changed.
   *
   * @return how many
   * @throws Unavailable if the conditions or a tenant cannot be read
   */
  public long update(RecentMinutes recent, Invocation invocation) {
    Map<TenantId, Counts> active = recent.tenants();
    Map<TenantId, TenantCondition> before = new HashMap<>();
    rows.conditions().list().forEach(each -> before.put(each.tenant(), each));
    active.keySet().forEach(id -> before.putIfAbsent(id, TenantCondition.ordinary(id)));
    return parallel.count(
        before.values(),
        condition ->
            update(condition, active.getOrDefault(condition.tenant(), Counts.NONE), invocation),
        invocation);
  }

  private boolean update(TenantCondition before, Counts window, Invocation invocation) {
    TenantCondition next =
        tenant(before.tenant(), invocation)
            .map(
                tenant ->
                    ConditionRules.next(before, tenant.limits(), window, open(before, window)))
            .orElseGet(() -> TenantCondition.ordinary(before.tenant()));
    if (next.equals(before)) {
      return false;
    }
    // Each write is one event.
    TenantCondition between = before.with(next.throttled());
    if (!between.equals(before)) {
      rows.conditions().put(between);
    }
    if (!next.equals(between)) {
      rows.conditions().put(next);
    }
    return true;
  }

  /** The open connections of a tenant near a limit, to which nothing happened. */
  private OptionalLong open(TenantCondition before, Counts window) {
    return window.peak() == 0 && !before.near().isEmpty()
        ? OptionalLong.of(rows.connections().count(before.tenant()))
        : OptionalLong.empty();
  }

  /**
   * Lets tiers stop enforcing their limits that refuse too many.
   *
   * @param tiers all tiers
   * @return how many
   * @throws Unavailable if a tenant cannot be read, or it is not certain that a tier was changed
   */
  public long retreat(List<Tier> tiers, RecentMinutes recent, Invocation invocation) {
    List<Tier> armed =
        tiers.stream()
            .filter(tier -> tier.retreat().isPresent())
            .filter(tier -> !settledAt(tier, invocation).isAfter(recent.from()))
            .toList();
    if (armed.isEmpty()) {
      return 0;
    }
    Map<TierName, List<ConditionRules.Share>> shares =
        shares(recent.tenants(), recent.from(), invocation);
    return armed.stream()
        .filter(tier -> ConditionRules.mustRetreat(tier, of(tier, shares)))
        .filter(tier -> retreat(tier, of(tier, shares), invocation))
        .count();
  }

  private static List<ConditionRules.Share> of(
      Tier tier, Map<TierName, List<ConditionRules.Share>> shares) {
    return shares.getOrDefault(tier.name(), List.of());
  }

  /**
   * When the tier's version had reached its tenants, as far as this process knows: when it first
   * saw it rolled out, or some minutes after it first saw it, because a roll-out that cannot reach
   * a tenant stays open.
   */
  private Instant settledAt(Tier tier, Invocation invocation) {
    Instant now = invocation.clock().instant();
    Instant latest = now.plus(TierRollOut.isRolledOut(tier) ? Duration.ZERO : LONGEST_ROLL_OUT);
    return versions
        .compute(
            tier.name(),
            (name, before) ->
                before != null
                        && before.version() == tier.version()
                        && !before.settledAt().isAfter(latest)
                    ? before
                    : new Seen(tier.version(), latest))
        .settledAt();
  }

  /** The shares of the tenants whose rows could be read, by tier. */
  private Map<TierName, List<ConditionRules.Share>> shares(
      Map<TenantId, Counts> active, Instant from, Invocation invocation) {
    Map<TierName, List<ConditionRules.Share>> shares = new ConcurrentHashMap<>();
    var unused =
        parallel.count(
            active.entrySet(),
            each -> {
              // What was refused before the tenant was so does not count.
              Optional<Tenant> tenant =
                  known(each.getKey(), invocation)
                      .filter(read -> !read.since().isAfter(from))
                      .flatMap(Known::tenant);
              tenant.ifPresent(
                  found ->
                      shares
                          .computeIfAbsent(found.tier(), any -> new CopyOnWriteArrayList<>())
                          .add(ConditionRules.Share.of(found, each.getValue())));
              return tenant.isPresent();
            },
            invocation);
    return shares;
  }

  private boolean retreat(Tier tier, List<ConditionRules.Share> shares, Invocation invocation) {
    Tier next = tier.retreatedAt(invocation.clock().instant());
    TierChangeResult result =
        catalog.put(next, Optional.of(tier.version()), IfMatch.of(Optional.empty()), invocation);
    boolean done = result instanceof TierChangeResult.Applied;
    if (done) {
      ConditionRules.Share all =
          shares.stream().reduce(ConditionRules.Share.NONE, ConditionRules.Share::plus);
      invocation.log(
          MetricLine.retreat(
              invocation.clock().instant(), tier.name().value(), all.refused(), all.connections()));
    } else {
      invocation.log("tier " + tier.name() + " did not stop enforcing its limits: " + result);
    }
    return done;
  }

  private Optional<Tenant> tenant(TenantId id, Invocation invocation) {
    return known(id, invocation).flatMap(Known::tenant);
  }

  private Optional<Known> known(TenantId id, Invocation invocation) {
    Instant now = invocation.clock().instant();
    Optional<Known> before = Optional.ofNullable(known.get(id));
    if (before.filter(read -> now.isBefore(read.at().plus(KNOWN_FOR))).isPresent()) {
      return before;
    }
    Optional<Tenant> tenant = rows.tenants().find(id);
    Instant since = before.filter(read -> read.isLike(tenant)).map(Known::since).orElse(now);
    Known read = new Known(tenant, now, since);
    known.put(id, read);
    return Optional.of(read);
  }

  /**
   * A tenant as it was read.
   *
   * @param at when
   * @param since since when it has had this tier and these overrides, as far as this process knows
   */
  private record Known(Optional<Tenant> tenant, Instant at, Instant since) {
    boolean isLike(Optional<Tenant> other) {
      return tenant.map(Tenant::tier).equals(other.map(Tenant::tier))
          && tenant.map(Tenant::overrides).equals(other.map(Tenant::overrides));
    }
  }

  /**
   * A version of a tier.
   *
   * @param settledAt when it has reached its tenants
   */
  private record Seen(long version, Instant settledAt) {}
}
