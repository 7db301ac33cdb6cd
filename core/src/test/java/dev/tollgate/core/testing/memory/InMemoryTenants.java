package dev.tollgate.core.testing.memory;

import dev.tollgate.core.NewerRow;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.audit.AuditNotes;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantFilter;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.TierName;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/** Tenants in memory. Lists are sorted by name and have one page. */
public final class InMemoryTenants implements Tenants, AuditNotes {
  private final TreeMap<String, Tenant> rows = new TreeMap<>();
  private final Outage outage = new Outage();
  private final List<String> notes = new ArrayList<>();
  private final Set<TenantId> newer = new HashSet<>();

  /** Replaces the row of a tenant with one of a newer release, which cannot be read. */
  public synchronized void writeByNewerRelease(TenantId id) {
    newer.add(id);
  }

  /** Ends {@link #writeByNewerRelease}. */
  public synchronized void writeByThisRelease(TenantId id) {
    newer.remove(id);
  }

  private void check(TenantId id) {
    if (newer.contains(id)) {
      throw newer(id);
    }
  }

  private static NewerRow newer(TenantId id) {
    return new NewerRow("tenant", id.value(), 2, 1);
  }

  /** The outage of reads and writes. */
  public Outage outage() {
    return outage;
  }

  @Override
  public synchronized Optional<Tenant> find(TenantId id) {
    outage.check("find");
    check(id);
    return Optional.ofNullable(rows.get(id.value()));
  }

  @Override
  public synchronized WriteResult create(Tenant tenant) {
    outage.check("create");
    boolean isNew = rows.putIfAbsent(tenant.id().value(), tenant) == null;
    return isNew ? WriteResult.DONE : WriteResult.CONFLICT;
  }

  @Override
  public synchronized WriteResult replace(Tenant next) {
    outage.check("replace");
    Tenant before = rows.get(next.id().value());
    if (before == null || before.version() != next.version() - 1) {
      return WriteResult.CONFLICT;
    }
    rows.put(next.id().value(), next);
    return WriteResult.DONE;
  }

  @Override
  public synchronized void markObserved(TenantId id, long version) {
    outage.check("markObserved");
    rows.computeIfPresent(
        id.value(), (name, tenant) -> tenant.version() == version ? tenant.inEffect() : tenant);
  }

  @Override
  public synchronized void note(TenantId id, ChangeType what, Map<String, String> details) {
    outage.check("note");
    if (rows.containsKey(id.value())) {
      notes.add(id + " " + what.label() + " " + new TreeMap<>(details));
    }
  }

  /** All notes, as tenant, type and details. */
  public synchronized List<String> notes() {
    return List.copyOf(notes);
  }

  @Override
  public synchronized WriteResult remove(TenantId id, long version) {
    outage.check("remove");
    Tenant before = rows.get(id.value());
    if (before != null && before.version() != version) {
      return WriteResult.CONFLICT;
    }
    rows.remove(id.value());
    return WriteResult.DONE;
  }

  @Override
  public synchronized Page<Tenant> list(Optional<String> cursor, int max) {
    outage.check("list");
    return page(tenant -> true, cursor, max);
  }

  @Override
  public synchronized Page<Tenant> search(TenantFilter filter, Optional<String> cursor, int max) {
    outage.check("search");
    return page(filter::matches, cursor, max);
  }

  @Override
  public synchronized Page<Tenant> inTier(TierName tier, Optional<String> cursor, int max) {
    outage.check("inTier");
    return page(tenant -> tenant.tier().equals(tier), cursor, max);
  }

  @Override
  public synchronized List<TenantId> listPending(Optional<TenantId> after, int max) {
    outage.check("listPending");
    return rows.tailMap(after.map(TenantId::value).orElse(""), false).values().stream()
        .filter(tenant -> !tenant.isSettled())
        .limit(max)
        .map(Tenant::id)
        .toList();
  }

  @Override
  public synchronized List<TenantId> listDue(Instant now, int max) {
    outage.check("listDue");
    return rows.values().stream()
        .filter(tenant -> tenant.status() != TenantStatus.OFFBOARDING)
        .filter(tenant -> tenant.overrides().schedules().isDue(now))
        .sorted(
            Comparator.comparing(
                tenant -> tenant.overrides().schedules().nextChange().orElseThrow()))
        .limit(max)
        .map(Tenant::id)
        .toList();
  }

  private Page<Tenant> page(Predicate<Tenant> wanted, Optional<String> cursor, int max) {
    List<Tenant> rest =
        rows.tailMap(cursor.orElse(""), false).values().stream().filter(wanted).toList();
    List<Tenant> part = rest.subList(0, Math.min(max, rest.size()));
    return new Page<>(
        part.stream().filter(tenant -> !newer.contains(tenant.id())).toList(),
        part.size() == rest.size() ? Optional.empty() : Optional.of(part.get(max - 1).id().value()),
        part.stream()
            .map(Tenant::id)
            .filter(newer::contains)
            .<UnreadableRow>map(InMemoryTenants::newer)
            .toList());
  }
}
