package dev.tollgate.core.testing;

import dev.tollgate.core.tenant.Tenants;

class InMemoryTenantsTest extends TenantsContract {
  private final InMemoryTenants tenants = new InMemoryTenants();

  @Override
  protected Tenants tenants() {
    return tenants;
  }
}
