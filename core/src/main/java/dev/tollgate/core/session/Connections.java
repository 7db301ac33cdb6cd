package dev.tollgate.core.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * Where open connections are counted: in the set of their session, which is the truth, and in a
 * number for the tenant, which follows from it. Each method is one conditional write and throws
 * {@link Unavailable} if that could not be done; a write that timed out may have been done all the
 * same.
 */
public interface Connections {
  /**
   * Adds a connection to its session, if the session is there and not over, has room, and its rate
   * allows. By the same write the session lives at least until {@code endsAt}, and counts as
   * created {@code now} unless it is known when it was.
   *
   * @param most the most connections that the session may have
   * @param rate how fast it may be used
   * @param expected the theoretical arrival time that was last read; a wrong one costs a second
   *     write
   * @param endsAt when the session is over unless something happens; one that ends later stays so
   */
  JoinResult join(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long most,
      Gcra rate,
      Optional<Instant> expected,
      Instant endsAt,
      Instant now);

  /** Takes a connection out of its session. Never creates a session. */
  LeaveResult leave(TenantId tenant, SessionId session, String connectionId);

  /**
   * Opens a tenant's count, if it has none yet: what is added up for a tenant beside its
   * connections never opens one, so that nothing is left of a tenant that has gone.
   */
  void createCount(TenantId tenant);

  /**
   * Counts a connection, if there are fewer than {@code most}, and by the same write one more that
   * was ever admitted.
   */
  CountResult countUp(TenantId tenant, String connectionId, long most);

  /**
   * Takes back what {@link #countUp} did for a connection that is not let in after all: it is
   * neither open nor was it admitted. Never below none open, and never creates a count.
   */
  void undoCountUp(TenantId tenant, String connectionId);

  /**
   * Counts these connections no more, but never below none; they were admitted all the same. Never
   * creates a count.
   */
  void countDown(TenantId tenant, Set<String> connectionIds);

  /** A tenant's count, read consistently; {@link ConnectionCount#NONE} if it has none. */
  ConnectionCount readCount(TenantId tenant);

  /** The connections that are counted for a tenant. */
  default long count(TenantId tenant) {
    return readCount(tenant).open();
  }

  /**
   * Adds a correction to a tenant's count, whatever is counted meanwhile, unless the count was
   * corrected since it was seen or less than none would be left. It is added once, even if its
   * answer is lost and it is sent again.
   *
   * @param seen the count as it was before what is corrected was measured
   */
  WriteResult correct(TenantId tenant, ConnectionCount seen, Correction correction);

  /** Removes the tenant's count, and its totals with it; harmless if there is none. */
  void deleteCount(TenantId tenant);

  /** What became of a connection that was to join a session. */
  enum JoinResult {
    /** It is in. */
    ADDED,
    /** It was in already: the same event came twice. */
    ALREADY_JOINED,
    /** The session has as many as it may have. */
    FULL,
    /** The session's rate does not allow it yet. */
    TOO_SOON,
    /** There is no such session, or it is over. */
    NO_SESSION
  }

  /** What became of a connection that was to leave its session. */
  enum LeaveResult {
    /** It was in, and is out. */
    REMOVED,
    /** It was not in: it left before, or its session is gone. */
    NOT_JOINED
  }

  /** What became of a count. */
  enum CountResult {
    /** One more is counted. */
    COUNTED,
    /** There are as many as there may be. */
    FULL
  }
}
