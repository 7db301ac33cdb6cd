package dev.tollgate.core.testing;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Written;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.LiveTenants;
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

/** Sessions, connections and who has them in memory, over one set of rows. */
public final class InMemorySessions implements Sessions, Connections, LiveTenants {
  private final Map<TenantId, Map<SessionId, Session>> rows = new HashMap<>();
  private final Map<TenantId, Count> counts = new HashMap<>();
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
    of(session.tenant())
        .put(
            session.id(),
            new Session(
                session.tenant(),
                session.id(),
                session.connections(),
                session.endsAt().truncatedTo(ChronoUnit.SECONDS),
                session.arrival(),
                session.processed()));
  }

  @Override
  public synchronized Optional<Session> find(TenantId tenant, SessionId id) {
    outage.check("find");
    return Optional.ofNullable(of(tenant).get(id));
  }

  @Override
  public synchronized Optional<Session> endAt(TenantId tenant, SessionId id, Instant end) {
    outage.check("endAt");
    return Optional.ofNullable(
        of(tenant)
            .computeIfPresent(
                id,
                (key, row) ->
                    new Session(
                        tenant,
                        id,
                        row.connections(),
                        end.truncatedTo(ChronoUnit.SECONDS),
                        row.arrival(),
                        row.processed())));
  }

  @Override
  public synchronized Set<String> take(TenantId tenant, SessionId id) {
    outage.check("take");
    Optional<Session> row = Optional.ofNullable(of(tenant).get(id));
    row.ifPresent(found -> write(found, Set.of(), found.arrival()));
    return row.map(Session::connections).orElse(Set.of());
  }

  @Override
  public synchronized Written remove(TenantId tenant, SessionId id) {
    outage.check("remove");
    Session row = of(tenant).get(id);
    if (row != null && !row.connections().isEmpty()) {
      return Written.OVERTAKEN;
    }
    of(tenant).remove(id);
    return Written.DONE;
  }

  /** Deletes a row whatever it holds, as time to live does, or a hand; returns what it was. */
  public synchronized Session vanish(TenantId tenant, SessionId id) {
    return Optional.ofNullable(of(tenant).remove(id)).orElseThrow();
  }

  @Override
  public synchronized List<Session> list(TenantId tenant) {
    outage.check("list");
    return List.copyOf(of(tenant).values());
  }

  @Override
  public synchronized Joined join(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long most,
      Gcra rate,
      Optional<Instant> expected,
      Instant endsAt,
      Instant now) {
    outage.check("join");
    Session row = of(tenant).get(session);
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
    Instant end = endsAt.truncatedTo(ChronoUnit.SECONDS);
    of(tenant)
        .put(
            session,
            new Session(
                tenant,
                session,
                with,
                end.isAfter(row.endsAt()) ? end : row.endsAt(),
                Optional.of(rate.after(row.arrival(), now)),
                row.processed()));
    return Joined.ADDED;
  }

  @Override
  public synchronized Left leave(TenantId tenant, SessionId session, String connectionId) {
    outage.check("leave");
    Session row = of(tenant).get(session);
    if (row == null || !row.connections().contains(connectionId)) {
      return Left.NOT_IN;
    }
    Set<String> without = new HashSet<>(row.connections());
    without.remove(connectionId);
    write(row, without, row.arrival());
    return Left.REMOVED;
  }

  @Override
  public synchronized void openCount(TenantId tenant) {
    outage.check("openCount");
    counts.putIfAbsent(tenant, Count.NONE);
  }

  @Override
  public synchronized Counted countUp(TenantId tenant, long most) {
    outage.check("countUp");
    Count count = countOf(tenant);
    if (count.open() >= most) {
      return Counted.FULL;
    }
    counts.put(tenant, count.plus(1, 1, 0));
    return Counted.COUNTED;
  }

  @Override
  public synchronized void takeBack(TenantId tenant) {
    outage.check("takeBack");
    counts.computeIfPresent(tenant, (id, count) -> count.plus(-1, -1, 0));
  }

  @Override
  public synchronized void countDown(TenantId tenant, long connections) {
    outage.check("countDown");
    counts.computeIfPresent(tenant, (id, count) -> count.plus(-connections, 0, 0));
  }

  @Override
  public synchronized long count(TenantId tenant) {
    outage.check("count");
    return countOf(tenant).open();
  }

  @Override
  public synchronized Written correctCount(TenantId tenant, long seen, long by) {
    outage.check("correctCount");
    Count count = countOf(tenant);
    if (count.open() != seen) {
      return Written.OVERTAKEN;
    }
    counts.put(tenant, count.plus(by, 0, 0));
    return Written.DONE;
  }

  @Override
  public synchronized void forgetCount(TenantId tenant) {
    outage.check("forgetCount");
    counts.remove(tenant);
  }

  @Override
  public synchronized List<TenantId> list() {
    outage.check("list live");
    return List.copyOf(turns.keySet());
  }

  @Override
  public synchronized Optional<Instant> arrival(TenantId tenant) {
    outage.check("arrival");
    return Optional.ofNullable(turns.get(tenant));
  }

  @Override
  public synchronized Written strikeOff(TenantId tenant, Instant arrival) {
    outage.check("strikeOff");
    return turns.remove(tenant, arrival) ? Written.DONE : Written.OVERTAKEN;
  }

  @Override
  public synchronized Written extend(TenantId tenant, SessionId id, Instant endsAt, Instant now) {
    outage.check("extend");
    Instant end = endsAt.truncatedTo(ChronoUnit.SECONDS);
    Session row = of(tenant).get(id);
    if (row == null || row.endedAt(now) || !row.endsAt().isBefore(end)) {
      return Written.OVERTAKEN;
    }
    of(tenant)
        .put(id, new Session(tenant, id, row.connections(), end, row.arrival(), row.processed()));
    return Written.DONE;
  }

  @Override
  public synchronized Written extend(Session read, Instant endsAt, Map<String, Instant> processed) {
    outage.check("extend");
    Session row = of(read.tenant()).get(read.id());
    if (row == null || !row.endsAt().equals(read.endsAt())) {
      return Written.OVERTAKEN;
    }
    of(read.tenant())
        .put(
            read.id(),
            new Session(
                read.tenant(),
                read.id(),
                row.connections(),
                endsAt.truncatedTo(ChronoUnit.SECONDS),
                row.arrival(),
                processed));
    return Written.DONE;
  }

  synchronized void addRefused(TenantId tenant, long refusals) {
    counts.computeIfPresent(tenant, (id, count) -> count.plus(0, 0, refusals));
  }

  synchronized Count countOf(TenantId tenant) {
    return counts.getOrDefault(tenant, Count.NONE);
  }

  private Map<SessionId, Session> of(TenantId tenant) {
    return rows.computeIfAbsent(tenant, id -> new HashMap<>());
  }

  private void write(Session row, Set<String> connections, Optional<Instant> arrival) {
    of(row.tenant())
        .put(
            row.id(),
            new Session(
                row.tenant(), row.id(), connections, row.endsAt(), arrival, row.processed()));
  }

  /** A tenant's count of connections, and its totals. */
  record Count(long open, long admitted, long refused) {
    private static final Count NONE = new Count(0, 0, 0);

    private Count plus(long opened, long admittedMore, long refusedMore) {
      return new Count(Math.max(0, open + opened), admitted + admittedMore, refused + refusedMore);
    }
  }
}
