package dev.tollgate.controlplane.api;

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
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.http.Cursor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Tells what a change would come to: what would be written down of which tenants, and who has more
 * than that allows, by the counts and levels that are written down. Only reads.
 *
 * <p>A tier's tenants are told part by part; the totals are those of the part.
 */
public final class Preview {
  private final Ports ports;
  private final ParallelTasks crew;

  public Preview(Ports ports, ParallelTasks crew) {
    this.ports = ports;
    this.crew = crew;
  }

  /**
   * What a change of one tenant would come to.
   *
   * @throws Unavailable if its connections or its buckets cannot be asked for
   */
  public Map<String, Object> of(TenantChangeResult.Planned planned, Invocation invocation) {
    Became became = new Became(planned.stands(), planned.next());
    Map<String, Object> document =
        document(became.isChange() ? Effect.CHANGED : Effect.UNCHANGED, planned.stands().version());
    putTenants(document, List.of(became), invocation);
    return document;
  }

  /**
   * What a change of a tier would come to, for itself and for the tenants of one part.
   *
   * @param cursor what follows the part before
   * @param most the most tenants of a part
   * @throws Unavailable if something of a tenant cannot be asked for, or there is no time
   */
  public Map<String, Object> of(
      TierChangeResult.Planned planned, Optional<String> cursor, int most, Invocation invocation) {
    Tier next = planned.next();
    Page<Tenant> page =
        planned.stands().isPresent()
            ? ports.tenants().inTier(next.name(), cursor, most)
            : new Page<>(List.of(), Optional.empty());
    Map<String, Object> before = planned.stands().map(Documents::of).orElse(Map.of());
    Map<String, Object> document =
        document(effect(planned), planned.stands().map(Tier::version).orElse(0L));
    document.put("tier", next.name().value());
    document.put("changes", changes(before, Documents.of(next)));
    List<Became> tenants =
        page.items().stream()
            .filter(tenant -> tenant.status() != TenantStatus.OFFBOARDING)
            .map(tenant -> new Became(tenant, under(next, tenant)))
            .toList();
    putTenants(document, tenants, invocation);
    page.next().ifPresent(end -> document.put("next", Cursor.encode(listing(next.name()), end)));
    return document;
  }

  /** What the parts of a tier's tenants are parts of. */
  public static String listing(TierName tier) {
    return "tenants of tier " + tier;
  }

  private static Tenant under(Tier tier, Tenant tenant) {
    return tenant.changed(tier, tenant.overrides(), tenant.status());
  }

  private static Effect effect(TierChangeResult.Planned planned) {
    if (planned.stands().isEmpty()) {
      return Effect.CREATED;
    }
    return planned.changesNothing() ? Effect.UNCHANGED : Effect.CHANGED;
  }

  /** What the removal of a tier that no tenant has would come to. */
  public Map<String, Object> of(TierChangeResult.Removable removable, Invocation invocation) {
    Tier tier = removable.stands();
    Map<String, Object> document = document(Effect.REMOVED, tier.version());
    document.put("tier", tier.name().value());
    document.put("changes", changes(Documents.of(tier), Map.of()));
    putTenants(document, List.of(), invocation);
    return document;
  }

  private static Map<String, Object> document(Effect effect, long version) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("dryRun", true);
    document.put("outcome", effect.name());
    document.put("version", version);
    return document;
  }

  /** What differs of a tier or a tenant, versions and names apart. */
  private static Map<String, Object> changes(
      Map<String, Object> before, Map<String, Object> after) {
    Map<String, Object> changes = Differences.between(before, after);
    changes.remove("version");
    if (!before.containsKey("tenantId")) {
      changes.remove("tier");
    }
    return changes;
  }

  private void putTenants(
      Map<String, Object> document, List<Became> tenants, Invocation invocation) {
    List<Became> changed = tenants.stream().filter(Became::isChange).toList();
    List<Told> told = crew.map(changed, this::told, invocation);
    document.put("tenants", told.stream().map(Told::document).toList());
    Map<String, Object> totals = new LinkedHashMap<>();
    totals.put("tenants", (long) tenants.size());
    totals.put("changed", (long) changed.size());
    for (Consequence.Kind kind : Consequence.Kind.values()) {
      totals.put(kind.total(), told.stream().filter(tenant -> tenant.meets(kind)).count());
    }
    document.put("totals", totals);
  }

  private Told told(Became became) {
    Tenant stands = became.stands();
    List<Consequence> consequences = consequences(stands, became.next());
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenantId", stands.id().value());
    document.put("version", stands.version());
    document.put("changes", changes(whole(stands), whole(became.next())));
    document.put("consequences", consequences.stream().map(Consequence::document).toList());
    return new Told(document, consequences);
  }

  /** A tenant's document with all that follows from its tier. */
  private static Map<String, Object> whole(Tenant tenant) {
    Map<String, Object> buckets = new LinkedHashMap<>();
    tenant.buckets().forEach((action, spec) -> buckets.put(action.value(), bucket(spec)));
    Map<String, Object> document = new LinkedHashMap<>(Documents.of(tenant));
    document.put("buckets", buckets);
    document.put("onUnavailable", tenant.onUnavailable().name());
    return document;
  }

  private static Map<String, Object> bucket(BucketSpec spec) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("ratePerMinute", spec.rate().tokensPerMinute());
    document.put("capacity", spec.capacity());
    document.put("fillMode", spec.filling().mode().name());
    document.put("hibernateAfterMinutes", spec.filling().hibernateAfterMinutes());
    return document;
  }

  private List<Consequence> consequences(Tenant stands, Tenant next) {
    List<Consequence> consequences = new ArrayList<>();
    long open = ports.connections().count(stands.id());
    if (next.status() == TenantStatus.SUSPENDED) {
      if (stands.status() != TenantStatus.SUSPENDED && open > 0) {
        consequences.add(Consequence.disconnected(open));
      }
      return consequences;
    }
    long places = next.limits().get(Limit.TENANT_CONNECTIONS);
    if (open > places) {
      consequences.add(Consequence.overLimit(Limit.TENANT_CONNECTIONS, places, open));
    }
    for (Bucket row : ports.buckets().list(stands.id()).buckets()) {
      Optional.ofNullable(next.buckets().get(row.id().action()))
          .filter(spec -> row.level() > spec.capacity())
          .ifPresent(spec -> consequences.add(Consequence.trimmed(row, spec)));
    }
    return consequences;
  }

  /** What a tier or a tenant would be. */
  private enum Effect {
    CREATED,
    CHANGED,
    UNCHANGED,
    REMOVED
  }

  /** A tenant as it stands, and as it would. */
  private record Became(Tenant stands, Tenant next) {
    boolean isChange() {
      return !next.desiresTheSameAs(stands);
    }
  }

  private record Told(Map<String, Object> document, List<Consequence> consequences) {
    boolean meets(Consequence.Kind kind) {
      return consequences.stream().anyMatch(consequence -> consequence.kind() == kind);
    }
  }
}
