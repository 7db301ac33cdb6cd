package dev.tollgate.core.housekeeping;

import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Threads;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.SessionPages;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Repairs one tenant's sessions and connections. It ends expired sessions, or all sessions if the
 * tenant is not active. It drops ghosts, which are connections whose {@code $disconnect} was lost.
 * It recounts, and removes the tenant from {@link LiveTenants} when it has no session left.
 *
 * <p>A visit reads the sessions page by page and holds one page. Its read is eventually consistent.
 * So it ends a session by a write whose condition is that it has expired, and leaves the drift that
 * it suspects to a {@link Recount}.
 *
 * <p>A tenant with many open connections that is far from its limits is not read every minute: see
 * {@link #CONNECTIONS_A_MINUTE}. Delays far from a limit are harmless.
 *
 * <h2>Ghosts</h2>
 *
 * Far from a limit a ghost is harmless, and no connection is checked. A connection older than API
 * Gateway's maximum is dropped without a check. Its socket is closed too, so that every open socket
 * is counted.
 *
 * <p>Near a limit ghosts use up places. If the tenant has most of its allowed connections or was
 * recently refused one, the connections that were silent for a while are checked. If it was
 * recently refused one because of {@code connectionsPerSession}, the silent connections of full
 * sessions are checked. A visit only selects them, because checks are bounded for all tenants
 * together: see {@link Housekeeping}. Of a tenant with more connections than may be checked in a
 * minute, each visit selects a share, in turn.
 */
public final class TenantVisit {
  /**
   * The silence after which a connection near a limit is checked. It is longer than a handshake,
   * during which API Gateway does not find the socket. A visit follows within a minute, so a ghost
   * is dropped and the count corrected within two minutes.
   */
  private static final Duration QUIET = Duration.ofSeconds(35);

  /**
   * The open connections of a tenant far from its limits for each minute between two reads of its
   * sessions. A tenant with fewer is read every minute, one with ten times as many every ten.
   */
  private static final long CONNECTIONS_A_MINUTE = 5_000;

  /** The most minutes between two reads of a tenant's sessions. */
  private static final long MAX_MINUTES = 10;

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
  private final Sessions sessions;
  private final Connections connections;
  private final Sockets sockets;
  private final SessionLifecycle lifecycle;
  private final Recount recount;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * Visits to tenants.
   *
   * @param executor ends sessions and checks connections; its threads limit how many at a time;
   *     visits must not run on it
   */
  public TenantVisit(
      Tenants tenants,
      LiveTenants live,
      Sessions sessions,
      Connections connections,
      Sockets sockets,
      SessionLifecycle lifecycle,
      Recount recount,
      Executor executor,
      InstantSource clock) {
    this.tenants = tenants;
    this.live = live;
    this.sessions = sessions;
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
   * @param checks the connections that may still be selected for a check
   * @param until no further session or socket is processed after this instant
   */
  Result visit(TenantId id, CheckBudget checks, Instant until) {
    Work work = new Work(id, checks, until);
    work.attempt(work::begin);
    return work.done();
  }

  /**
   * Drops a connection if its socket is closed.
   *
   * @return how many were dropped, or the failure
   */
  VisitReport check(DoubtfulConnection connection) {
    Work work = new Work(connection.tenant(), new CheckBudget(1), Instant.MAX);
    work.attempt(() -> work.dropIfGone(connection));
    return work.report();
  }

  /** A connection that may be closed. */
  record DoubtfulConnection(TenantId tenant, SessionId session, String connectionId) {}

  /**
   * The result of a visit.
   *
   * @param report what the visit did; drift is not repaired yet
   * @param mayHaveDrifted whether the count differs from the sets, which a {@link Recount} decides
   * @param doubtful the connections to check
   */
  record Result(VisitReport report, boolean mayHaveDrifted, List<DoubtfulConnection> doubtful) {}

  /** One visit and its results so far. */
  private final class Work {
    private final TenantId id;
    private final CheckBudget checks;
    private final Instant until;
    private final AtomicLong sessionsEnded = new AtomicLong();
    private final AtomicLong connectionsDropped = new AtomicLong();
    private final List<DoubtfulConnection> doubtful = new ArrayList<>();
    private boolean mayHaveDrifted;
    private volatile Optional<String> failure = Optional.empty();

    private Work(TenantId id, CheckBudget checks, Instant until) {
      this.id = id;
      this.checks = checks;
      this.until = until;
    }

    private Result done() {
      return new Result(report(), mayHaveDrifted, doubtful);
    }

    private VisitReport report() {
      return new VisitReport(id, sessionsEnded.get(), connectionsDropped.get(), 0, failure);
    }

    private void attempt(Runnable step) {
      try {
        step.run();
      } catch (Unavailable | UnreadableRow failed) {
        failure = Optional.of(Recount.reason(failed));
      }
    }

    private void begin() {
      Optional<Tenant> tenant = tenants.find(id);
      Optional<Tenant> served = tenant.filter(found -> found.status() == TenantStatus.ACTIVE);
      Instant now = clock.instant();
      ConnectionCount count = connections.readCount(id);
      Optional<CheckRule> rule = served.map(known -> CheckRule.of(known, count, checks, now));
      if (rule.isPresent() && !rule.get().isNearAnyLimit() && !isTurn(count, now)) {
        return;
      }
      ConnectionParts parts = new ConnectionParts();
      SessionPages.forEach(
          sessions,
          id,
          Sessions.Consistency.EVENTUAL,
          page -> {
            parts.add(page);
            visit(page, rule, now);
          });
      boolean hasChanged = sessionsEnded.get() != 0 || connectionsDropped.get() != 0;
      mayHaveDrifted = hasChanged ? !recount.isRight(id) : !parts.isCountedBy(count);
      if (sessionsEnded.get() == parts.sessions()) {
        removeIfIdle(tenant.isPresent());
      }
    }

    /** Whether the sessions of a tenant that is far from its limits are read in this minute. */
    private boolean isTurn(ConnectionCount count, Instant now) {
      long minutes = Math.min(MAX_MINUTES, 1 + count.open() / CONNECTIONS_A_MINUTE);
      return isTurn(id.hashCode(), minutes, now);
    }

    /** Whether it is the turn of {@code hash}, which comes once in this many minutes. */
    private static boolean isTurn(int hash, long minutes, Instant now) {
      return Math.floorMod(hash + now.getEpochSecond() / 60, minutes) == 0;
    }

    /** Ends the expired sessions of a page, and looks for ghosts in the others. */
    private void visit(List<Session> page, Optional<CheckRule> rule, Instant now) {
      List<Session> sorted = new ArrayList<>(page);
      sorted.sort(Session.CONNECTED_FIRST);
      List<Runnable> steps = new ArrayList<>();
      for (Session session : sorted) {
        if (rule.isEmpty()) {
          if (!isKeptForMessages(session, now)) {
            steps.add(() -> ended(lifecycle.end(id, session.id())));
          }
        } else if (!session.hasEndedAt(now)) {
          steps.addAll(ghostSteps(session, rule.get()));
        } else if (!isKeptForMessages(session, now)) {
          steps.add(() -> ended(lifecycle.endIfExpired(id, session.id())));
        }
      }
      Threads.forEach(
          steps,
          step -> {
            if (clock.instant().isBefore(until)) {
              attempt(step);
            }
          },
          executor);
    }

    /** Whether a session has ended and its row remains only for its processed messages. */
    private static boolean isKeptForMessages(Session session, Instant now) {
      return session.hasEndedAt(now)
          && session.connections().isEmpty()
          && session.remembersMessagesAt(now);
    }

    private void ended(SessionLifecycle.EndResult result) {
      if (result instanceof SessionLifecycle.Ended) {
        sessionsEnded.incrementAndGet();
      }
    }

    /**
     * Selects the doubtful connections of a session, and returns steps that drop the dead ones.
     * Whether they were counted is unknown, so the recount corrects the count.
     */
    private List<Runnable> ghostSteps(Session session, CheckRule rule) {
      List<Runnable> steps = new ArrayList<>();
      for (String connectionId : session.connections()) {
        switch (rule.of(session, connectionId)) {
          case DEAD -> steps.add(() -> drop(session, connectionId));
          case DOUBTFUL -> {
            if (checks.take()) {
              doubtful.add(new DoubtfulConnection(id, session.id(), connectionId));
            }
          }
          case ALIVE -> {}
        }
      }
      return steps;
    }

    private void drop(Session session, String connectionId) {
      sockets.close(connectionId);
      remove(session.id(), connectionId);
    }

    private void dropIfGone(DoubtfulConnection connection) {
      if (!sockets.isOpen(connection.connectionId())) {
        remove(connection.session(), connection.connectionId());
      }
    }

    private void remove(SessionId session, String connectionId) {
      if (connections.leave(id, session, connectionId) == Connections.LeaveResult.REMOVED) {
        connectionsDropped.incrementAndGet();
      }
    }

    /**
     * Removes the tenant from the live tenants, unless a session was created recently. A session
     * that is written after the consistent read has moved the next arrival, so the conditional
     * removal fails.
     */
    private void removeIfIdle(boolean exists) {
      Optional<Instant> arrival = live.nextArrival(id);
      if (arrival.isEmpty()
          || arrival.get().isAfter(clock.instant().minus(OPENING))
          || connections.count(id) != 0
          || hasSession()) {
        return;
      }
      if (!exists) {
        connections.deleteCount(id);
      }
      live.remove(id, arrival.get());
    }

    private boolean hasSession() {
      Page<Session> first = sessions.page(id, Optional.empty(), 1, Sessions.Consistency.CONSISTENT);
      return !first.itemsOrThrow().isEmpty() || first.next().isPresent();
    }
  }

  /**
   * Decides which connections of a tenant to check.
   *
   * @param minutes the number of minutes among which the checks are divided
   * @param nearTenantLimit whether the tenant is near {@code tenantConnections}
   * @param fullFrom the number of connections from which a session counts as full
   */
  private record CheckRule(long minutes, boolean nearTenantLimit, long fullFrom, Instant now) {
    static CheckRule of(Tenant tenant, ConnectionCount count, CheckBudget checks, Instant now) {
      long max = tenant.limits().get(Limit.TENANT_CONNECTIONS);
      Instant lately = now.minus(RECENTLY);
      return new CheckRule(
          checks.runsFor(count.open()),
          count.open() * 100 >= max * NEAR_PERCENT
              || count.tenantFullAt().filter(lately::isBefore).isPresent(),
          count.sessionFullAt().filter(lately::isBefore).isPresent()
              ? tenant.limits().get(Limit.CONNECTIONS_PER_SESSION)
              : Long.MAX_VALUE,
          now);
    }

    Liveness of(Session session, String connectionId) {
      Instant lastSign = session.lastSignOfLife(connectionId);
      if (session.joinedAt(connectionId).isBefore(now.minus(OLD))) {
        return Liveness.DEAD;
      }
      boolean isNear = nearTenantLimit || session.connections().size() >= fullFrom;
      return isNear
              && lastSign.isBefore(now.minus(QUIET))
              && Work.isTurn(connectionId.hashCode(), minutes, now)
          ? Liveness.DOUBTFUL
          : Liveness.ALIVE;
    }

    private boolean isNearAnyLimit() {
      return nearTenantLimit || fullFrom != Long.MAX_VALUE;
    }
  }

  /** Whether a connection is probably open. */
  private enum Liveness {
    /** API Gateway has closed it: drop it. */
    DEAD,
    /** It may be closed: check it. */
    DOUBTFUL,
    /** It is taken for open. */
    ALIVE
  }
}
