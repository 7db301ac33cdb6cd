package dev.tollgate.core.connect;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.Connections;

/**
 * Where it is written down how many connections of a tenant were admitted and refused. Both totals
 * belong to the tenant's count: {@link Connections#countUp} adds to those admitted, and they go by
 * {@link Connections#deleteCount}. Every method throws {@link Unavailable} if that could not be
 * asked.
 */
public interface Activity {
  /**
   * Adds connections that were refused, and by the same write notes when one was refused because
   * too many were open; nothing is written for a tenant without a count. If it throws, they may
   * have been added or not.
   */
  void addRefused(TenantId tenant, Refusals refusals);

  /**
   * What is written down of a tenant's connections and buckets, by one consistent request; all
   * zeros and no buckets if there is nothing.
   */
  TenantActivity of(TenantId tenant);
}
