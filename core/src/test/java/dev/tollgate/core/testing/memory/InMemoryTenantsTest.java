package dev.tollgate.core.testing.memory;

import dev.tollgate.core.audit.AuditNotes;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.testing.contract.TenantsContract;

class InMemoryTenantsTest extends TenantsContract {
  private final InMemoryTenants tenants = new InMemoryTenants();

  @Override
  protected Tenants tenants() {
    return tenants;
  }

  @Override
  protected AuditNotes notes() {
    return tenants;
  }
}
