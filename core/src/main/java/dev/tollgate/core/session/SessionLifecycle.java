package dev.tollgate.core.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.enforcement.Enforcement;
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
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Opens, renews and ends sessions. */
public final class SessionLifecycle {
  /**
   * Sessions that a tenant may create for each connection that it may open. Without a limit, a
   * client could evade the limits of one session by creating another.
   */
  private static final long SESSIONS_PER_CONNECTION = 10;

  /**
   * An ended session's end lies this far in the past, so that no request in progress and no slow
   * clock admits a connection to it.
   */
  private static final Duration LONG_AGO = Duration.ofHours(1);

  /**
   * Sessions that a subject may create in a minute for each that it may have at once. A new session
   * may open connections at its full rate, so a subject that creates and ends sessions in turn
   * multiplies that rate. A subject never gets more than half of the sessions that its tenant may
   * create.
   */
  private static final long SESSIONS_PER_PLACE = 2;

  /**
   * How long an expired session still takes its subject's place. A renewal that began before the
   * end may be written after it, and a place that was reused by then would be taken twice. No
   * request lasts this long.
   */
  private static final Duration CERTAINLY_ENDED = Duration.ofSeconds(10);

  /**
   * How long the list of a subject's sessions is kept after the last creation: the longest lifetime
   * of a session.
   */
  private static final Duration SUBJECT_KEPT_FOR = Duration.ofSeconds(Limit.SESSION_LIFETIME.max());

  /** The most attempts at a write that concurrent writes invalidate, which is rare. */
  private static final int MAX_ATTEMPTS = 10;

  private final Sessions sessions;
  private final Connections connections;
  private final Sockets sockets;
  private final SecureRandom random;
  private final InstantSource clock;

  /** The lifecycle of the sessions in {@code sessions}. */
  public SessionLifecycle(
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
   * <p>A subject that has its maximum of sessions, or creates them too fast, does not use up the
   * tenant's rate. A session is added to its subject's list after it was created. So a listed
   * session that does not exist has ended, and its place is free. After a crash in between, an
   * unknown session remains and expires.
   *
   * @param caller the caller of the request; empty where sessions need no token, which disables the
   *     limits per subject
   * @throws Unavailable if a write fails
   */
  public OpenResult open(Tenant tenant, Optional<Caller> caller) {
    return caller
        .map(who -> open(tenant, who))
        .orElseGet(
            () -> {
              Instant now = clock.instant();
              Optional<Instant> retryAt = takeTurn(tenant, now);
              return retryAt.isPresent()
                  ? new TenantTooFast(retryAt.get())
                  : new Opened(created(tenant, Optional.empty(), now));
            });
  }

  /**
   * Opens a session for a tenant, also over its limits if they are lifted.
   *
   * @throws Unavailable if a write fails
   */
  public OpenResult open(Tenant tenant, Optional<Caller> caller, Enforcement enforcement) {
    OpenResult result = open(tenant, caller);
    return result instanceof Opened || enforcement.lifted().isEmpty()
        ? result
        : open(tenant.with(tenant.limits().off()), caller);
  }

  private OpenResult open(Tenant tenant, Caller caller) {
    Instant now = clock.instant();
    Capacity places = places(tenant, caller.subject(), now);
    if (places instanceof Exhausted taken) {
      return taken.refusal();
    }
    Session session = created(tenant, Optional.of(caller), now);
    Optional<OpenResult> refused =
        note(tenant, caller.subject(), session.id(), places, now)
            .or(() -> takeTurn(tenant, now).map(TenantTooFast::new));
    refused.ifPresent(refusal -> sessions.remove(tenant.id(), session.id()));
    return refused.orElse(new Opened(session));
  }

  private Optional<Instant> takeTurn(Tenant tenant, Instant now) {
    return sessions.acquireCreation(tenant.id(), Gcra.perMinute(creationsPerMinute(tenant)), now);
  }

  /** How many sessions a tenant may create in a minute. */
  public static long creationsPerMinute(Tenant tenant) {
    return tenant.limits().bound(Limit.TENANT_PER_MINUTE) * SESSIONS_PER_CONNECTION;
  }

  /** How many sessions a subject may create in a minute, however soon it ends them. */
  public static long creationsPerMinuteOfSubject(Tenant tenant) {
    return Math.min(
        tenant.limits().bound(Limit.SESSIONS_PER_SUBJECT) * SESSIONS_PER_PLACE,
        creationsPerMinute(tenant) / 2);
  }

  private Session created(Tenant tenant, Optional<Caller> caller, Instant now) {
    Session session = session(tenant, caller, now);
    sessions.create(session);
    return session;
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
        lifetime,
        Optional.empty(),
        false);
  }

