package dev.tollgate.core.connect;

import java.time.Instant;
import java.util.Optional;

/** The authorizer's decision on a handshake. */
public sealed interface AdmissionDecision {
  /** The connection may be registered with this ticket. */
  record Ticketed(Ticket ticket) implements AdmissionDecision {}

  /**
   * The connection is refused.
   *
   * @param refusal the reason
   * @param retryAt when a retry can succeed; empty if waiting does not help
   */
  record Refused(Refusal refusal, Optional<Instant> retryAt) implements AdmissionDecision {
    /** A refusal for which waiting does not help. */
    public Refused(Refusal why) {
      this(why, Optional.empty());
    }
  }
}
