package dev.tollgate.core.connect;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import java.time.Instant;
import java.util.Optional;

/**
 * The rows that an admission depends on.
 *
 * @param tenant the tenant, if it exists
 * @param session the session, if it exists
 * @param connections the tenant's count of open connections
 * @param bucket the tenant's {@code connect} bucket, if it exists
 */
public record AdmissionFacts(
    Optional<Tenant> tenant, Optional<Session> session, long connections, Optional<Bucket> bucket) {

  /** The rate at which a session may open connections. */
  static Gcra sessionRate(Tenant tenant) {
    return Gcra.perMinute(tenant.limits().get(Limit.SESSION_PER_MINUTE));
  }

  /**
   * Why a connection is refused at {@code now}, whatever the bucket holds; empty if only the bucket
   * decides.
   */
  public Optional<AdmissionDecision.Refused> refusalAt(Instant now) {
    if (tenant.isEmpty() || session.isEmpty() || session.get().hasEndedAt(now)) {
      return Optional.of(new AdmissionDecision.Refused(Refusal.UNKNOWN));
    }
    Tenant known = tenant.get();
    if (known.status() != TenantStatus.ACTIVE) {
      return Optional.of(new AdmissionDecision.Refused(Refusal.SUSPENDED));
    }
    if (connections >= known.limits().get(Limit.TENANT_CONNECTIONS)) {
      return Optional.of(new AdmissionDecision.Refused(Refusal.TENANT_CONNECTIONS));
    }
    Session used = session.get();
    if (used.connections().size() >= known.limits().get(Limit.CONNECTIONS_PER_SESSION)) {
      return Optional.of(new AdmissionDecision.Refused(Refusal.SESSION_CONNECTIONS));
    }
    Instant allowed = sessionRate(known).conformsAt(used.arrival(), now);
    return allowed.isAfter(now)
        ? Optional.of(new AdmissionDecision.Refused(Refusal.SESSION_RATE, Optional.of(allowed)))
        : Optional.empty();
  }

  /**
   * When a retry can succeed, if the bucket is known to be empty at {@code now} or was never
   * filled; else empty.
   */
  public Optional<Instant> retryAt(Instant now) {
    boolean hasNone = filled().isEmpty() || filled().get().isKnownEmptyAt(now);
    return hasNone ? Optional.of(nextTokenAt(now)) : Optional.empty();
  }

  /**
   * When the bucket gets its next token, if it is empty at {@code now}; a minute from now if it was
   * never filled.
   */
  public Instant nextTokenAt(Instant now) {
    return filled().map(read -> read.nextTokenAt(now)).orElseGet(() -> now.plusSeconds(60));
  }

  private Optional<Bucket> filled() {
    return bucket.filter(Bucket::hasBeenFilled);
  }
}
