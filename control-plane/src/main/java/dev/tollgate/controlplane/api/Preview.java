package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.api.LimitReplay.Replayed;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.tenants.TenantChangeResult;
import dev.tollgate.controlplane.tiers.TierChangeResult;
import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.http.Cursor;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Renders previews of changes: how tenants and tiers would change, and which tenants use more than
 * the change allows. It takes the current usage from the counts and levels in rows, and writes
 * nothing. On request it also {@linkplain LimitReplay replays} the recorded minutes.
 *
 * <p>The preview of a tier has pages of tenants. Its totals are those of the page. A page with a
 * replay may end early, because its time is limited.
 */
final class Preview {
  private final Ports ports;
  private final LimitReplay replays;
  private final ParallelTasks parallel;

  Preview(Ports ports, LimitReplay replays, ParallelTasks parallel) {
    this.ports = ports;
    this.replays = replays;
    this.parallel = parallel;
  }

  /**
   * Previews the change of a tenant.
   *
   * @param replay the time to replay; empty for none
   * @throws Unavailable if the tenant's connections or buckets cannot be read
   */
  Map<String, Object> of(
      TenantChangeResult.Planned planned, Optional<Duration> replay, Invocation invocation) {
    PlannedTenant tenant = new PlannedTenant(planned.current(), planned.planned());
    Map<String, Object> document =
        document(
            tenant.changes() ? ChangeType.CHANGED : ChangeType.UNCHANGED,
            planned.current().version());
    Optional<Replayed> replayed =
        replay.map(length -> replays.of(List.of(tenant), List.of(), length, invocation));
    putTenants(document, List.of(tenant), invocation);
    replayed.ifPresent(of -> document.put("replay", of.document()));
    return document;
  }

  /**
   * Previews the change of a tier, and of one page of its tenants.
   *
   * @param cursor the end of the previous page; empty for the first page
   * @param limit the most tenants on the page
   * @param replay the time to replay; empty for none
   * @throws Unavailable if a tenant cannot be read, or the time runs out
   */
  Map<String, Object> of(
      TierChangeResult.Planned planned,
      Optional<String> cursor,
      int limit,
      Optional<Duration> replay,
      Invocation invocation) {
    Tier tier = planned.planned();
    Page<Tenant> page =
        planned.current().isPresent()
            ? ports.tenants().inTier(tier.name(), cursor, limit)
            : new Page<>(List.of(), Optional.empty());
    Map<String, Object> before = planned.current().map(Documents::of).orElse(Map.of());
    Map<String, Object> document =
        document(changeType(planned), planned.current().map(Tier::version).orElse(0L));
    document.put("tier", tier.name().value());
    document.put("changes", changes(before, Documents.of(tier)));
    Optional<Instant> opening = opening(planned, invocation.clock().instant());
    List<PlannedTenant> tenants =
        page.items().stream()
            .filter(tenant -> tenant.status() != TenantStatus.OFFBOARDING)
            .map(tenant -> new PlannedTenant(tenant, withTier(tier, tenant, opening)))
            .toList();
    Optional<Replayed> replayed =
        replay.map(length -> replays.of(tenants, altered(planned), length, invocation));
    int end = replayed.map(Replayed::tenants).orElse(tenants.size());
    putTenants(document, tenants.subList(0, end), invocation);
    replayed.ifPresent(of -> document.put("replay", of.document()));
    Optional<String> next =
        end < tenants.size()
            ? Optional.of(tenants.get(end - 1).current().id().value())
            : page.next();
    next.ifPresent(after -> document.put("next", Cursor.encode(listing(tier.name()), after)));
    return document;
  }

  private static List<Limit> altered(TierChangeResult.Planned planned) {
    return planned
        .current()
        .map(current -> LimitReplay.altered(current, planned.planned()))
        .orElse(List.of());
  }

  /** The name of the listing of a tier's tenants, to which cursors are bound. */
  static String listing(TierName tier) {
    return "tenants of tier " + tier;
  }

  /** When a window opens that the plan shows as open; now if it has begun. */
  private static Optional<Instant> opening(TierChangeResult.Planned planned, Instant now) {
    Optional<LimitSchedule> open = planned.current().flatMap(tier -> tier.schedules().open());
    return planned
        .planned()
        .schedules()
        .open()
        .filter(window -> !open.equals(Optional.of(window)))
        .map(LimitSchedule::opensAt)
        .map(at -> at.isAfter(now) ? at : now);
  }

  /** A tenant under a tier; when a window of the tier opens, with its own windows of that time. */
  private static Tenant withTier(Tier tier, Tenant tenant, Optional<Instant> opening) {
    Overrides overrides = tenant.overrides();
    return tenant.changed(
        tier,
        opening.map(at -> overrides.with(overrides.schedules().openAt(at))).orElse(overrides),
        tenant.status());
  }

  private static ChangeType changeType(TierChangeResult.Planned planned) {
    if (planned.current().isEmpty()) {
      return ChangeType.CREATED;
    }
    return planned.changesNothing() ? ChangeType.UNCHANGED : ChangeType.CHANGED;
  }

  /** Previews the removal of a tier without tenants. */
  Map<String, Object> of(TierChangeResult.Removable removable, Invocation invocation) {
    Tier tier = removable.current();
    Map<String, Object> document = document(ChangeType.REMOVED, tier.version());
    document.put("tier", tier.name().value());
    document.put("changes", changes(Documents.of(tier), Map.of()));
    putTenants(document, List.of(), invocation);
    return document;
  }

