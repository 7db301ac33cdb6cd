package dev.tollgate.core.session;

import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * The list of a subject's sessions.
 *
 * @param sessions its sessions, some of which may have ended
 * @param arrival the theoretical arrival time of its next session, if it has created any
 */
public record SubjectSessions(Set<SessionId> sessions, Optional<Instant> arrival) {
  /** The list of a subject that has created no session. */
  public static final SubjectSessions NONE = new SubjectSessions(Set.of(), Optional.empty());

  /** Copies the set. */
  public SubjectSessions {
    sessions = Set.copyOf(sessions);
  }
}
