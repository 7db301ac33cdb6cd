package dev.tollgate.core.provisioning;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;

/** Marks tenants for reconciliation because one of their resources is missing. */
public final class ReconcileRequests {
  private final Tenants tenants;

  /** Requests for the tenants in {@code tenants}. */
  public ReconcileRequests(Tenants tenants) {
    this.tenants = tenants;
  }

  /**
   * Marks a tenant as pending; the sweep reconciles it within a minute. Does nothing if the tenant
   * is pending already or being offboarded.
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
