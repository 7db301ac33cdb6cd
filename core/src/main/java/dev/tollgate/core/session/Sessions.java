package dev.tollgate.core.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Where sessions are written down. Every method throws {@link Unavailable} if that could not be
 * asked.
 */
public interface Sessions {
  /**
   * Uses up one of the sessions that a tenant may create a minute.
   *
   * @return when the next may be created, if not now; then nothing was used up
   */
  Optional<Instant> takeTurn(TenantId tenant, Gcra rate, Instant now);

  /** Forgets how fast a tenant opened sessions; harmless if it opened none. */
  void forgetTurns(TenantId tenant);

  /** Writes a new session down. */
  void create(Session session);

  /** The session as it stands, whether it is over or not, read consistently. */
  Optional<Session> find(TenantId tenant, SessionId id);

  /** Removes a session and says what it was at that moment. */
  Optional<Session> remove(TenantId tenant, SessionId id);

  /** Every session of a tenant. */
  List<Session> list(TenantId tenant);
}
