package dev.tollgate.core.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.housekeeping.Recount;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Limits;
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
public final class SessionLifecycle {
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
   * Sessions that a subject may create in a minute for each that it may have at once. Each new
   * session may make connections at the full rate of a session, so a subject that creates and ends
   * sessions in turn multiplies that rate. Nor could it be left to use up all that its tenant may
   * create: it never gets more than half of them.
   */
  private static final long SESSIONS_PER_PLACE = 2;

  /**
   * How long a session that is over by itself still takes its subject's place. Whatever moves a
   * session's end asks whether it was over when that began, and may be written later: a place that
   * was given away by then would be taken twice. No call is under way for so long.
   */
  private static final Duration OVER_FOR_CERTAIN = Duration.ofSeconds(10);

  /**
   * How long the sessions of a subject stay noted after the last was created: as long as any
   * session can live.
   */
  private static final Duration NOTED_FOR = Duration.ofSeconds(Limit.SESSION_LIFETIME.max());

  /** Others write between a read and a write of the same row seldom, and then once or twice. */
  private static final int MOST_ATTEMPTS = 10;

  private final Sessions sessions;
  private final Connections connections;
  private final Sockets sockets;
  private final SecureRandom random;
  private final InstantSource clock;

  /** A life of sessions that are written down in {@code sessions}. */
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
   * <p>A subject that has as many sessions as it may have, or creates them too fast, uses up none
   * of the tenant's turns. A session is noted for its subject after it was created: so a noted
   * session that is not there is over, and its place is free. Should this die in between, there is
   * a session that nobody knows and that ends by itself.
   *
   * @param caller whose token the request came with; empty where sessions need no token, and then
   *     there are no limits per subject
   * @throws Unavailable if that could not be written
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
    Gcra rate =
        Gcra.perMinute(tenant.limits().get(Limit.TENANT_PER_MINUTE) * SESSIONS_PER_CONNECTION);
    return sessions.acquireCreation(tenant.id(), rate, now);
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
        lifetime);
  }

  /** Notes a session for its subject; returns why not, if that is refused. */
  private Optional<OpenResult> note(
      Tenant tenant, Subject subject, SessionId id, Capacity seen, Instant now) {
    Capacity places = seen;
    for (int i = 0; i < MOST_ATTEMPTS; i++) {
      if (places instanceof Exhausted taken) {
        return Optional.of(taken.refusal());
      }
      if (note(tenant, subject, id, (Available) places, now) == WriteResult.DONE) {
        return Optional.empty();
      }
      places = places(tenant, subject, now);
    }
    throw new Unavailable(
        "sessions of a subject of " + tenant.id() + ": too many others open some");
  }

  private WriteResult note(
      Tenant tenant, Subject subject, SessionId id, Available free, Instant now) {
    Gcra rate = subjectRate(tenant);
    Instant until = now.plus(NOTED_FOR);
    SubjectSessions noted = free.noted();
    if (free.lasting().size() == noted.sessions().size()) {
      long most = tenant.limits().get(Limit.SESSIONS_PER_SUBJECT);
      return sessions.addToSubject(tenant.id(), subject, id, most, rate, noted, now, until);
    }
    Set<SessionId> next = new HashSet<>(free.lasting());
    next.add(id);
    return sessions.replaceForSubject(tenant.id(), subject, next, rate, noted, now, until);
  }

  /** How fast a subject may create sessions, however soon it ends them. */
  private static Gcra subjectRate(Tenant tenant) {
    Limits limits = tenant.limits();
    return Gcra.perMinute(
        Math.min(
            limits.get(Limit.SESSIONS_PER_SUBJECT) * SESSIONS_PER_PLACE,
            limits.get(Limit.TENANT_PER_MINUTE) * SESSIONS_PER_CONNECTION / 2));
  }

  /**
   * What places a subject has. Only if all are taken it matters which of its sessions are over:
   * those that are not there, those that were {@linkplain #end ended}, whose end lies {@linkplain
   * #LONG_AGO far back}, and the others {@linkplain #OVER_FOR_CERTAIN a while} after their end.
   */
  private Capacity places(Tenant tenant, Subject subject, Instant now) {
    long most = tenant.limits().get(Limit.SESSIONS_PER_SUBJECT);
    SubjectSessions noted = sessions.findForSubject(tenant.id(), subject);
    Gcra rate = subjectRate(tenant);
    if (!rate.conforms(noted.arrival(), now)) {
      return new Exhausted(new SubjectTooFast(rate.conformsAt(noted.arrival(), now)));
    }
    if (noted.sessions().size() < most) {
      return new Available(noted, noted.sessions());
    }
    List<Session> lasting =
        sessions.find(tenant.id(), noted.sessions()).stream()
            .filter(session -> !session.hasEndedAt(now.minus(OVER_FOR_CERTAIN)))
            .sorted(Comparator.comparing(Session::endsAt))
            .toList();
    int tooMany = lasting.size() - (int) most;
    return tooMany < 0
        ? new Available(noted, lasting.stream().map(Session::id).collect(Collectors.toSet()))
        : new Exhausted(new SubjectFull(lasting.get(tooMany).endsAt().plus(OVER_FOR_CERTAIN)));
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
  public RenewResult renew(Tenant tenant, SessionId id, Optional<Caller> caller) {
    for (int i = 0; i < MOST_ATTEMPTS; i++) {
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
  public EndResult end(TenantId tenant, SessionId id) {
    Instant now = clock.instant();
    Optional<Session> over = sessions.moveEnd(tenant, id, now.minus(LONG_AGO));
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

  /** What became of a session that was to be opened. */
  public sealed interface OpenResult {}

  /** It is open. */
  public record Opened(Session session) implements OpenResult {}

  /** The tenant opens too many; the next may be opened then. */
  public record TenantTooFast(Instant retryAt) implements OpenResult {}

  /** The subject has as many sessions as it may have; the first place may be free then. */
  public record SubjectFull(Instant retryAt) implements OpenResult {}

  /** The subject created too many sessions lately; the next may be created then. */
  public record SubjectTooFast(Instant retryAt) implements OpenResult {}

  /** Whether a subject may have one more session. */
  private sealed interface Capacity {}

  /**
   * It may.
   *
   * @param lasting those of its sessions that are not known to be over
   */
  private record Available(SubjectSessions noted, Set<SessionId> lasting) implements Capacity {}

  /** It may not. */
  private record Exhausted(OpenResult refusal) implements Capacity {}

  /** What became of a session that was to be renewed. */
  public sealed interface RenewResult {}

  /** It lives on; this is what it is now. */
  public record Renewed(Session session) implements RenewResult {}

  /** What became of a session that was to end. */
  public sealed interface EndResult {}

  /** It has ended; this is what it was when it could be joined no more. */
  public record Ended(Session session) implements EndResult {}

  /**
   * It is over, but its row stays for a while; this is what it was when it could be joined no more.
   */
  public record EndedButKept(Session session) implements EndResult {}

  /** There was none, or, for a renewal, it is over. */
  public record NoSession() implements EndResult, RenewResult {}
}
