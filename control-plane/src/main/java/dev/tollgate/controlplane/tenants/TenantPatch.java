package dev.tollgate.controlplane.tenants;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import java.util.Optional;

/**
 * A requested change of a tenant. Empty members stay as they are.
 *
 * @param tier the new tier
 * @param overrides all overrides after the change
 * @param status the new status
 */
public record TenantPatch(
    Optional<TierName> tier, Optional<Overrides> overrides, Optional<TenantStatus> status) {
  /**
   * The tenant after the change.
   *
   * @param tier the tenant's tier after the change
   * @throws InvalidValue if an override is out of range
   */
  Tenant applied(Tenant current, Tier tier) {
    return current.changed(
        tier, overrides.orElse(current.overrides()), status.orElse(current.status()));
  }
}