  /**
   * Previews the removal of a tenant.
   *
   * @throws Unavailable if the tenant's connections or buckets cannot be read
   */
  Map<String, Object> of(TenantChangeResult.Removable removable, Invocation invocation) {
    Tenant tenant = removable.current();
    Map<String, Object> document = document(ChangeType.REMOVED, tenant.version());
    putTenants(document, 1, parallel.map(List.of(tenant), this::removal, invocation));
    return document;
  }

  /** Previews the removal of a tenant that does not exist. */
  static Map<String, Object> ofMissingTenant() {
    Map<String, Object> document = document(ChangeType.UNCHANGED, 0);
    putTenants(document, 0, List.of());
    return document;
  }

  private static Map<String, Object> document(ChangeType type, long version) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("dryRun", true);
    document.put("outcome", type.name());
    document.put("version", version);
    return document;
  }

  /** The differences between two documents of a tier or a tenant, without version, name and id. */
  private static Map<String, Object> changes(
      Map<String, Object> before, Map<String, Object> after) {
    Map<String, Object> changes = Differences.between(before, after);
    changes.remove("version");
    changes.remove("retreatedAt");
    changes.remove("tenantId");
    if (!before.containsKey("tenantId")) {
      changes.remove("tier");
    }
    return changes;
  }

  private void putTenants(
      Map<String, Object> document, List<PlannedTenant> tenants, Invocation invocation) {
    List<PlannedTenant> changed = tenants.stream().filter(PlannedTenant::changes).toList();
    putTenants(document, tenants.size(), parallel.map(changed, this::preview, invocation));
  }

  private static void putTenants(
      Map<String, Object> document, int tenants, List<TenantPreview> changed) {
    document.put("tenants", changed.stream().map(TenantPreview::document).toList());
    Map<String, Object> totals = new LinkedHashMap<>();
    totals.put("tenants", (long) tenants);
    totals.put("changed", (long) changed.size());
    for (Consequence.Type type : Consequence.Type.values()) {
      totals.put(type.total(), changed.stream().filter(tenant -> tenant.has(type)).count());
    }
    document.put("totals", totals);
  }

  private TenantPreview preview(PlannedTenant tenant) {
    Tenant current = tenant.current();
    return preview(
        current, withTierSettings(tenant.planned()), consequences(current, tenant.planned()));
  }

  private TenantPreview removal(Tenant tenant) {
    return preview(tenant, Map.of(), consequencesOfRemoval(tenant));
  }

  private static TenantPreview preview(
      Tenant current, Map<String, Object> after, List<Consequence> consequences) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenantId", current.id().value());
    document.put("version", current.version());
    document.put("changes", changes(withTierSettings(current), after));
    document.put("consequences", consequences.stream().map(Consequence::document).toList());
    return new TenantPreview(document, consequences);
  }

  /** A tenant's document with the settings that follow from its tier. */
  private static Map<String, Object> withTierSettings(Tenant tenant) {
    Map<String, Object> buckets = new LinkedHashMap<>();
    tenant.buckets().forEach((action, spec) -> buckets.put(action.value(), bucket(spec)));
    Map<String, Object> document = new LinkedHashMap<>(Documents.of(tenant));
    document.put("buckets", buckets);
    document.put("onUnavailable", tenant.onUnavailable().name());
    return document;
  }

  private static Map<String, Object> bucket(BucketSpec spec) {
    Map<String, Object> document = new LinkedHashMap<>();
    Documents.putRefill(document, spec.refill());
    document.put("capacity", spec.capacity());
    document.put("fillMode", spec.fillPolicy().mode().name());
    document.put("hibernateAfterMinutes", spec.fillPolicy().hibernateAfterMinutes());
    return document;
  }

  private List<Consequence> consequences(Tenant current, Tenant planned) {
    List<Consequence> consequences = new ArrayList<>();
    long open = ports.connections().count(current.id());
    if (planned.status() == TenantStatus.SUSPENDED) {
      if (current.status() != TenantStatus.SUSPENDED && open > 0) {
        consequences.add(Consequence.disconnected(open));
      }
      return consequences;
    }
    long limit = planned.limits().bound(Limit.TENANT_CONNECTIONS);
    if (open > limit) {
      consequences.add(Consequence.overLimit(Limit.TENANT_CONNECTIONS, limit, open));
    }
    for (Bucket row : ports.buckets().list(current.id()).buckets()) {
      Optional.ofNullable(planned.buckets().get(row.id().action()))
          .filter(spec -> row.level() > spec.capacity())
          .ifPresent(spec -> consequences.add(Consequence.trimmed(row, spec)));
    }
    return consequences;
  }

  private List<Consequence> consequencesOfRemoval(Tenant tenant) {
    List<Consequence> consequences = new ArrayList<>();
    long open = ports.connections().count(tenant.id());
    if (open > 0) {
      consequences.add(Consequence.disconnected(open));
    }
    consequences.add(
        Consequence.removed(tenant.isolation(), ports.buckets().list(tenant.id()).buckets()));
    return consequences;
  }

  /** How a tier or a tenant would change. */
  private enum ChangeType {
    CREATED,
    CHANGED,
    UNCHANGED,
    REMOVED
  }

  /** A tenant before and after the change. */
  record PlannedTenant(Tenant current, Tenant planned) {
    boolean changes() {
      return !planned.hasSameDesiredStateAs(current);
    }
  }

  /** The part of a preview about one tenant. */
  private record TenantPreview(Map<String, Object> document, List<Consequence> consequences) {
    boolean has(Consequence.Type type) {
      return consequences.stream().anyMatch(consequence -> consequence.type() == type);
    }
  }
}
