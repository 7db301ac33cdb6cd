package dev.tollgate.core.connect;

import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import java.time.Instant;
import java.util.Optional;

/**
 * The limits that can refuse a connection before a request to its bucket. {@link Registration}
 * checks the same limits again, with conditional writes.
 */
public final class AdmissionRules {
  private AdmissionRules() {}

  /** The rate at which a session may open connections. */
  static Gcra sessionRate(Tenant tenant) {
    return Gcra.perMinute(tenant.limits().get(Limit.SESSION_PER_MINUTE));
  }

  /**
   * Why a connection is refused at {@code now} even if the bucket has a token; empty if only the
   * bucket decides.
   */
  public static Optional<AdmissionDecision.Refused> refusal(AdmissionFacts facts, Instant now) {
    return denial(facts, now).or(() -> refusalByLimit(facts, now));
  }

  /**
   * Why a connection is refused at {@code now} without regard to limits: its session does not
   * exist, or its tenant is not active. Empty if neither is so.
   */
  static Optional<AdmissionDecision.Refused> denial(AdmissionFacts facts, Instant now) {
    if (facts.tenant().isEmpty()
        || facts.session().filter(read -> !read.hasEndedAt(now)).isEmpty()) {
      return Optional.of(new AdmissionDecision.Refused(Refusal.UNKNOWN));
    }
    return facts.tenant().get().status() == TenantStatus.ACTIVE
        ? Optional.empty()
        : Optional.of(new AdmissionDecision.Refused(Refusal.SUSPENDED));
  }

  private static Optional<AdmissionDecision.Refused> refusalByLimit(
      AdmissionFacts facts, Instant now) {
    Tenant known = facts.tenant().orElseThrow();
    if (facts.connections() >= known.limits().get(Limit.TENANT_CONNECTIONS)) {
      return Optional.of(new AdmissionDecision.Refused(Refusal.TENANT_CONNECTIONS));
    }
    Session used = facts.session().orElseThrow();
    if (used.connections().size() >= known.limits().get(Limit.CONNECTIONS_PER_SESSION)) {
      return Optional.of(new AdmissionDecision.Refused(Refusal.SESSION_CONNECTIONS));
    }
    Instant allowed = sessionRate(known).conformsAt(used.arrival(), now);
    return allowed.isAfter(now)
        ? Optional.of(new AdmissionDecision.Refused(Refusal.SESSION_RATE, Optional.of(allowed)))
        : Optional.empty();
  }
}
