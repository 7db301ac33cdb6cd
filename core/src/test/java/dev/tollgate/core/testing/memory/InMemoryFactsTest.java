package dev.tollgate.core.testing.memory;

import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.testing.contract.FactsReaderContract;

class InMemoryFactsTest extends FactsReaderContract {
  private final InMemoryTenants tenants = new InMemoryTenants();
  private final InMemorySessions sessions = new InMemorySessions();
  private final InMemoryBuckets buckets = new InMemoryBuckets();

  @Override
  protected AdmissionFactsReader reader() {
    return new InMemoryFacts(tenants, sessions, buckets);
  }

  @Override
  protected Tenants tenants() {
    return tenants;
  }

  @Override
  protected Buckets buckets() {
    return buckets;
  }

  @Override
  protected Sessions sessions() {
    return sessions;
  }

  @Override
  protected Connections connections() {
    return sessions;
  }
}
