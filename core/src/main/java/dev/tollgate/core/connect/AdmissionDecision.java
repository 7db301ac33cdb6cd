package dev.tollgate.core.connect;

import java.time.Instant;
import java.util.Optional;

/** What the authorizer found. */
public sealed interface AdmissionDecision {
  /** The connection may be registered with this ticket. */
  record Ticketed(Ticket ticket) implements AdmissionDecision {}

  /**
   * The connection is not let in.
   *
   * @param refusal the reason
   * @param retryAt when it is worth trying again; empty if time alone does not help
   */
  record Refused(Refusal refusal, Optional<Instant> retryAt) implements AdmissionDecision {
    /** A refusal that time alone does not lift. */
    public Refused(Refusal why) {
      this(why, Optional.empty());
    }
  }
}
