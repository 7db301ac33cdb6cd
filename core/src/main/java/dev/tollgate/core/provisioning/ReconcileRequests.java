package dev.tollgate.core.provisioning;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;

/** Has tenants reconciled that lack something which has been provisioned before. */
public final class ReconcileRequests {
  private final Tenants tenants;

  /** Requests for tenants that are written down in {@code tenants}. */
  public ReconcileRequests(Tenants tenants) {
    this.tenants = tenants;
  }

  /**
   * Writes down that the tenant is to be reconciled, which the sweep does within a minute. Harmless
   * if it is waiting for that already, or is being offboarded.
   *
   * @throws Unavailable if the tenant cannot be read or written
   */
  public void request(TenantId id) {
    tenants
        .find(id)
        .filter(Tenant::isSettled)
        .filter(tenant -> tenant.status() != TenantStatus.OFFBOARDING)
        .ifPresent(tenant -> tenants.replace(tenant.withNextVersion()));
  }
}
