package dev.tollgate.core.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.Written;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Opens, renews and ends sessions. */
public final class SessionLife {
  /**
   * Sessions that a tenant may open for each connection that it may make. Were they unlimited, a
   * client could walk around the limits of one session by opening another.
   */
  private static final long SESSIONS_PER_CONNECTION = 10;

  /**
   * A session that is ended has been over for so long, lest one be let in whose request is under
   * way since before, or whose clock is slow.
   */
  private static final Duration LONG_AGO = Duration.ofHours(1);

  /** A handshake takes no longer: API Gateway gives up its integrations before. */
  private static final Duration HANDSHAKE = Duration.ofSeconds(30);

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
            endFrom(now, tenant),
            Optional.empty());
    sessions.create(session);
    return new Opened(session);
  }

  /**
   * Renews a session: it lives as long as a new one from now on, or longer if it would anyway. Its
   * connections and its rate stay as they are, so a renewal is no way around a limit, and it is not
   * counted as an opening. A session that is over stays over.
   *
   * @throws Unavailable if that could not be asked
   */
  public Renewal renew(Tenant tenant, SessionId id) {
    Instant now = clock.instant();
    Instant end = endFrom(now, tenant);
    if (sessions.renew(tenant.id(), id, end, now) == Written.DONE) {
      return new Renewed(id, end);
    }
    return sessions
        .find(tenant.id(), id)
        .filter(found -> !found.endedAt(now))
        .<Renewal>map(found -> new Renewed(id, found.endsAt()))
        .orElse(new NoSession());
  }

  private static Instant endFrom(Instant now, Tenant tenant) {
    return now.truncatedTo(ChronoUnit.SECONDS).plusSeconds(tenant.limits().get(Limit.SESSION_TTL));
  }

  /**
   * Ends a session: nothing joins it any more, its sockets are closed, its connections are no
   * longer counted, its row goes. However many come to end it, and however often, it ends once: of
   * all of them one gets to take the connections out of it, and only that one lowers the count.
   *
   * <p>Two kinds of sessions stay for a while when they are over, until they are ended again: one
   * with a socket that is just being opened, which cannot be closed yet, and one that notes
   * messages which may be sent again.
   *
   * <p>The order is such that whoever dies on the way leaves a row that is over, or a count that is
   * too high. The first is ended by the next who comes, the second is found by a {@link Recount}.
   *
   * @throws Unavailable if that could not be written, or a socket not be closed: the session is
   *     over then or will be, but is there until it is ended again
   */
  public Ending end(TenantId tenant, SessionId id) {
    Instant now = clock.instant();
    Optional<Session> over = sessions.endAt(tenant, id, now.minus(LONG_AGO));
    if (over.isEmpty()) {
      return new NoSession();
    }
    Set<String> open = over.get().connections();
    Set<String> gone =
        open.stream()
            .filter(socket -> sockets.close(socket) == Sockets.Closed.GONE)
            .collect(Collectors.toUnmodifiableSet());
    Instant handshaking = now.minus(HANDSHAKE);
    if (gone.stream().anyMatch(socket -> over.get().joinedAt(socket).isAfter(handshaking))) {
      return new Over(over.get());
    }
    if (!open.isEmpty()) {
      Set<String> taken = sessions.take(tenant, id);
      if (!taken.isEmpty()) {
        connections.countDown(tenant, taken);
      }
    }
    if (over.get().notesAt(now)) {
      return new Over(over.get());
    }
    sessions.remove(tenant, id);
    return new Ended(over.get());
  }

  /** What became of a session that was to be opened. */
  public sealed interface Opening {}

  /** It is open. */
  public record Opened(Session session) implements Opening {}

  /** The tenant opens too many; the next may be opened then. */
  public record TooMany(Instant retryAt) implements Opening {}

  /** What became of a session that was to be renewed. */
  public sealed interface Renewal {}

  /** It lives on, until then unless something happens. */
  public record Renewed(SessionId id, Instant endsAt) implements Renewal {}

  /** What became of a session that was to end. */
  public sealed interface Ending {}

  /** It has ended; this is what it was when it could be joined no more. */
  public record Ended(Session session) implements Ending {}

  /**
   * It is over, but its row stays for a while; this is what it was when it could be joined no more.
   */
  public record Over(Session session) implements Ending {}

  /** There was none, or, for a renewal, it is over. */
  public record NoSession() implements Ending, Renewal {}
}
