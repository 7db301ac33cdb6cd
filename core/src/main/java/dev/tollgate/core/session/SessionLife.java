package dev.tollgate.core.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.Set;

/** Opens and ends sessions. */
public final class SessionLife {
  /**
   * Sessions that a tenant may open for each connection that it may make. Were they unlimited, a
   * client could walk around the limits of one session by opening another.
   */
  private static final long SESSIONS_PER_CONNECTION = 10;

  private final Sessions sessions;
  private final Connections connections;
  private final Sockets sockets;
  private final SecureRandom random;
  private final InstantSource clock;

  /** A life of sessions that are written down in {@code sessions}. */
  public SessionLife(
      Sessions sessions,
      Connections connections,
      Sockets sockets,
      SecureRandom random,
      InstantSource clock) {
    this.sessions = sessions;
    this.connections = connections;
    this.sockets = sockets;
    this.random = random;
    this.clock = clock;
  }

  /**
   * Opens a session for a tenant.
   *
   * @throws Unavailable if that could not be written
   */
  public Opening open(Tenant tenant) {
    Instant now = clock.instant();
    Gcra rate =
        Gcra.perMinute(tenant.limits().get(Limit.TENANT_PER_MINUTE) * SESSIONS_PER_CONNECTION);
    Optional<Instant> retryAt = sessions.takeTurn(tenant.id(), rate, now);
    if (retryAt.isPresent()) {
      return new TooMany(retryAt.get());
    }
    Session session =
        new Session(
            tenant.id(),
            SessionId.random(random),
            Set.of(),
            now.truncatedTo(ChronoUnit.SECONDS).plusSeconds(tenant.limits().get(Limit.SESSION_TTL)),
            Optional.empty());
    sessions.create(session);
    return new Opened(session);
  }

  /**
   * Ends a session: its row goes, its sockets are closed, its connections are no longer counted. A
   * session that is gone already is left alone, so that however many come to end it, it ends once.
   *
   * @throws Unavailable if that could not be written; sockets that cannot be reached are left to
   *     close by themselves
   */
  public Ending end(TenantId tenant, SessionId id) {
    Optional<Session> removed = sessions.remove(tenant, id);
    if (removed.isEmpty()) {
      return new NoSession();
    }
    Set<String> open = removed.get().connections();
    open.forEach(this::closeQuietly);
    if (!open.isEmpty()) {
      connections.countDown(tenant, open.size());
    }
    return new Ended(removed.get());
  }

  private void closeQuietly(String connectionId) {
    try {
      sockets.close(connectionId);
    } catch (Unavailable ignored) {
      return;
    }
  }

  /** What became of a session that was to be opened. */
  public sealed interface Opening {}

  /** It is open. */
  public record Opened(Session session) implements Opening {}

  /** The tenant opens too many; the next may be opened then. */
  public record TooMany(Instant retryAt) implements Opening {}

  /** What became of a session that was to end. */
  public sealed interface Ending {}

  /** It has ended; this is what it was. */
  public record Ended(Session session) implements Ending {}

  /** There was none. */
  public record NoSession() implements Ending {}
}
