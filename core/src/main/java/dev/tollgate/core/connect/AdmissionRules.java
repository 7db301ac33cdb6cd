package dev.tollgate.core.connect;

import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.TenantStatus;
import java.time.Instant;
import java.util.Optional;

/**
 * The limits that can refuse a connection before a request to its bucket. {@link Registration}
 * checks the same limits again, with conditional writes.
 */
public final class AdmissionRules {
  private AdmissionRules() {}

  /**
   * Why a connection is refused at {@code now} even if the bucket has a token; empty if only the
   * bucket decides.
   */
  public static Optional<AdmissionDecision.Refused> refusal(AdmissionFacts facts, Instant now) {
    return denial(facts, now).or(() -> refusalByLimit(facts, LimitMode.ENFORCE, now));
  }

  /** Why an observed limit would refuse a connection whose session exists; empty if none would. */
  static Optional<Refusal> wouldRefuse(AdmissionFacts facts, Instant now) {
    return refusalByLimit(facts, LimitMode.OBSERVE, now).map(AdmissionDecision.Refused::refusal);
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

  /** The refusal by the first exceeded limit of this mode. */
  private static Optional<AdmissionDecision.Refused> refusalByLimit(
      AdmissionFacts facts, LimitMode mode, Instant now) {
    Limits limits = facts.tenant().orElseThrow().limits();
    Session used = facts.session().orElseThrow();
    if (limits.mode(Limit.TENANT_CONNECTIONS) == mode
        && facts.connections() >= limits.get(Limit.TENANT_CONNECTIONS)) {
      return Optional.of(new AdmissionDecision.Refused(Refusal.TENANT_CONNECTIONS));
    }
    if (limits.mode(Limit.CONNECTIONS_PER_SESSION) == mode
        && used.connections().size() >= limits.get(Limit.CONNECTIONS_PER_SESSION)) {
      return Optional.of(new AdmissionDecision.Refused(Refusal.SESSION_CONNECTIONS));
    }
    if (limits.mode(Limit.SESSION_PER_MINUTE) != mode) {
      return Optional.empty();
    }
    Instant allowed =
        Gcra.perMinute(limits.get(Limit.SESSION_PER_MINUTE)).conformsAt(used.arrival(), now);
    return allowed.isAfter(now)
        ? Optional.of(new AdmissionDecision.Refused(Refusal.SESSION_RATE, Optional.of(allowed)))
        : Optional.empty();
  }
}
