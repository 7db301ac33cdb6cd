package dev.tollgate.core.connect;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.OnUnavailable;
import java.time.Instant;
import java.util.Optional;

/**
 * What the authorizer passes to the registration of a connection, which then needs no read.
 *
 * @param tenant the tenant of the connection
 * @param session the session that it joins
 * @param tenantConnections the most connections of the tenant
 * @param connectionsPerSession the most connections of the session
 * @param sessionPerMinute the session's rate
 * @param sessionTtl the idle time in seconds after which the session ends
 * @param latestEnd the latest end of the session, however much it is used; empty if unknown
 * @param arrival the session's theoretical arrival time as last read
 * @param place the session's place in line that admitted the connection; empty if none did
 * @param onUnavailable whether connections are admitted if the queue fails
 * @param lease the held token; empty if the queue failed and the tier admits then
 */
public record Ticket(
    TenantId tenant,
    SessionId session,
    long tenantConnections,
    long connectionsPerSession,
    long sessionPerMinute,
    long sessionTtl,
    Optional<Instant> latestEnd,
    Optional<Instant> arrival,
    Optional<Place> place,
    OnUnavailable onUnavailable,
    Optional<Lease> lease) {
  /** This ticket with the largest limits, and without a token or a place in line. */
  Ticket withoutLimits() {
    return new Ticket(
        tenant,
        session,
        Limit.TENANT_CONNECTIONS.max(),
        Limit.CONNECTIONS_PER_SESSION.max(),
        Limit.SESSION_PER_MINUTE.max(),
        sessionTtl,
        latestEnd,
        arrival,
        Optional.empty(),
        onUnavailable,
        Optional.empty());
  }

  boolean isWithoutLimits() {
    return equals(withoutLimits());
  }
}
