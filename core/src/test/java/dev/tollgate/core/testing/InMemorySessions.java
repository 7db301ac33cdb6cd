package dev.tollgate.core.testing;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Sessions and connections in memory, over one set of rows. */
public final class InMemorySessions implements Sessions, Connections {
  private final Map<Key, Session> rows = new HashMap<>();
  private final Map<TenantId, Long> counts = new HashMap<>();
  private final Map<TenantId, Instant> turns = new HashMap<>();
  private final Outage outage = new Outage();

  /** What stops sessions and connections from being read and written. */
  public Outage outage() {
    return outage;
  }

  @Override
  public synchronized Optional<Instant> takeTurn(TenantId tenant, Gcra rate, Instant now) {
    outage.check("takeTurn");
    Optional<Instant> arrival = Optional.ofNullable(turns.get(tenant));
    if (!rate.conforms(arrival, now)) {
      return Optional.of(rate.conformsAt(arrival, now));
    }
    turns.put(tenant, rate.after(arrival, now));
    return Optional.empty();
  }

  @Override
  public synchronized void forgetTurns(TenantId tenant) {
    outage.check("forgetTurns");
    turns.remove(tenant);
  }

  @Override
  public synchronized void create(Session session) {
    outage.check("create");
    rows.put(
        new Key(session.tenant(), session.id()),
        new Session(
            session.tenant(),
            session.id(),
            session.connections(),
            session.endsAt().truncatedTo(ChronoUnit.SECONDS),
            session.arrival()));
  }

  @Override
  public synchronized Optional<Session> find(TenantId tenant, SessionId id) {
    outage.check("find");
    return Optional.ofNullable(rows.get(new Key(tenant, id)));
  }

  @Override
  public synchronized Optional<Session> remove(TenantId tenant, SessionId id) {
    outage.check("remove");
    return Optional.ofNullable(rows.remove(new Key(tenant, id)));
  }

  @Override
  public synchronized List<Session> list(TenantId tenant) {
    outage.check("list");
    return rows.values().stream().filter(session -> session.tenant().equals(tenant)).toList();
  }

  @Override
  public synchronized Joined join(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long most,
      Gcra rate,
      Optional<Instant> expected,
      Instant now) {
    outage.check("join");
    Session row = rows.get(new Key(tenant, session));
    if (row == null || row.endedAt(now)) {
      return Joined.NO_SESSION;
    }
    if (row.connections().contains(connectionId)) {
      return Joined.ALREADY_IN;
    }
    if (row.connections().size() >= most) {
      return Joined.FULL;
    }
    if (!rate.conforms(row.arrival(), now)) {
      return Joined.TOO_SOON;
    }
    Set<String> with = new HashSet<>(row.connections());
    with.add(connectionId);
    write(row, with, Optional.of(rate.after(row.arrival(), now)));
    return Joined.ADDED;
  }

  @Override
  public synchronized Left leave(TenantId tenant, SessionId session, String connectionId) {
    outage.check("leave");
    Session row = rows.get(new Key(tenant, session));
    if (row == null || !row.connections().contains(connectionId)) {
      return Left.NOT_IN;
    }
    Set<String> without = new HashSet<>(row.connections());
    without.remove(connectionId);
    write(row, without, row.arrival());
    return Left.REMOVED;
  }

  @Override
  public synchronized Counted countUp(TenantId tenant, long most) {
    outage.check("countUp");
    long count = counts.getOrDefault(tenant, 0L);
    if (count >= most) {
      return Counted.FULL;
    }
    counts.put(tenant, count + 1);
    return Counted.COUNTED;
  }

  @Override
  public synchronized void countDown(TenantId tenant, long connections) {
    outage.check("countDown");
    counts.computeIfPresent(tenant, (id, count) -> Math.max(0, count - connections));
  }

  @Override
  public synchronized long count(TenantId tenant) {
    outage.check("count");
    return counts.getOrDefault(tenant, 0L);
  }

  @Override
  public synchronized void forgetCount(TenantId tenant) {
    outage.check("forgetCount");
    counts.remove(tenant);
  }

  private void write(Session row, Set<String> connections, Optional<Instant> arrival) {
    rows.put(
        new Key(row.tenant(), row.id()),
        new Session(row.tenant(), row.id(), connections, row.endsAt(), arrival));
  }

  private record Key(TenantId tenant, SessionId session) {}
}
