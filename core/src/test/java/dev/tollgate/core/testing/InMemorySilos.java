package dev.tollgate.core.testing;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Written;
import dev.tollgate.core.provisioning.Silo;
import dev.tollgate.core.provisioning.Silos;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Silos in memory. */
public final class InMemorySilos implements Silos {
  private final Map<TenantId, Silo> rows = new HashMap<>();
  private final Outage outage = new Outage();

  /** What stops silos from being read and written. */
  public Outage outage() {
    return outage;
  }

  /** Every silo. */
  public synchronized Map<TenantId, Silo> all() {
    return Map.copyOf(rows);
  }

  @Override
  public synchronized Optional<Silo> find(TenantId tenant) {
    outage.check("find");
    return Optional.ofNullable(rows.get(tenant));
  }

  @Override
  public synchronized Written open(Silo silo) {
    outage.check("open");
    return rows.putIfAbsent(silo.tenant(), silo) == null ? Written.DONE : Written.OVERTAKEN;
  }

  @Override
  public synchronized Written replace(Silo next) {
    outage.check("replace");
    Silo before = rows.get(next.tenant());
    if (before == null || before.version() != next.version() - 1) {
      return Written.OVERTAKEN;
    }
    rows.put(next.tenant(), next);
    return Written.DONE;
  }

  @Override
  public synchronized Written remove(TenantId tenant, long version) {
    outage.check("remove");
    Silo before = rows.get(tenant);
    if (before != null && before.version() != version) {
      return Written.OVERTAKEN;
    }
    rows.remove(tenant);
    return Written.DONE;
  }
}
