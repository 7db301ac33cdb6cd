package dev.tollgate.core.housekeeping;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Puts right what is wrong with one tenant's sessions and connections: ends sessions that are over,
 * or all if the tenant is not served; drops ghosts, which are connections whose {@code $disconnect}
 * was lost; recounts; and strikes the tenant off the {@link LiveTenants} when it has no session
 * left.
 *
 * <h2>Ghosts</h2>
 *
 * Far from a limit a ghost does no harm, and nobody asks after it until it has shown no sign of
 * life for longer than API Gateway leaves an idle connection open. One that is older than API
 * Gateway lets any connection become is dropped without being asked after. Its socket is closed as
 * well, so that no socket can be open that is not counted.
 *
 * <p>Near a limit ghosts take the places of others. There API Gateway is asked after every
 * connection that was quiet for a while: after all of a tenant that has most of the connections
 * that it may have, or was lately refused one, and after those of a full session if the tenant was
 * lately refused one for that.
 */
public final class TenantVisit {
  /**
   * A connection that gave no sign of life for so long is asked after, near a limit. It is longer
   * than a handshake takes, until whose end a socket is not found. It leaves enough of two minutes
   * for the next visit, a minute later, to ask and to recount.
   */
  private static final Duration QUIET = Duration.ofSeconds(45);

  /**
   * A connection that gave no sign of life for so long may be dead: API Gateway closes it after ten
   * minutes without a frame. A message is written down when a minute has passed since the last one
   * was; frames that are no messages, or are refused, are not. So it is asked after, in the first
   * minutes of every such time.
   */
  private static final Duration IDLE = Duration.ofMinutes(11);

  /** Visits are a minute apart; should one fail, the next asks. */
  private static final Duration ASKED = Duration.ofMinutes(3);

  /** A connection of this age is dead: API Gateway closes it after two hours. */
  private static final Duration OLD = Duration.ofMinutes(121);

  /** A refusal so long ago is one of which the visit since then has not taken care. */
  private static final Duration LATELY = Duration.ofMinutes(2);

  /**
   * A tenant that has so many in a hundred of the connections that it may have is near that. The
   * rest has room for the ghosts that come between two visits.
   */
  private static final long NEAR_PERCENT = 75;

  /** So long after a turn was taken, the session that it was taken for has been written down. */
  private static final Duration OPENING = Duration.ofSeconds(60);

  private final Tenants tenants;
  private final LiveTenants live;
  private final Connections connections;
  private final Sockets sockets;
  private final SessionLifecycle life;
  private final Recount recount;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * Visits to tenants.
   *
   * @param executor asks after connections, as many at a time as it has threads; visits must not
   *     run on it
   */
  public TenantVisit(
      Tenants tenants,
      LiveTenants live,
      Connections connections,
      Sockets sockets,
      SessionLifecycle life,
      Recount recount,
      Executor executor,
      InstantSource clock) {
    this.tenants = tenants;
    this.live = live;
    this.connections = connections;
    this.sockets = sockets;
    this.life = life;
    this.recount = recount;
    this.executor = executor;
    this.clock = clock;
  }

  /**
   * Visits a tenant. What cannot be done is left to the next visit.
   *
   * @param until no session and no socket is begun with then
   */
  public VisitReport visit(TenantId id, Instant until) {
    Work work = new Work(id);
    work.attempt(() -> work.begin(until));
    return work.done();
  }

  /** One visit, and what it has done so far. */
  private final class Work {
    private final TenantId id;
    private long sessionsEnded;
    private final AtomicLong connectionsDropped = new AtomicLong();
    private long drift;
    private volatile Optional<String> failure = Optional.empty();

    private Work(TenantId id) {
      this.id = id;
    }

    private VisitReport done() {
      return new VisitReport(id, sessionsEnded, connectionsDropped.get(), drift, failure);
    }

    private void attempt(Runnable step) {
      try {
        step.run();
      } catch (Unavailable unavailable) {
        failure = Optional.of(unavailable.reason());
      } catch (UnreadableRow unreadable) {
        failure = Optional.of(unreadable.reason());
      }
    }

    private void begin(Instant until) {
      Optional<Tenant> tenant = tenants.find(id);
      Optional<Tenant> served = tenant.filter(found -> found.status() == TenantStatus.ACTIVE);
      // What is over now cannot be extended any more before it is listed, nor after.
      Instant now = clock.instant();
      Recount.Snapshot glance = recount.snapshot(id);
      List<Session> lasting = new ArrayList<>();
      List<Session> sessions = shuffled(glance.sessions());
      sessions.sort(Session.CONNECTED_FIRST);
      for (Session session : sessions) {
        if (served.isPresent() && !session.hasEndedAt(now)) {
          lasting.add(session);
        } else if (isBefore(until) && !isKeptForItsNotes(session, now)) {
          attempt(() -> end(session));
        }
      }
      served.ifPresent(
          known ->
              dropGhosts(Suspicion.of(known, glance.count(), clock.instant()), lasting, until));
      drift = hasChanged() ? recount.repair(id) : recount.repair(id, glance);
      if (sessionsEnded == glance.sessions().size()) {
        strikeOff(tenant.isPresent());
      }
    }

