package dev.tollgate.core.connect;

import java.time.Instant;
import java.util.Optional;

/** The authorizer's decision on a handshake. */
public sealed interface AdmissionDecision {
  /**
   * The connection may be registered with this ticket.
   *
   * @param slot when its turn in line came; empty if it did not wait in line
   * @param failure why it is admitted without a token; empty if it holds one
   */
  record Ticketed(Ticket ticket, Optional<Instant> slot, Optional<String> failure)
      implements AdmissionDecision {
    /** A ticket of a connection that did not wait in line. */
    public Ticketed(Ticket ticket) {
      this(ticket, Optional.empty(), Optional.empty());
    }
  }

  /**
   * The connection is refused.
   *
   * @param refusal the reason
   * @param retryAt when a retry can succeed; empty if waiting does not help
   * @param placeTaken whether its session has taken a place in line just now
   * @param failure what failed, if it is {@link Refusal#UNDECIDED}
   */
  record Refused(
      Refusal refusal, Optional<Instant> retryAt, boolean placeTaken, Optional<String> failure)
      implements AdmissionDecision {
    /** A refusal of a session that has not taken a place in line just now. */
    public Refused(Refusal why, Optional<Instant> retryAt) {
      this(why, retryAt, false, Optional.empty());
    }

    /** A refusal for which waiting does not help. */
    public Refused(Refusal why) {
      this(why, Optional.empty());
    }
  }
}
