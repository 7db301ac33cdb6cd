package dev.tollgate.core.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
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

/**
 * Puts right what is wrong with one tenant's sessions and connections: ends sessions that are over,
 * or all if the tenant is not served; drops connections that were closed without a word; recounts;
 * and strikes the tenant off the {@link LiveTenants} when it has no session left.
 */
public final class TenantVisit {
  /** A session in which nothing was sent for so long has its connections looked after. */
  private static final Duration QUIET = Duration.ofSeconds(60);

  /** So long may a connection have joined its session and not be open yet: a handshake's time. */
  private static final Duration HANDSHAKE = Duration.ofSeconds(30);

  /** So long after a turn was taken, the session that it was taken for has been written down. */
  private static final Duration OPENING = Duration.ofSeconds(60);

  private final Tenants tenants;
  private final LiveTenants live;
  private final Sessions sessions;
  private final Connections connections;
  private final Sockets sockets;
  private final SessionLife life;
  private final Recount recount;
  private final InstantSource clock;

  /** Visits to the tenants whose sessions are written down in {@code sessions}. */
  public TenantVisit(
      Tenants tenants,
      LiveTenants live,
      Sessions sessions,
      Connections connections,
      Sockets sockets,
      SessionLife life,
      Recount recount,
      InstantSource clock) {
    this.tenants = tenants;
    this.live = live;
    this.sessions = sessions;
    this.connections = connections;
    this.sockets = sockets;
    this.life = life;
    this.recount = recount;
    this.clock = clock;
  }

  /**
   * Visits a tenant. What cannot be done is left to the next visit.
   *
   * @param until no session and no socket is begun with then
   */
  public Visit visit(TenantId id, Instant until) {
    Work work = new Work(id);
    work.attempt(() -> work.begin(until));
    return work.done();
  }

  /** One visit, and what it has done so far. */
  private final class Work {
    private final TenantId id;
    private long sessionsEnded;
    private long connectionsDropped;
    private long drift;
    private Optional<String> failure = Optional.empty();

    private Work(TenantId id) {
      this.id = id;
    }

    private Visit done() {
      return new Visit(id, sessionsEnded, connectionsDropped, drift, failure);
    }

    private void attempt(Runnable step) {
      try {
        step.run();
      } catch (Unavailable unavailable) {
        failure = Optional.of(unavailable.reason());
      }
    }

    private void begin(Instant until) {
      Optional<Tenant> tenant = tenants.find(id);
      Optional<Tenant> served = tenant.filter(found -> found.status() == TenantStatus.ACTIVE);
      List<Session> found = new ArrayList<>(sessions.list(id));
      // Should there never be time for all, it is not always the same that are left out.
      Collections.shuffle(found);
      for (Session session : found) {
        if (!isBefore(until)) {
          break;
        }
        if (served.isEmpty() || session.endedAt(clock.instant())) {
          attempt(() -> end(session));
        } else if (isQuiet(session, served.get())) {
          attempt(() -> dropGone(session, until));
        }
      }
      drift = recount.repair(id);
      if (sessionsEnded == found.size()) {
        strikeOff(tenant.isPresent());
      }
    }

    private boolean isBefore(Instant until) {
      return clock.instant().isBefore(until);
    }

    private void end(Session session) {
      life.end(id, session.id());
      sessionsEnded++;
    }

    /**
     * Whether nothing tells that the connections of a session are alive: no message has moved its
     * end for a while, and none has joined so lately that its handshake may be under way. A
     * session's arrival time lies after the instant at which a connection last joined.
     */
    private boolean isQuiet(Session session, Tenant tenant) {
      Instant now = clock.instant();
      Duration life = Duration.ofSeconds(tenant.limits().get(Limit.SESSION_TTL));
      return session.endsAt().isBefore(now.plus(life).minus(QUIET))
          && session.arrival().filter(arrival -> arrival.isAfter(now.minus(HANDSHAKE))).isEmpty();
    }

    /**
     * Takes those out of a session whose sockets are gone. Whether they were counted nobody knows:
     * that is left to the recount.
     */
    private void dropGone(Session session, Instant until) {
      for (String connectionId : session.connections()) {
        if (!isBefore(until)) {
          return;
        }
        if (!sockets.isOpen(connectionId)
            && connections.leave(id, session.id(), connectionId) == Connections.Left.REMOVED) {
          connectionsDropped++;
        }
      }
    }

    /**
     * Strikes the tenant off, if nobody has opened a session of it lately: one that is written down
     * since they were listed has moved the turns on, before this looks at them or after.
     */
    private void strikeOff(boolean exists) {
      Optional<Instant> arrival = live.arrival(id);
      if (arrival.isEmpty()
          || arrival.get().isAfter(clock.instant().minus(OPENING))
          || connections.count(id) != 0) {
        return;
      }
      if (!exists) {
        connections.forgetCount(id);
      }
      live.strikeOff(id, arrival.get());
    }
  }
}
