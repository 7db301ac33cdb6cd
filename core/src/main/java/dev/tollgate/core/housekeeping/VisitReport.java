package dev.tollgate.core.housekeeping;

import dev.tollgate.core.TenantId;
import java.util.Optional;

/**
 * The result of a visit to a tenant.
 *
 * @param tenant the tenant
 * @param sessionsEnded the number of ended sessions
 * @param connectionsDropped the number of dropped connections
 * @param drift the corrected drift: positive if the count was too high, negative if it was too low
 * @param failure why some work is left to the next visit, if any is
 */
public record VisitReport(
    TenantId tenant,
    long sessionsEnded,
    long connectionsDropped,
    long drift,
    Optional<String> failure) {
  /** This report and a later one of the same tenant, added up. */
  VisitReport and(VisitReport later) {
    return new VisitReport(
        tenant,
        sessionsEnded + later.sessionsEnded,
        connectionsDropped + later.connectionsDropped,
        drift + later.drift,
        failure.or(later::failure));
  }

  /** Whether the visit changed anything. */
  public boolean changedSomething() {
    return sessionsEnded != 0 || connectionsDropped != 0 || drift != 0;
  }
}
