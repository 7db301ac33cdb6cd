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
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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

  /**
   * How long the sessions of a subject stay noted after the last was created: as long as any
   * session can live.
   */
  private static final Duration NOTED_FOR = Duration.ofSeconds(Limit.SESSION_LIFETIME.most());

  /** Others write between a read and a write of the same row seldom, and then once or twice. */
  private static final int MOST_ATTEMPTS = 10;

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
   * <p>A subject that has as many sessions as it may have uses up none of the tenant's turns. A
   * session is noted for its subject after it was created: so a noted session that is not there is
   * over, and its place is free. Should this die in between, there is a session that nobody knows
   * and that ends by itself.
   *
   * @param caller whose token the request came with; empty where sessions need no token, and then
   *     there are no limits per subject
   * @throws Unavailable if that could not be written
   */
  public Opening open(Tenant tenant, Optional<Caller> caller) {
    Instant now = clock.instant();
    Optional<Places> places = caller.map(who -> places(tenant, who.subject(), now));
    if (places.isPresent() && places.get() instanceof Full full) {
      return new SubjectFull(full.until());
    }
    Gcra rate =
        Gcra.perMinute(tenant.limits().get(Limit.TENANT_PER_MINUTE) * SESSIONS_PER_CONNECTION);
    Optional<Instant> retryAt = sessions.takeTurn(tenant.id(), rate, now);
    if (retryAt.isPresent()) {
      return new TooMany(retryAt.get());
    }
    Session session = session(tenant, caller, now);
    sessions.create(session);
    return caller.isPresent() && places.isPresent()
        ? note(tenant, caller.get().subject(), session, places.get(), now)
        : new Opened(session);
  }

  private Session session(Tenant tenant, Optional<Caller> caller, Instant now) {
    Lifetime lifetime =
        new Lifetime(
            Optional.of(now.truncatedTo(ChronoUnit.SECONDS)), caller.map(Caller::tokenEndsAt));
    return new Session(
        tenant.id(),
        SessionId.random(random),
        Set.of(),
        lifetime.capped(endFrom(now, tenant), tenant.limits()),
        Optional.empty(),
        Map.of(),
        Optional.empty(),
        Map.of(),
        lifetime);
  }

  /** Notes a session for its subject, unless others have taken all places meanwhile. */
  private Opening note(Tenant tenant, Subject subject, Session session, Places seen, Instant now) {
    Places places = seen;
    for (int i = 0; i < MOST_ATTEMPTS; i++) {
      if (places instanceof Full full) {
        sessions.remove(tenant.id(), session.id());
        return new SubjectFull(full.until());
      }
      if (note(tenant, subject, session.id(), (Free) places, now) == Written.DONE) {
        return new Opened(session);
      }
      places = places(tenant, subject, now);
    }
    throw new Unavailable(
        "sessions of a subject of " + tenant.id() + ": too many others open some");
  }

  private Written note(Tenant tenant, Subject subject, SessionId id, Free free, Instant now) {
    Instant until = now.plus(NOTED_FOR);
    if (free.lasting().size() == free.noted().size()) {
      long most = tenant.limits().get(Limit.SESSIONS_PER_SUBJECT);
      return sessions.note(tenant.id(), subject, id, most, until);
    }
    Set<SessionId> next = new HashSet<>(free.lasting());
    next.add(id);
    return sessions.noteInstead(tenant.id(), subject, free.noted(), next, until);
  }

  /** What places a subject has. Only if all are taken it matters which of its sessions are over. */
  private Places places(Tenant tenant, Subject subject, Instant now) {
    long most = tenant.limits().get(Limit.SESSIONS_PER_SUBJECT);
    Set<SessionId> noted = sessions.notedFor(tenant.id(), subject);
    if (noted.size() < most) {
      return new Free(noted, noted);
    }
    List<Session> lasting =
        sessions.find(tenant.id(), noted).stream()
            .filter(session -> !session.endedAt(now))
            .sorted(Comparator.comparing(Session::endsAt))
            .toList();
    int tooMany = lasting.size() - (int) most;
    return tooMany < 0
        ? new Free(noted, lasting.stream().map(Session::id).collect(Collectors.toSet()))
        : new Full(lasting.get(tooMany).endsAt());
  }

  /**
   * Renews a session: it lives as long as a new one from now on, or longer if it would anyway. Its
   * connections and its rate stay as they are, so a renewal is no way around a limit, and it is not
   * counted as an opening. A session that is over stays over, and none outlives its {@link
   * Lifetime}.
   *
   * @param caller whose token the request came with; empty where sessions need no token
   * @throws Unavailable if that could not be asked
   */
  public Renewal renew(Tenant tenant, SessionId id, Optional<Caller> caller) {
    Instant now = clock.instant();
    for (int i = 0; i < MOST_ATTEMPTS; i++) {
      Optional<Session> found =
          sessions.find(tenant.id(), id).filter(session -> !session.endedAt(now));
      if (found.isEmpty()) {
        return new NoSession();
      }
      Session renewed = renewed(found.get(), tenant, caller, now);
      if (renewed.equals(found.get())
          || sessions.renew(tenant.id(), id, renewed.endsAt(), renewed.lifetime(), now)
              == Written.DONE) {
        return new Renewed(renewed);
      }
    }
    throw new Unavailable("a session of " + tenant.id() + ": too many others write it");
  }

  private static Session renewed(
      Session read, Tenant tenant, Optional<Caller> caller, Instant now) {
    Lifetime lifetime =
        read.lifetime()
            .renewed(caller.map(Caller::tokenEndsAt), now.truncatedTo(ChronoUnit.SECONDS));
    Instant end = lifetime.capped(endFrom(now, tenant), tenant.limits());
    return new Session(
        read.tenant(),
        read.id(),
        read.connections(),
        end.isAfter(read.endsAt()) ? end : read.endsAt(),
        read.arrival(),
        read.joinedAt(),
        read.messageAt(),
        read.processed(),
        lifetime);
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

  /** The subject has as many sessions as it may have; the first place may be free then. */
  public record SubjectFull(Instant retryAt) implements Opening {}

  /** What places for sessions a subject has. */
  private sealed interface Places {}

  /**
   * One more session may be noted.
   *
   * @param noted those that are
   * @param lasting those of them that are not known to be over
   */
  private record Free(Set<SessionId> noted, Set<SessionId> lasting) implements Places {}

  /** All places are taken, until then at least. */
  private record Full(Instant until) implements Places {}

  /** What became of a session that was to be renewed. */
  public sealed interface Renewal {}

  /** It lives on; this is what it is now. */
  public record Renewed(Session session) implements Renewal {}

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
