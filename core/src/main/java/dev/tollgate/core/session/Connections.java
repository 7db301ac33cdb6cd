package dev.tollgate.core.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Place;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * Stores open connections in the set of their session, which is the truth, and counts them for
 * their tenant. Each writing method is one conditional write. It throws {@link Unavailable} if the
 * store fails; the write may have been done then.
 */
public interface Connections {
  /**
   * Adds a connection to its session, if the session has not ended, has room, and its rate allows.
   * With the same write the session ends no earlier than {@code endsAt}, and its creation time is
   * set to {@code now} if it is unknown.
   *
   * @param max the most connections of the session
   * @param rate the rate at which the session may open connections
   * @param expected the theoretical arrival time that was last read; a wrong one costs a second
   *     write
   * @param place the place in line that admitted the connection, which is used up; empty if none
   *     did
   * @param endsAt the earliest end of the session
   */
  JoinResult join(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long max,
      Gcra rate,
      Optional<Instant> expected,
      Optional<Place> place,
      Instant endsAt,
      Instant now);

  /** Adds a connection that was admitted without a place in line. */
  default JoinResult join(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long max,
      Gcra rate,
      Optional<Instant> expected,
      Instant endsAt,
      Instant now) {
    return join(tenant, session, connectionId, max, rate, expected, Optional.empty(), endsAt, now);
  }

  /**
   * Adds a connection to its session as {@link #join}, and creates the session with the same write
   * if it does not exist. A session that has ended without connections begins again.
   */
  JoinResult open(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long max,
      Gcra rate,
      Optional<Instant> expected,
      Instant endsAt,
      Instant now);

  /**
   * Removes a connection from its session. Never creates a session.
   *
   * @param back with the same write, the theoretical arrival time moves to the past by this much;
   *     zero or more, and at most what the connection moved it to the future
   */
  LeaveResult leave(TenantId tenant, SessionId session, String connectionId, Duration back);

  /** Removes a connection, which keeps its use of the session's rate. */
  default LeaveResult leave(TenantId tenant, SessionId session, String connectionId) {
    return leave(tenant, session, connectionId, Duration.ZERO);
  }

  /**
   * Creates a tenant's count, if it does not exist. Counting refusals never creates one, so no
   * count remains after the tenant was offboarded.
   */
  void createCount(TenantId tenant);

  /**
   * Adds one to the open and to the admitted connections, if fewer than {@code max} are open.
   *
   * @param withToken whether the connection has a token to spend; if not, the same write also adds
   *     one to the connections without a token
   * @param now stored as the time of the last admission
   */
  CountResult countUp(
      TenantId tenant, String connectionId, long max, boolean withToken, Instant now);

  /** Counts a connection with a token whose time of admission does not matter. */
  default CountResult countUp(TenantId tenant, String connectionId, long max) {
    return countUp(tenant, connectionId, max, true, Instant.EPOCH);
  }

  /**
   * Adds one to the connections without a token: an admitted connection was counted with a token,
   * and it is not known whether the token was spent. Never creates a count.
   */
  void countWithoutToken(TenantId tenant);

  /**
   * Undoes {@link #countUp} for a connection that is refused after all. Never lowers the count
   * below zero, and never creates a count.
   *
   * @param withToken as it was counted
   */
  void undoCountUp(TenantId tenant, String connectionId, boolean withToken);

  /** Undoes the count of a connection with a token. */
  default void undoCountUp(TenantId tenant, String connectionId) {
    undoCountUp(tenant, connectionId, true);
  }

  /**
   * Subtracts closed connections from the open ones. Never lowers the count below zero, and never
   * creates a count.
   */
  void countDown(TenantId tenant, Set<String> connectionIds);

  /** A tenant's count, read consistently; {@link ConnectionCount#NONE} if it does not exist. */
  ConnectionCount readCount(TenantId tenant);

  /** The number of a tenant's open connections. */
  default long count(TenantId tenant) {
    return readCount(tenant).open();
  }

  /**
   * Adds a correction to a tenant's count, unless another correction was added since {@code seen}
   * was read or the count would become negative. Concurrent connects and disconnects do not matter.
   * The correction is added once, even if the response is lost and the request is repeated.
   *
   * <p>A correction that lowers the count also adds as many connections to those without a token: a
   * handshake may have crashed after its connection was counted, and its token went back.
   *
   * @param seen the count, read before the drift was measured
   */
  WriteResult correct(TenantId tenant, ConnectionCount seen, Correction correction);

  /** Deletes the tenant's count and totals, if they exist. */
  void deleteCount(TenantId tenant);

  /** The result of joining a session. */
  enum JoinResult {
    /** The connection joined. */
    ADDED,
    /** The connection had joined before: the event was repeated. */
    ALREADY_JOINED,
    /** The session has its maximum of connections. */
    FULL,
    /** The session's rate does not allow it yet. */
    TOO_SOON,
    /** Another connection has used up the place. */
    PLACE_USED,
    /** The session does not exist or has ended. */
    NO_SESSION
  }

  /** The result of leaving a session. */
  enum LeaveResult {
    /** The connection was removed. */
    REMOVED,
    /** The connection had left before, or its session does not exist. */
    NOT_JOINED
  }

  /** The result of counting a connection. */
  enum CountResult {
    /** The connection is counted. */
    COUNTED,
    /** The tenant has its maximum of connections. */
    FULL
  }
}
