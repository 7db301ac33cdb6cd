package dev.tollgate.core.connect;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Tenant;
import java.time.Instant;
import java.util.Optional;

/**
 * What the authorizer passes to the registration of a connection, which then needs no read.
 *
 * @param tenant the tenant of the connection
 * @param session the session that it joins
 * @param bounds what limits its registration
 * @param sessionTtl the idle time in seconds after which the session ends
 * @param latestEnd the latest end of the session, however much it is used; empty if unknown
 * @param arrival the session's theoretical arrival time as last read
 * @param place the session's place in line that admitted the connection; empty if none did
 * @param onUnavailable whether connections are admitted if the queue fails
 * @param lease the held token; empty if it needs none, or the queue failed and the tier admits then
 * @param wouldRefuse why an observed limit would refuse the connection; empty if none would
 */
public record Ticket(
    TenantId tenant,
    SessionId session,
    ConnectionBounds bounds,
    long sessionTtl,
    Optional<Instant> latestEnd,
    Optional<Instant> arrival,
    Optional<Place> place,
    OnUnavailable onUnavailable,
    Optional<Lease> lease,
    Optional<Refusal> wouldRefuse) {
  /** The ticket of a connection under these limits that holds no token. */
  static Ticket of(Tenant tenant, Session session, Limits limits) {
    return new Ticket(
        tenant.id(),
        session.id(),
        ConnectionBounds.of(limits),
        limits.get(Limit.SESSION_TTL),
        session.latestEnd(limits),
        session.arrival(),
        Optional.empty(),
        tenant.onUnavailable(),
        Optional.empty(),
        Optional.empty());
  }

  /** This ticket with a token, and with the place in line that it was held for. */
  Ticket with(Optional<Lease> held, Optional<Place> due) {
    return new Ticket(
        tenant,
        session,
        bounds,
        sessionTtl,
        latestEnd,
        arrival,
        due,
        onUnavailable,
        held,
        wouldRefuse);
  }

  /**
   * This ticket of a connection that an observed limit would refuse. It uses up nothing of other
   * observed limits either, as a refused connection does not.
   */
  Ticket letThrough(Refusal why) {
    boolean needsToken = !bounds.observes(Refusal.TENANT_RATE);
    return new Ticket(
        tenant,
        session,
        bounds.withObservedOff(),
        sessionTtl,
        latestEnd,
        arrival,
        place.filter(any -> needsToken),
        onUnavailable,
        lease.filter(any -> needsToken),
        wouldRefuse.or(() -> Optional.of(why)));
  }

  /** This ticket without limits, and without a token or a place in line. */
  Ticket withoutLimits() {
    return new Ticket(
        tenant,
        session,
        ConnectionBounds.NONE,
        sessionTtl,
        latestEnd,
        arrival,
        Optional.empty(),
        onUnavailable,
        Optional.empty(),
        wouldRefuse);
  }

  boolean isWithoutLimits() {
    return equals(withoutLimits());
  }
}
