package dev.tollgate.core.testing.memory;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.connect.AdmissionFacts;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.session.SessionId;

/** Reads facts from the other in-memory ports, without a cache. */
public final class InMemoryFacts implements AdmissionFactsReader {
  private final InMemoryTenants tenants;
  private final InMemorySessions sessions;
  private final InMemoryBuckets buckets;
  private final Outage outage = new Outage();

  /** Creates a reader of these ports. */
  public InMemoryFacts(
      InMemoryTenants tenants, InMemorySessions sessions, InMemoryBuckets buckets) {
    this.tenants = tenants;
    this.sessions = sessions;
    this.buckets = buckets;
  }

  /** The outage of reads. */
  public Outage outage() {
    return outage;
  }

  @Override
  public boolean tenantExists(TenantId tenant) {
    outage.check("tenantExists");
    return tenants.find(tenant).isPresent();
  }

  @Override
  public AdmissionFacts read(TenantId tenant, SessionId session) {
    outage.check("read");
    return new AdmissionFacts(
        tenants.find(tenant),
        sessions.find(tenant, session),
        sessions.count(tenant),
        buckets.find(new BucketId(tenant, Action.CONNECT)));
  }
}
