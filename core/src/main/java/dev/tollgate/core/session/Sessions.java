package dev.tollgate.core.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.housekeeping.LiveTenants;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Where sessions are written down. Every method throws {@link Unavailable} if that could not be
 * asked.
 */
public interface Sessions {
  /**
   * Uses up one of the sessions that a tenant may create a minute, and makes the tenant one of the
   * {@link LiveTenants} by the same write.
   *
   * @return when the next may be created, if not now; then nothing was used up
   */
  Optional<Instant> acquireCreation(TenantId tenant, Gcra rate, Instant now);

  /** Forgets how fast a tenant opened sessions; harmless if it opened none. */
  void deleteCreationRate(TenantId tenant);

  /** Writes a new session down. */
  void create(Session session);

  /**
   * What is noted for a subject, read consistently. Every session was {@linkplain #create created}
   * before it was noted.
   */
  SubjectSessions findForSubject(TenantId tenant, Subject subject);

  /**
   * Notes a session for a subject, if fewer than {@code most} are noted and the subject's rate
   * allows.
   *
   * @param read what was noted; a wrong arrival time refuses, a wrong set does no harm
   * @param until when the note may be forgotten; no earlier than it was for those before
   */
  WriteResult addToSubject(
      TenantId tenant,
      Subject subject,
      SessionId id,
      long most,
      Gcra rate,
      SubjectSessions read,
      Instant now,
      Instant until);

  /**
   * Notes other sessions for a subject in place of those that were read, if exactly these are noted
   * and the subject's rate allows.
   *
   * @param until when the note may be forgotten; no earlier than it was for those before
   */
  WriteResult replaceForSubject(
      TenantId tenant,
      Subject subject,
      Set<SessionId> next,
      Gcra rate,
      SubjectSessions read,
      Instant now,
      Instant until);

  /** Forgets what is noted for each subject of a tenant; harmless if nothing is. */
  void deleteSubjects(TenantId tenant);

  /** Those of some sessions that there are, over or not, read consistently. */
  List<Session> find(TenantId tenant, Set<SessionId> ids);

  /** The session as it stands, whether it is over or not, read consistently. */
  Optional<Session> find(TenantId tenant, SessionId id);

  /**
   * Has a session end at {@code end} instead, and says what it is then; empty if there is none. If
   * that is over, no connection joins it any more.
   */
  Optional<Session> moveEnd(TenantId tenant, SessionId id, Instant end);

  /**
   * Takes all connections out of a session. Of many who come to take them, one gets them; so may
   * nobody, if the one who got them does not live to tell.
   */
  Set<String> takeConnections(TenantId tenant, SessionId id);

  /** Removes a session, if it has no connections; harmless if there is none. */
  WriteResult remove(TenantId tenant, SessionId id);

  /** Every session of a tenant. */
  List<Session> list(TenantId tenant);

  /**
   * Moves a session's end and what bounds its life, if the session is there, is not over at {@code
   * now}, and neither its end nor the end of its token would move back. A creation that is known
   * stays.
   */
  WriteResult renew(TenantId tenant, SessionId id, Instant endsAt, Lifetime lifetime, Instant now);

  /**
   * Moves a session's end, or leaves it, for a message that was sent in it at {@code now}, and has
   * the session note which messages were processed, and when it was created unless that is known;
   * if the session is there, ends when it did as it was read, and nobody has done the same since.
   *
   * @param read the session as it was read
   * @param endsAt no earlier than before
   * @param processed what the session notes from then on
   */
  WriteResult extend(Session read, Instant endsAt, Map<String, Instant> processed, Instant now);
}