  /** Adds a session to its subject's list; returns the refusal if there is no place. */
  private Optional<OpenResult> note(
      Tenant tenant, Subject subject, SessionId id, Capacity seen, Instant now) {
    Capacity places = seen;
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
      if (places instanceof Exhausted taken) {
        return Optional.of(taken.refusal());
      }
      if (note(tenant, subject, id, (Available) places, now) == WriteResult.DONE) {
        return Optional.empty();
      }
      places = places(tenant, subject, now);
    }
    throw new Unavailable(
        "sessions of a subject of " + tenant.id() + ": too many concurrent writes");
  }

  private WriteResult note(
      Tenant tenant, Subject subject, SessionId id, Available free, Instant now) {
    Gcra rate = subjectRate(tenant);
    Instant until = now.plus(SUBJECT_KEPT_FOR);
    SubjectSessions noted = free.noted();
    if (free.lasting().size() == noted.sessions().size()) {
      long max = tenant.limits().bound(Limit.SESSIONS_PER_SUBJECT);
      return sessions.addToSubject(tenant.id(), subject, id, max, rate, noted, now, until);
    }
    Set<SessionId> next = new HashSet<>(free.lasting());
    next.add(id);
    return sessions.replaceForSubject(tenant.id(), subject, next, rate, noted, now, until);
  }

  private static Gcra subjectRate(Tenant tenant) {
    return Gcra.perMinute(creationsPerMinuteOfSubject(tenant));
  }

  /**
   * Whether a subject has room for one more session. Only if its list is full, its sessions are
   * read to find ended ones: those that do not exist, those that were {@linkplain #end(TenantId,
   * SessionId) ended}, whose end is {@linkplain #LONG_AGO in the past}, and expired ones
   * {@linkplain #CERTAINLY_ENDED a while} after their end.
   */
  private Capacity places(Tenant tenant, Subject subject, Instant now) {
    long max = tenant.limits().bound(Limit.SESSIONS_PER_SUBJECT);
    SubjectSessions noted = sessions.findForSubject(tenant.id(), subject);
    Gcra rate = subjectRate(tenant);
    if (!rate.conforms(noted.arrival(), now)) {
      return new Exhausted(new SubjectTooFast(rate.conformsAt(noted.arrival(), now)));
    }
    if (noted.sessions().size() < max) {
      return new Available(noted, noted.sessions());
    }
    List<Session> lasting =
        sessions.find(tenant.id(), noted.sessions()).stream()
            .filter(session -> !session.hasEndedAt(now.minus(CERTAINLY_ENDED)))
            .sorted(Comparator.comparing(Session::endsAt))
            .toList();
    int tooMany = lasting.size() - (int) max;
    return tooMany < 0
        ? new Available(noted, lasting.stream().map(Session::id).collect(Collectors.toSet()))
        : new Exhausted(new SubjectFull(lasting.get(tooMany).endsAt().plus(CERTAINLY_ENDED)));
  }

  /**
   * Renews a session: it ends no earlier than a session that is created now. Its connections and
   * its rate stay unchanged, so a renewal evades no limit and does not count as a creation. An
   * ended session stays ended, and no session outlives its {@link Lifetime}.
   *
   * @param caller the caller of the request; empty where sessions need no token
   * @throws Unavailable if the store fails
   */
  public RenewResult renew(Tenant tenant, SessionId id, Optional<Caller> caller) {
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
      Instant now = clock.instant();
      Optional<Session> found =
          sessions.find(tenant.id(), id).filter(session -> !session.hasEndedAt(now));
      if (found.isEmpty()) {
        return new NoSession();
      }
      Session renewed = renewed(found.get(), tenant, caller, now);
      if (renewed.equals(found.get())
          || sessions.renew(tenant.id(), id, renewed.endsAt(), renewed.lifetime(), now)
              == WriteResult.DONE) {
        return new Renewed(renewed);
      }
    }
    throw new Unavailable("a session of " + tenant.id() + ": too many concurrent writes");
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
        lifetime,
        read.place(),
        read.placeTaken());
  }

  private static Instant endFrom(Instant now, Tenant tenant) {
    return now.truncatedTo(ChronoUnit.SECONDS).plusSeconds(tenant.limits().get(Limit.SESSION_TTL));
  }

  /**
   * Ends a session: no connection can join it, its sockets are closed, its connections are
   * subtracted from the count, and its row is deleted. Of concurrent and repeated calls, only one
   * takes the connections out of the session, and only that one lowers the count.
   *
   * <p>Two kinds of ended sessions keep their row until they are ended again: one with a socket in
   * its handshake, which cannot be closed yet, and one with processed messages that may be sent
   * again.
   *
   * <p>After a crash the row is ended or the count too high. The next call repairs the first, and a
   * recount repairs the second.
   *
   * @throws Unavailable if a write failed or a socket could not be closed; the session may have
   *     ended, but its row remains until it is ended again
   */
  public EndResult end(TenantId tenant, SessionId id) {
    return end(tenant, id, place -> {});
  }

  /**
   * Ends a session as {@link #end(TenantId, SessionId)}.
   *
   * @param left receives the place in line that the session took and left, before its sockets are
   *     closed; only one of several calls gets it. A handshake of the session that is about to take
   *     a place frees it
   * @throws Unavailable as {@link #end(TenantId, SessionId)}
   */
  public EndResult end(TenantId tenant, SessionId id, Consumer<Place> left) {
    Instant now = clock.instant();
    Optional<Session> over = sessions.moveEnd(tenant, id, now.minus(LONG_AGO));
    over.filter(Session::placeTaken).flatMap(Session::place).ifPresent(left);
    return end(tenant, id, over, now);
  }

  /**
   * Ends a session as {@link #end(TenantId, SessionId)}, if it has expired. It may have been
   * renewed since it was read.
   *
   * @throws Unavailable as {@link #end(TenantId, SessionId)}
   */
  public EndResult endIfExpired(TenantId tenant, SessionId id) {
    Instant now = clock.instant();
    return end(tenant, id, sessions.moveEndIfEnded(tenant, id, now.minus(LONG_AGO), now), now);
  }

  private EndResult end(TenantId tenant, SessionId id, Optional<Session> over, Instant now) {
    if (over.isEmpty()) {
      return new NoSession();
    }
    Set<String> open = over.get().connections();
    Set<String> gone =
        open.stream()
            .filter(socket -> sockets.close(socket) == Sockets.CloseResult.GONE)
            .collect(Collectors.toUnmodifiableSet());
    Instant handshaking = now.minus(Session.MAX_HANDSHAKE);
    if (gone.stream().anyMatch(socket -> over.get().joinedAt(socket).isAfter(handshaking))) {
      return new EndedButKept(over.get());
    }
    if (!open.isEmpty()) {
      Set<String> taken = sessions.takeConnections(tenant, id);
      if (!taken.isEmpty()) {
        connections.countDown(tenant, taken);
      }
    }
    if (over.get().remembersMessagesAt(now)) {
      return new EndedButKept(over.get());
    }
    sessions.remove(tenant, id);
    return new Ended(over.get());
  }

  /** The result of creating a session. */
  public sealed interface OpenResult {}

  /** The session was created. */
  public record Opened(Session session) implements OpenResult {}

  /**
   * The tenant creates sessions too fast.
   *
   * @param retryAt when the next may be created
   */
  public record TenantTooFast(Instant retryAt) implements OpenResult {}

  /**
   * The subject has its maximum of sessions.
   *
   * @param retryAt when the first place may be free
   */
  public record SubjectFull(Instant retryAt) implements OpenResult {}

  /**
   * The subject creates sessions too fast.
   *
   * @param retryAt when the next may be created
   */
  public record SubjectTooFast(Instant retryAt) implements OpenResult {}

  /** Whether a subject has room for one more session. */
  private sealed interface Capacity {}

  /**
   * It has room.
   *
   * @param lasting its sessions that have not certainly ended
   */
  private record Available(SubjectSessions noted, Set<SessionId> lasting) implements Capacity {}

  /** It has no room. */
  private record Exhausted(OpenResult refusal) implements Capacity {}

  /** The result of renewing a session. */
  public sealed interface RenewResult {}

  /**
   * The session was renewed.
   *
   * @param session its new state
   */
  public record Renewed(Session session) implements RenewResult {}

  /** The result of ending a session. */
  public sealed interface EndResult {}

  /**
   * The session has ended.
   *
   * @param session its last state
   */
  public record Ended(Session session) implements EndResult {}

  /**
   * The session has ended, but its row stays for a while.
   *
   * @param session its last state
   */
  public record EndedButKept(Session session) implements EndResult {}

  /**
   * The session does not exist. For a renewal it may have ended, and for the end of expired
   * sessions it may have been renewed.
   */
  public record NoSession() implements EndResult, RenewResult {}
}
