package dev.tollgate.core.session;

import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Place;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Stores sessions. Every method throws {@link Unavailable} if the store fails. */
public interface Sessions {
  /**
   * Uses up one of the sessions that a tenant may create in a minute, and adds the tenant to the
   * live tenants with the same write.
   *
   * @return when the next session may be created, if not now; then nothing was used up
   */
  Optional<Instant> acquireCreation(TenantId tenant, Gcra rate, Instant now);

  /** Deletes the rate state of a tenant's session creations, if it exists. */
  void deleteCreationRate(TenantId tenant);

  /** Creates a session. */
  void create(Session session);

  /**
   * The list of a subject's sessions, read consistently. Every session was {@linkplain #create
   * created} before it was added.
   */
  SubjectSessions findForSubject(TenantId tenant, Subject subject);

  /**
   * Adds a session to its subject's list, if the list has fewer than {@code max} and the subject's
   * rate allows.
   *
   * @param read the list as read; a wrong arrival time causes a conflict, a wrong set does not
   * @param until when the list expires; no earlier than before
   */
  WriteResult addToSubject(
      TenantId tenant,
      Subject subject,
      SessionId id,
      long max,
      Gcra rate,
      SubjectSessions read,
      Instant now,
      Instant until);

  /**
   * Replaces a subject's list, if it still is as read and the subject's rate allows.
   *
   * @param until when the list expires; no earlier than before
   */
  WriteResult replaceForSubject(
      TenantId tenant,
      Subject subject,
      Set<SessionId> next,
      Gcra rate,
      SubjectSessions read,
      Instant now,
      Instant until);

  /** Deletes the lists of all subjects of a tenant. */
  void deleteSubjects(TenantId tenant);

  /** The sessions with these ids that exist, ended or not, read consistently. */
  List<Session> find(TenantId tenant, Set<SessionId> ids);

  /** A session, ended or not, read consistently. */
  Optional<Session> find(TenantId tenant, SessionId id);

  /**
   * Sets a session's end, removes its place, and returns its new state with the place that it had;
   * empty if it does not exist. If the end is in the past, no connection can join it, and of all
   * callers one gets the place.
   */
  Optional<Session> moveEnd(TenantId tenant, SessionId id, Instant end);

  /**
   * Removes all connections from a session and returns them. Of concurrent callers, one gets them.
   * If that caller crashes, the ids are lost; the recount repairs the count.
   */
  Set<String> takeConnections(TenantId tenant, SessionId id);

  /** Deletes a session, if it has no connections. Does nothing if it does not exist. */
  WriteResult remove(TenantId tenant, SessionId id);

  /**
   * Ends a session as {@link #moveEnd}, but only if it has ended at {@code now}. So a session that
   * was renewed since it was read stays.
   *
   * @return its new state; empty if it does not exist or has not ended
   */
  Optional<Session> moveEndIfEnded(TenantId tenant, SessionId id, Instant end, Instant now);

  /**
   * A page of a tenant's sessions, by id. It may have fewer than {@code max} sessions although more
   * pages follow. All pages together contain each session that exists throughout, once.
   *
   * @param cursor where the last page ended; empty for the first page
   */
  Page<Session> page(TenantId tenant, Optional<String> cursor, int max, Consistency consistency);

  /** How recent a read is. */
  enum Consistency {
    /** Contains every write that was done before. */
    CONSISTENT,
    /** May lack recent writes; costs half. */
    EVENTUAL
  }

  /**
   * Moves a session's end and lifetime, if the session has not ended at {@code now} and neither its
   * end nor the end of its token would move back. Keeps a known creation time.
   */
  WriteResult renew(TenantId tenant, SessionId id, Instant endsAt, Lifetime lifetime, Instant now);

  /**
   * Stores the place of a session in line, unless its place has changed since it was read, or it
   * has ended at {@code now}.
   *
   * @param read the session as read
   * @param isTaken whether it certainly took the place
   * @param endsAt the earliest end of the session
   */
  WriteResult keepPlace(Session read, Place place, boolean isTaken, Instant endsAt, Instant now);

  /**
   * Records a message at {@code now}: sets the session's end and its processed messages, and its
   * creation time if it is unknown. Fails if the session's end or last message changed since it was
   * read.
   *
   * @param read the session as read
   * @param endsAt the new end, no earlier than before
   * @param processed the new processed messages
   */
  WriteResult extend(Session read, Instant endsAt, Map<String, Instant> processed, Instant now);
}