    /** Whether a session has ended and its row stays only for the messages that it notes. */
    private static boolean isKeptForItsNotes(Session session, Instant now) {
      return session.hasEndedAt(now)
          && session.connections().isEmpty()
          && session.remembersMessagesAt(now);
    }

    /** Should there never be time for all, it is not always the same that are left out. */
    private <T> List<T> shuffled(List<T> all) {
      List<T> copy = new ArrayList<>(all);
      Collections.shuffle(copy);
      return copy;
    }

    private boolean isBefore(Instant until) {
      return clock.instant().isBefore(until);
    }

    private boolean hasChanged() {
      return sessionsEnded != 0 || connectionsDropped.get() != 0;
    }

    private void end(Session session) {
      if (!(life.end(id, session.id()) instanceof SessionLifecycle.EndedButKept)) {
        sessionsEnded++;
      }
    }

    /**
     * Takes ghosts out of their sessions. Whether they were counted nobody knows: that is left to
     * the recount.
     */
    private void dropGhosts(Suspicion suspicion, List<Session> sessions, Instant until) {
      List<Runnable> steps = new ArrayList<>();
      for (Session session : sessions) {
        for (String connectionId : session.connections()) {
          switch (suspicion.of(session, connectionId)) {
            case DEAD -> steps.add(() -> drop(session, connectionId));
            case DOUBTFUL -> steps.add(() -> dropIfGone(session, connectionId));
            case NONE -> {}
          }
        }
      }
      List<CompletableFuture<Void>> under =
          shuffled(steps).stream()
              .map(
                  step ->
                      CompletableFuture.runAsync(
                          () -> {
                            if (isBefore(until)) {
                              attempt(step);
                            }
                          },
                          executor))
              .toList();
      under.forEach(CompletableFuture::join);
    }

    private void drop(Session session, String connectionId) {
      sockets.close(connectionId);
      remove(session, connectionId);
    }

    private void dropIfGone(Session session, String connectionId) {
      if (!sockets.isOpen(connectionId)) {
        remove(session, connectionId);
      }
    }

    private void remove(Session session, String connectionId) {
      if (connections.leave(id, session.id(), connectionId) == Connections.LeaveResult.REMOVED) {
        connectionsDropped.incrementAndGet();
      }
    }

    /**
     * Strikes the tenant off, if nobody has opened a session of it lately: one that is written down
     * since they were listed has moved the turns on, before this looks at them or after.
     */
    private void strikeOff(boolean exists) {
      Optional<Instant> arrival = live.nextArrival(id);
      if (arrival.isEmpty()
          || arrival.get().isAfter(clock.instant().minus(OPENING))
          || connections.count(id) != 0) {
        return;
      }
      if (!exists) {
        connections.deleteCount(id);
      }
      live.remove(id, arrival.get());
    }
  }

  /**
   * What a tenant's connections are suspected of at an instant.
   *
   * @param nearTenantLimit whether any may take the place of another
   * @param fullFrom the size from which a session's may take the place of another
   */
  private record Suspicion(boolean nearTenantLimit, long fullFrom, Instant now) {
    static Suspicion of(Tenant tenant, ConnectionCount count, Instant now) {
      long most = tenant.limits().get(Limit.TENANT_CONNECTIONS);
      Instant lately = now.minus(LATELY);
      return new Suspicion(
          count.open() * 100 >= most * NEAR_PERCENT
              || count.tenantFullAt().filter(lately::isBefore).isPresent(),
          count.sessionFullAt().filter(lately::isBefore).isPresent()
              ? tenant.limits().get(Limit.CONNECTIONS_PER_SESSION)
              : Long.MAX_VALUE,
          now);
    }

    Suspected of(Session session, String connectionId) {
      Instant lastSign = session.lastSignOfLife(connectionId);
      if (session.joinedAt(connectionId).isBefore(now.minus(OLD))) {
        return Suspected.DEAD;
      }
      boolean isNear = nearTenantLimit || session.connections().size() >= fullFrom;
      boolean isDoubtful = isIdle(lastSign) || (isNear && lastSign.isBefore(now.minus(QUIET)));
      return isDoubtful ? Suspected.DOUBTFUL : Suspected.NONE;
    }

    private boolean isIdle(Instant lastSign) {
      Duration silence = Duration.between(lastSign, now);
      return silence.compareTo(IDLE) > 0
          && silence.minus(IDLE.multipliedBy(silence.dividedBy(IDLE))).compareTo(ASKED) < 0;
    }
  }

  /** What a connection is suspected of. */
  private enum Suspected {
    /** API Gateway has closed it. */
    DEAD,
    /** It may be closed. */
    DOUBTFUL,
    /** Nothing that matters. */
    NONE
  }
}
