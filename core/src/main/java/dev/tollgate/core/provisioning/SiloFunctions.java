package dev.tollgate.core.provisioning;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.tenant.Release;

/**
 * The functions that tenants have for their messages alone, and what feeds them from the tenants'
 * queues. Every method throws {@link Unavailable} if that could not be asked.
 */
public interface SiloFunctions {
  /**
   * Makes the tenant's function, or brings the one that is there to this release. Done when it can
   * be invoked.
   */
  Progress ensure(TenantId tenant, Release release);

  /**
   * Has the function fed from the tenant's queue, both of which are there. Done when it will be
   * fed.
   */
  Progress attach(TenantId tenant);

  /** Has the function fed no more; harmless if it is not. */
  Progress detach(TenantId tenant);

  /** Deletes the tenant's function; harmless if there is none. */
  Progress delete(TenantId tenant);
}
