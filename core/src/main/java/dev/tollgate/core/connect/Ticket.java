package dev.tollgate.core.connect;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.OnUnavailable;
import java.time.Instant;
import java.util.Optional;

/**
 * What the authorizer hands to the registering of a connection, so that this reads nothing again.
 *
 * @param tenant whose connection it is
 * @param session the session that it joins
 * @param tenantConnections the most connections of the tenant
 * @param connectionsPerSession the most connections of the session
 * @param sessionPerMinute the session's rate
 * @param sessionTtl seconds that the session lives from a connection on
 * @param latestEnd when the session is over whatever happens, if anything bounds it yet
 * @param arrival the session's theoretical arrival time as last read
 * @param onUnavailable what the tier says for when the bucket cannot be asked
 * @param lease the token that is held; empty if the bucket could not be asked and the tier admits
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
    OnUnavailable onUnavailable,
    Optional<Lease> lease) {}
