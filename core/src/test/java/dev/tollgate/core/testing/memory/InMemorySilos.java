package dev.tollgate.core.testing.memory;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.provisioning.Silo;
import dev.tollgate.core.provisioning.Silos;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Silos in memory. */
public final class InMemorySilos implements Silos {
  private final Map<TenantId, Silo> rows = new HashMap<>();
  private final Outage outage = new Outage();

  /** The outage of reads and writes. */
  public Outage outage() {
    return outage;
  }

  /** All silos. */
  public synchronized Map<TenantId, Silo> all() {
    return Map.copyOf(rows);
  }

  @Override
  public synchronized Optional<Silo> find(TenantId tenant) {
    outage.check("find");
    return Optional.ofNullable(rows.get(tenant));
  }

  @Override
  public synchronized WriteResult open(Silo silo) {
    outage.check("open");
    return rows.putIfAbsent(silo.tenant(), silo) == null ? WriteResult.DONE : WriteResult.CONFLICT;
  }

  @Override
  public synchronized WriteResult replace(Silo next) {
    outage.check("replace");
    Silo before = rows.get(next.tenant());
    if (before == null || before.version() != next.version() - 1) {
      return WriteResult.CONFLICT;
    }
    rows.put(next.tenant(), next);
    return WriteResult.DONE;
  }

  @Override
  public synchronized WriteResult remove(TenantId tenant, long version) {
    outage.check("remove");
    Silo before = rows.get(tenant);
    if (before != null && before.version() != version) {
      return WriteResult.CONFLICT;
    }
    rows.remove(tenant);
    return WriteResult.DONE;
  }
}
