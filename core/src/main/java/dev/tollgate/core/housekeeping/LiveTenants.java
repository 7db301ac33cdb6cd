package dev.tollgate.core.housekeeping;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The tenants that may have sessions. A tenant is added when it creates a session, and removed when
 * it has no session left. Every method throws {@link Unavailable} if the store fails.
 */
public interface LiveTenants {
  /**
   * The first live tenants after {@code after}, or the first of all, in the order of their ids'
   * characters, eventually consistent. There are fewer than {@code max} only if no more follow.
   */
  List<TenantId> list(Optional<TenantId> after, int max);

  /**
   * The theoretical arrival time of the tenant's next session, read consistently; empty if the
   * tenant is not live. Each created session moves it; the last session was created before it.
   */
  Optional<Instant> nextArrival(TenantId tenant);

  /**
   * Removes a tenant and its session rate, if it has created no session since {@link #nextArrival}
   * was read.
   */
  WriteResult remove(TenantId tenant, Instant arrival);
}
