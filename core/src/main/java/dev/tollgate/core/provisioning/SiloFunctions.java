package dev.tollgate.core.provisioning;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.tenant.Release;

/**
 * The functions of silos and their event source mappings. Every method throws {@link Unavailable}
 * if Lambda fails.
 */
public interface SiloFunctions {
  /** Creates the tenant's function or updates it to this release. Done when it can be invoked. */
  Progress ensure(TenantId tenant, Release release);

  /**
   * Connects the function to the tenant's queue; both must exist. Done when the connection is
   * enabled.
   */
  Progress attach(TenantId tenant);

  /** Disconnects the function from the queue, if it is connected. */
  Progress detach(TenantId tenant);

  /** Deletes the tenant's function, if it exists. */
  Progress delete(TenantId tenant);

  /** The account's quotas, for silo functions of this release. */
  FunctionQuotas quotas(Release release);
}
