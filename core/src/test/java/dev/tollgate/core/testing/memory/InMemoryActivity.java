package dev.tollgate.core.testing.memory;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Activity;
import dev.tollgate.core.connect.RefusalCounts;
import dev.tollgate.core.connect.TenantActivity;

/** Reads activity from the other in-memory ports. */
public final class InMemoryActivity implements Activity {
  private final InMemorySessions sessions;
  private final InMemoryBuckets buckets;
  private final Outage outage = new Outage();

  /** Creates activity that reads these sessions and buckets. */
  public InMemoryActivity(InMemorySessions sessions, InMemoryBuckets buckets) {
    this.sessions = sessions;
    this.buckets = buckets;
  }

  /** The outage that reads and writes of activity check. */
  public Outage outage() {
    return outage;
  }

  @Override
  public void addRefused(TenantId tenant, RefusalCounts refusals) {
    outage.check("addRefused");
    sessions.addRefused(tenant, refusals);
  }

  @Override
  public TenantActivity of(TenantId tenant) {
    outage.check("of");
    InMemorySessions.Count count = sessions.totals(tenant);
    return new TenantActivity(
        count.open(),
        count.admitted(),
        count.withoutToken(),
        count.admittedLastAt(),
        count.refused(),
        buckets.readableOf(tenant));
  }
}
