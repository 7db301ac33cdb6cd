package dev.tollgate.core.message;

import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionReference;
import java.time.Instant;
import java.util.Optional;

/**
 * A message that was delivered in vain too often.
 *
 * @param id the queue service's id of the message
 * @param group its message group: the tenant's id, a colon, and the id of the session that sent it
 * @param at when the queue service took it, to the millisecond
 * @param receives how often it was received so far, approximately; every look at it counts
 * @param body the frame that the client sent
 * @param source the queue in which it is
 */
public record DeadLetter(
    String id, String group, Instant at, long receives, String body, Source source) {
  /** A dead-letter queue. */
  public enum Source {
    /** The queue of all pooled tenants. */
    POOL,
    /** The queue of one silo tenant. */
    SILO
  }

  /** The session that sent it; empty if the group names none, which only a foreign program does. */
  public Optional<SessionReference> session() {
    String sender = group.substring(group.indexOf(':') + 1);
    return SessionId.isValid(sender)
        ? Optional.of(SessionReference.of(new SessionId(sender)))
        : Optional.empty();
  }
}
