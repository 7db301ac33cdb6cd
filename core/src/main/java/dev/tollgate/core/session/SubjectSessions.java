package dev.tollgate.core.session;

import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * What is noted for a subject.
 *
 * @param sessions its sessions, of which some may be over
 * @param arrival the theoretical arrival time of its next session, if it has created any
 */
public record SubjectSessions(Set<SessionId> sessions, Optional<Instant> arrival) {
  /** What is noted for a subject that has created no session. */
  public static final SubjectSessions NONE = new SubjectSessions(Set.of(), Optional.empty());

  /** Copies the set. */
  public SubjectSessions {
    sessions = Set.copyOf(sessions);
  }
}
