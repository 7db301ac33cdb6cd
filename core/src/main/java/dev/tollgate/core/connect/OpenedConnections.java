package dev.tollgate.core.connect;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Correction;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The connections of an attached API. The first connection of a session opens it, with the write
 * that adds the connection.
 *
 * <p>The housekeeper visits live tenants, and a tenant is live because of a write when a session is
 * created. This class sends that write before a connection joins, unless this process sent one for
 * the tenant within {@link #LIVE}. The housekeeper keeps a tenant for a minute after the write, so
 * a connection that joins within the rest of that minute is seen.
 */
public final class OpenedConnections implements Connections {
  /** A handshake that begins so long after the write still joins within its minute. */
  private static final Duration LIVE = Duration.ofSeconds(20);

  /** Beyond so many, all are forgotten, which costs each tenant one write. */
  private static final int MAX_REMEMBERED = 10_000;

  private final Connections rows;
  private final Sessions sessions;
  private final OpenedSessions shared;
  private final Map<TenantId, Instant> live = new ConcurrentHashMap<>();

  /**
   * Connections in these rows.
   *
   * @param shared whose connections share a session
   */
  public OpenedConnections(Connections rows, Sessions sessions, OpenedSessions shared) {
    this.rows = rows;
    this.sessions = sessions;
    this.shared = shared;
  }

  @Override
  public JoinResult join(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long max,
      Gcra rate,
      Optional<Instant> expected,
      Optional<Place> place,
      Instant endsAt,
      Instant now) {
    return open(tenant, session, connectionId, max, rate, expected, endsAt, now);
  }

  /** Opens a session for {@link OpenedSessions#LASTS}, whatever end the tier's limits would set. */
  @Override
  public JoinResult open(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long max,
      Gcra rate,
      Optional<Instant> expected,
      Instant endsAt,
      Instant now) {
    keepLive(tenant, now);
    Instant end = now.plus(OpenedSessions.LASTS);
    return rows.open(tenant, session, connectionId, max, rate, expected, end, now);
  }

  private void keepLive(TenantId tenant, Instant now) {
    if (live.getOrDefault(tenant, Instant.MIN).isAfter(now)) {
      return;
    }
    sessions.acquireCreation(tenant, Gcra.UNLIMITED, now);
    if (live.size() >= MAX_REMEMBERED) {
      live.clear();
    }
    live.put(tenant, now.plus(LIVE));
  }

  /** Removes a connection, and its session if no other connection can join it. */
  @Override
  public LeaveResult leave(TenantId tenant, SessionId session, String connectionId, Duration back) {
    LeaveResult left = rows.leave(tenant, session, connectionId, back);
    if (left == LeaveResult.REMOVED && shared == OpenedSessions.PER_CONNECTION) {
      // The housekeeper removes the row later, if this fails.
      Unavailable.ignore(() -> sessions.remove(tenant, session));
    }
    return left;
  }

  @Override
  public void createCount(TenantId tenant) {
    rows.createCount(tenant);
  }

  @Override
  public CountResult countUp(
      TenantId tenant, String connectionId, long max, boolean withToken, Instant now) {
    return rows.countUp(tenant, connectionId, max, withToken, now);
  }

  @Override
  public void countWithoutToken(TenantId tenant) {
    rows.countWithoutToken(tenant);
  }

  @Override
  public void undoCountUp(TenantId tenant, String connectionId, boolean withToken) {
    rows.undoCountUp(tenant, connectionId, withToken);
  }

  @Override
  public void countDown(TenantId tenant, Set<String> connectionIds) {
    rows.countDown(tenant, connectionIds);
  }

  @Override
  public ConnectionCount readCount(TenantId tenant) {
    return rows.readCount(tenant);
  }

  @Override
  public WriteResult correct(TenantId tenant, ConnectionCount seen, Correction correction) {
    return rows.correct(tenant, seen, correction);
  }

  @Override
  public void deleteCount(TenantId tenant) {
    rows.deleteCount(tenant);
  }
}
