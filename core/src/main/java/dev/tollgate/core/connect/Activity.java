package dev.tollgate.core.connect;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.Connections;

/**
 * Stores how many connections of a tenant were admitted and refused. Both totals are part of the
 * tenant's count: {@link Connections#countUp} adds admitted connections, and {@link
 * Connections#deleteCount} deletes the totals. Every method throws {@link Unavailable} if the store
 * fails.
 */
public interface Activity {
  /**
   * Adds refused connections, and with the same write stores when one was last refused because too
   * many were open. Does nothing for a tenant without a count. If it throws, the refusals may have
   * been added.
   */
  void addRefused(TenantId tenant, RefusalCounts refusals);

  /**
   * The totals and buckets of a tenant, read consistently with one request; zeros and no buckets if
   * nothing is stored.
   */
  TenantActivity of(TenantId tenant);
}
