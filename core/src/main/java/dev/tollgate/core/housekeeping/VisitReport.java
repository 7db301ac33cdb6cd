package dev.tollgate.core.housekeeping;

import dev.tollgate.core.TenantId;
import java.util.Optional;

/**
 * What the housekeeping did for a tenant.
 *
 * @param tenant whose house was kept
 * @param sessionsEnded its sessions that were ended
 * @param connectionsDropped its connections that were found closed
 * @param drift what its count was off by: how many too many were counted, or, below none, too few
 * @param failure why something was left to the next visit, if anything was
 */
public record VisitReport(
    TenantId tenant,
    long sessionsEnded,
    long connectionsDropped,
    long drift,
    Optional<String> failure) {
  /** Whether anything had to be done. */
  public boolean changedSomething() {
    return sessionsEnded != 0 || connectionsDropped != 0 || drift != 0;
  }
}
