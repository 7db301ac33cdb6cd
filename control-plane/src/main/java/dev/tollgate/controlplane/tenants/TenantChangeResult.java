package dev.tollgate.controlplane.tenants;

import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import java.util.Optional;

/** The result of a request to onboard, change or offboard a tenant. */
public sealed interface TenantChangeResult {
  /** The tenant is new. */
  record Onboarded(Tenant tenant, ReconcileOutcome outcome) implements TenantChangeResult {}

  /** The tenant is as requested, since this request or since before. */
  record Applied(Tenant tenant, ReconcileOutcome outcome) implements TenantChangeResult {}

  /**
   * The tenant's current state conflicts with the request; nothing was changed.
   *
   * @param reason the conflict and what the caller can do, in sentences
   */
  record Conflict(Tenant tenant, String reason) implements TenantChangeResult {}

  /**
   * The request does not name the tenant's current version; nothing was changed.
   *
   * @param current the current tenant; empty if there is none
   */
  record VersionMismatch(Optional<Tenant> current) implements TenantChangeResult {}

  /**
   * The change is possible; nothing was changed.
   *
   * @param planned the tenant after the change
   * @param tier the tier of {@code planned}
   */
  record Planned(Tenant current, Tenant planned, Tier tier) implements TenantChangeResult {}

  /** The tenant can be offboarded; nothing was changed. */
  record Removable(Tenant current) implements TenantChangeResult {}

  /** The places in the tenant's lines are void. */
  record LineCleared(Tenant tenant) implements TenantChangeResult {}

  /** The tenant is being removed, and some of it is left. */
  record Offboarding(Tenant tenant, ReconcileOutcome.Pending outcome)
      implements TenantChangeResult {}

  /** The tenant does not exist or has been removed. */
  record TenantNotFound() implements TenantChangeResult {}

  /** The requested tier does not exist; nothing was changed. */
  record TierNotFound(TierName name) implements TenantChangeResult {}
}
