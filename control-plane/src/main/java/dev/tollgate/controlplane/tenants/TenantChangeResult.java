package dev.tollgate.controlplane.tenants;

import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import java.util.Optional;

/** What became of a tenant that was to be onboarded, changed or offboarded. */
public sealed interface TenantChangeResult {
  /** It is desired now, and was not before. */
  record Onboarded(Tenant tenant, ReconcileOutcome outcome) implements TenantChangeResult {}

  /** It is desired as asked, now or already. */
  record Stands(Tenant tenant, ReconcileOutcome outcome) implements TenantChangeResult {}

  /** Something is desired that the request does not go together with; nothing was changed. */
  record StandsOtherwise(Tenant tenant, String reason) implements TenantChangeResult {}

  /** The request is not meant for the version that stands; nothing was changed. */
  record OtherVersion(Optional<Tenant> stands) implements TenantChangeResult {}

  /**
   * It would be written down so; nothing was changed.
   *
   * @param tier the tier that it would follow
   */
  record Planned(Tenant stands, Tenant next, Tier tier) implements TenantChangeResult {}

  /** It is being removed. */
  record Leaving(Tenant tenant, ReconcileOutcome.Pending outcome) implements TenantChangeResult {}

  /** There is no such tenant, now or already. */
  record NoTenant() implements TenantChangeResult {}

  /** There is no such tier; nothing was changed. */
  record NoTier(TierName name) implements TenantChangeResult {}
}
