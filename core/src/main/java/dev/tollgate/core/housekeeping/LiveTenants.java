package dev.tollgate.core.housekeeping;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The tenants that may have sessions: one that takes a turn to open one is among them, until it is
 * found to have none and is struck off. Every method throws {@link Unavailable} if that could not
 * be asked.
 */
public interface LiveTenants {
  /** All of them, in no order. A second behind. */
  List<TenantId> list();

  /**
   * When a tenant's next session would come if all came evenly, read consistently; empty if it is
   * not live. Each turn moves it on, and its last turn was before it.
   */
  Optional<Instant> nextArrival(TenantId tenant);

  /**
   * Strikes a tenant off and forgets its turns, if it has taken none since that {@link
   * #nextArrival} was read.
   */
  WriteResult remove(TenantId tenant, Instant arrival);
}
