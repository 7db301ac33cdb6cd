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
 * Repairs one tenant's sessions and connections. It ends expired sessions, or all sessions if the
 * tenant is not active. It drops ghosts, which are connections whose {@code $disconnect} was lost.
 * It recounts, and removes the tenant from {@link LiveTenants} when it has no session left.
 *
 * <h2>Ghosts</h2>
 *
 * Far from a limit a ghost is harmless. Its connection is checked only after it was silent for
 * longer than API Gateway keeps an idle connection open. A connection older than API Gateway's
 * maximum is dropped without a check. Its socket is closed too, so that every open socket is
 * counted.
 *
 * <p>Near a limit ghosts use up places. If the tenant has most of its allowed connections or was
 * recently refused one, all connections that were silent for a while are checked. If it was
 * recently refused one because of {@code connectionsPerSession}, the silent connections of full
 * sessions are checked.
 */
public final class TenantVisit {
  /**
   * The silence after which a connection near a limit is checked. It is longer than a handshake,
   * during which API Gateway does not find the socket. A visit follows within a minute, so a ghost
   * is dropped and the count corrected within two minutes.
   */
  private static final Duration QUIET = Duration.ofSeconds(45);

  /**
   * The silence after which any connection may be dead: API Gateway closes a connection after ten
   * minutes without a frame, and messages are recorded once a minute. Refused frames and frames
   * that are no messages are not recorded, so a silent connection may be open. It is checked in the
   * first minutes of each such period.
   */
  private static final Duration IDLE = Duration.ofMinutes(11);

  /**
   * The part of each period in which a connection is checked: some visits, which are a minute
   * apart, in case one fails.
   */
  private static final Duration CHECK_PERIOD = Duration.ofMinutes(3);

  /** The age at which a connection is dead: API Gateway closes it after two hours. */
  private static final Duration OLD = Duration.ofMinutes(121);

  /** A refusal within this time counts as recent: no visit since then has finished its checks. */
  private static final Duration RECENTLY = Duration.ofMinutes(2);

  /**
   * The percentage of {@code tenantConnections} from which a tenant is near its limit. The rest
   * leaves room for the ghosts between two visits.
   */
  private static final long NEAR_PERCENT = 75;

  /** The time after which a session that acquired its creation has certainly been written. */
  private static final Duration OPENING = Duration.ofSeconds(60);

  private final Tenants tenants;
  private final LiveTenants live;
  private final Connections connections;
  private final Sockets sockets;
  private final SessionLifecycle lifecycle;
  private final Recount recount;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * Visits to tenants.
   *
   * @param executor checks connections; its threads limit how many at a time; visits must not run
   *     on it
   */
  public TenantVisit(
      Tenants tenants,
      LiveTenants live,
      Connections connections,
      Sockets sockets,
      SessionLifecycle lifecycle,
      Recount recount,
      Executor executor,
      InstantSource clock) {
    this.tenants = tenants;
    this.live = live;
    this.connections = connections;
    this.sockets = sockets;
    this.lifecycle = lifecycle;
    this.recount = recount;
    this.executor = executor;
    this.clock = clock;
  }

  /**
   * Visits a tenant. The next visit does what this one cannot.
   *
   * @param until no further session or socket is processed after this instant
   */
  public VisitReport visit(TenantId id, Instant until) {
    Work work = new Work(id);
    work.attempt(() -> work.begin(until));
    return work.done();
  }

  /** One visit and its results so far. */
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
      // A session that has ended by now can no longer be extended.
      Instant now = clock.instant();
      Recount.Snapshot glance = recount.snapshot(id);
      List<Session> lasting = new ArrayList<>();
      List<Session> sessions = shuffled(glance.sessions());
      sessions.sort(Session.CONNECTED_FIRST);
      for (Session session : sessions) {
        if (served.isPresent() && !session.hasEndedAt(now)) {
          lasting.add(session);
        } else if (isBefore(until) && !isKeptForMessages(session, now)) {
          attempt(() -> end(session));
        }
      }
      served.ifPresent(
          known ->
              dropGhosts(Suspicion.of(known, glance.count(), clock.instant()), lasting, until));
      drift = hasChanged() ? recount.repair(id) : recount.repair(id, glance);
      if (sessionsEnded == glance.sessions().size()) {
        removeIfIdle(tenant.isPresent());
      }
    }

    /** Whether a session has ended and its row remains only for its processed messages. */
    private static boolean isKeptForMessages(Session session, Instant now) {
      return session.hasEndedAt(now)
          && session.connections().isEmpty()
          && session.remembersMessagesAt(now);
    }

    /** A random order, so that the same items are not skipped each time if time runs out. */
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
      if (!(lifecycle.end(id, session.id()) instanceof SessionLifecycle.EndedButKept)) {
        sessionsEnded++;
      }
    }

    /**
     * Removes ghosts from their sessions. Whether they were counted is unknown, so the recount
     * corrects the count.
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
      List<CompletableFuture<Void>> running =
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
      running.forEach(CompletableFuture::join);
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
     * Removes the tenant from the live tenants, unless a session was created recently. A session
     * that was written since the list was read has moved the next arrival, so the conditional
     * removal fails.
     */
    private void removeIfIdle(boolean exists) {
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
   * Decides which connections of a tenant to check.
   *
   * @param nearTenantLimit whether the tenant is near {@code tenantConnections}
   * @param fullFrom the number of connections from which a session counts as full
   */
  private record Suspicion(boolean nearTenantLimit, long fullFrom, Instant now) {
    static Suspicion of(Tenant tenant, ConnectionCount count, Instant now) {
      long max = tenant.limits().get(Limit.TENANT_CONNECTIONS);
      Instant lately = now.minus(RECENTLY);
      return new Suspicion(
          count.open() * 100 >= max * NEAR_PERCENT
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
          && silence.minus(IDLE.multipliedBy(silence.dividedBy(IDLE))).compareTo(CHECK_PERIOD) < 0;
    }
  }

  /** What to do with a connection. */
  private enum Suspected {
    /** API Gateway has closed it: drop it. */
    DEAD,
    /** It may be closed: check it. */
    DOUBTFUL,
    /** Nothing. */
    NONE
  }
}
