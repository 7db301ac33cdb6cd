package dev.tollgate.core.connect;

import dev.tollgate.core.session.Session;
import java.time.Duration;
import java.time.Instant;

/**
 * Whose connections share a session at an attached API, where no client creates sessions: the first
 * connection of a session opens it.
 */
public enum OpenedSessions {
  /** Each connection has a session of its own, so no limit of sessions applies. */
  PER_CONNECTION,
  /** A subject's connections share one, so the limits of sessions apply to the subject. */
  PER_SUBJECT;

  /**
   * How long a session lasts after its last connection was opened. Messages do not extend it,
   * because they do not pass through Tollgate. API Gateway closes a connection after two hours. The
   * housekeeper drops one whose end was not reported a minute later, or eleven where it visits a
   * tenant every ten minutes. So a session that has ended has no open connection.
   */
  static final Duration LASTS = Duration.ofMinutes(135);

  /** Whether the session in a row that was read is over, and may be opened again. */
  static boolean isOver(Session read, Instant now) {
    return read.hasEndedAt(now) && read.connections().isEmpty();
  }
}
