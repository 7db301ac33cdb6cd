package dev.tollgate.core.testing.memory;

import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.connect.RefusalCounts;
import dev.tollgate.core.housekeeping.LiveTenants;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Correction;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Lifetime;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Subject;
import dev.tollgate.core.session.SubjectSessions;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Sessions, connections and live tenants in memory, over one set of rows. */
public final class InMemorySessions implements Sessions, Connections, LiveTenants {
  private static final int PAGE = 100;

  private final Map<TenantId, Map<SessionId, Session>> rows = new HashMap<>();
  private final Map<TenantId, Count> counts = new HashMap<>();
  private final Map<TenantId, Instant> turns = new HashMap<>();
  private final Map<TenantId, Map<Subject, SubjectSessions>> subjects = new HashMap<>();
  private final Map<TenantId, List<Session>> lagging = new HashMap<>();
  private int corrections;
  private final Outage outage = new Outage();
  private final List<UnreadableRow> unreadable = new ArrayList<>();

  /** The outage of reads and writes. */
  public Outage outage() {
    return outage;
  }

  @Override
  public synchronized Optional<Instant> acquireCreation(TenantId tenant, Gcra rate, Instant now) {
    outage.check("acquireCreation");
    Optional<Instant> arrival = Optional.ofNullable(turns.get(tenant));
    if (!rate.conforms(arrival, now)) {
      return Optional.of(rate.conformsAt(arrival, now));
    }
    turns.put(tenant, rate.after(arrival, now));
    return Optional.empty();
  }

  @Override
  public synchronized void deleteCreationRate(TenantId tenant) {
    outage.check("deleteCreationRate");
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
                session.joinedAt(),
                session.messageAt(),
                session.processed(),
                session.lifetime(),
                session.place(),
                session.placeTaken()));
  }

  @Override
  public synchronized SubjectSessions findForSubject(TenantId tenant, Subject subject) {
    outage.check("findForSubject");
    return subjects(tenant).getOrDefault(subject, SubjectSessions.NONE);
  }

  @Override
  public synchronized WriteResult addToSubject(
      TenantId tenant,
      Subject subject,
      SessionId id,
      long max,
      Gcra rate,
      SubjectSessions read,
      Instant now,
      Instant until) {
    outage.check("addToSubject");
    SubjectSessions recorded = subjects(tenant).getOrDefault(subject, SubjectSessions.NONE);
    if (recorded.sessions().contains(id)) {
      return WriteResult.DONE;
    }
    Set<SessionId> next = new HashSet<>(recorded.sessions());
    next.add(id);
    return next.size() <= max
        ? addToSubject(tenant, subject, next, rate, now)
        : WriteResult.CONFLICT;
  }

  @Override
  public synchronized WriteResult replaceForSubject(
      TenantId tenant,
      Subject subject,
      Set<SessionId> next,
      Gcra rate,
      SubjectSessions read,
      Instant now,
      Instant until) {
    outage.check("replaceForSubject");
    SubjectSessions recorded = subjects(tenant).getOrDefault(subject, SubjectSessions.NONE);
    if (recorded.sessions().equals(next)) {
      return WriteResult.DONE;
    }
    return recorded.sessions().equals(read.sessions())
        ? addToSubject(tenant, subject, next, rate, now)
        : WriteResult.CONFLICT;
  }

  private WriteResult addToSubject(
      TenantId tenant, Subject subject, Set<SessionId> next, Gcra rate, Instant now) {
    Optional<Instant> arrival =
        subjects(tenant).getOrDefault(subject, SubjectSessions.NONE).arrival();
    if (!rate.conforms(arrival, now)) {
      return WriteResult.CONFLICT;
    }
    subjects(tenant).put(subject, new SubjectSessions(next, Optional.of(rate.after(arrival, now))));
    return WriteResult.DONE;
  }

  @Override
  public synchronized void deleteSubjects(TenantId tenant) {
    outage.check("deleteSubjects");
    subjects.remove(tenant);
  }

  private Map<Subject, SubjectSessions> subjects(TenantId tenant) {
    return subjects.computeIfAbsent(tenant, id -> new HashMap<>());
  }

  @Override
  public synchronized List<Session> find(TenantId tenant, Set<SessionId> ids) {
    outage.check("find");
    return of(tenant).values().stream().filter(row -> ids.contains(row.id())).toList();
  }

  @Override
  public synchronized Optional<Session> find(TenantId tenant, SessionId id) {
    outage.check("find");
    return Optional.ofNullable(of(tenant).get(id));
  }

  @Override
  public synchronized Optional<Session> moveEnd(TenantId tenant, SessionId id, Instant end) {
    outage.check("moveEnd");
    Optional<Session> moved =
        Optional.ofNullable(of(tenant).get(id))
            .map(row -> row.endingAt(end.truncatedTo(ChronoUnit.SECONDS)));
    moved.ifPresent(row -> of(tenant).put(id, row.with(Optional.empty(), false)));
    return moved;
  }

  @Override
  public synchronized Set<String> takeConnections(TenantId tenant, SessionId id) {
    outage.check("takeConnections");
    Optional<Session> row = Optional.ofNullable(of(tenant).get(id));
    row.ifPresent(found -> write(found, Set.of(), found.arrival()));
    return row.map(Session::connections).orElse(Set.of());
  }

  @Override
  public synchronized WriteResult remove(TenantId tenant, SessionId id) {
    outage.check("remove");
    Session row = of(tenant).get(id);
    if (row != null && !row.connections().isEmpty()) {
      return WriteResult.CONFLICT;
    }
    of(tenant).remove(id);
    return WriteResult.DONE;
  }

  /**
   * Deletes a row unconditionally, as time to live or an operator does, and returns the deleted
   * session.
   */
  public synchronized Session deleteRow(TenantId tenant, SessionId id) {
    return Optional.ofNullable(of(tenant).remove(id)).orElseThrow();
  }

  @Override
  public synchronized Optional<Session> moveEndIfEnded(
      TenantId tenant, SessionId id, Instant end, Instant now) {
    Optional<Session> ended =
        Optional.ofNullable(of(tenant).get(id)).filter(row -> row.hasEndedAt(now));
    return ended.isPresent() ? moveEnd(tenant, id, end) : Optional.empty();
  }

  @Override
  public synchronized Page<Session> page(
      TenantId tenant, Optional<String> cursor, int max, Consistency consistency) {
    outage.check("page");
    Collection<Session> all =
        consistency == Consistency.EVENTUAL && lagging.containsKey(tenant)
            ? lagging.getOrDefault(tenant, List.of())
            : of(tenant).values();
    Page<Session> page =
        Pages.of(all, session -> session.id().value(), cursor, Math.min(max, PAGE));
    return new Page<>(page.items(), page.next(), List.copyOf(unreadable));
  }

  /** Adds a damaged row to each page. */
  public synchronized void addUnreadable(UnreadableRow row) {
    unreadable.add(row);
  }

  /** Every session of a tenant. */
  public synchronized List<Session> list(TenantId tenant) {
    return List.copyOf(of(tenant).values());
  }

  /** Hides all further writes to a tenant's sessions from eventually consistent reads. */
  public synchronized void lag(TenantId tenant) {
    lagging.put(tenant, list(tenant));
  }

  @Override
  public synchronized JoinResult join(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long max,
      Gcra rate,
      Optional<Instant> expected,
      Optional<Place> place,
      Instant endsAt,
      Instant now) {
    outage.check("join");
    Session row = of(tenant).get(session);
    if (row == null || row.hasEndedAt(now)) {
      return JoinResult.NO_SESSION;
    }
    if (row.connections().contains(connectionId)) {
      return JoinResult.ALREADY_JOINED;
    }
    if (row.connections().size() >= max) {
      return JoinResult.FULL;
    }
    if (!rate.conforms(row.arrival(), now)) {
      return JoinResult.TOO_SOON;
    }
    if (place.isPresent() && !row.place().equals(place)) {
      return JoinResult.PLACE_USED;
    }
    Set<String> with = new HashSet<>(row.connections());
    with.add(connectionId);
    Map<String, Instant> joinedAt = new HashMap<>(row.joinedAt());
    joinedAt.put(connectionId, now.truncatedTo(ChronoUnit.SECONDS));
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
                joinedAt,
                row.messageAt(),
                row.processed(),
                created(row, now),
                place.isPresent() ? Optional.empty() : row.place(),
                row.placeTaken()));
    return JoinResult.ADDED;
  }

  @Override
  public synchronized JoinResult open(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long max,
      Gcra rate,
      Optional<Instant> expected,
      Instant endsAt,
      Instant now) {
    outage.check("join");
    Session row = of(tenant).get(session);
    if (row == null || (row.hasEndedAt(now) && row.connections().isEmpty())) {
      Optional<Instant> arrival = Optional.ofNullable(row).flatMap(Session::arrival);
      Instant end = endsAt.truncatedTo(ChronoUnit.SECONDS);
      of(tenant).put(session, new Session(tenant, session, Set.of(), end, arrival));
    }
    return join(tenant, session, connectionId, max, rate, expected, endsAt, now);
  }

  @Override
  public synchronized LeaveResult leave(
      TenantId tenant, SessionId session, String connectionId, Duration back) {
    outage.check("leave");
    Session row = of(tenant).get(session);
    if (row == null || !row.connections().contains(connectionId)) {
      return LeaveResult.NOT_JOINED;
    }
    Set<String> without = new HashSet<>(row.connections());
    without.remove(connectionId);
    write(row, without, row.arrival().map(arrival -> arrival.minus(back)));
    return LeaveResult.REMOVED;
  }

  @Override
  public synchronized void createCount(TenantId tenant) {
    outage.check("createCount");
    counts.putIfAbsent(tenant, Count.NONE);
  }

  @Override
  public synchronized CountResult countUp(
      TenantId tenant, String connectionId, long max, boolean withToken, Instant now) {
    outage.check("countUp");
    CountResult result = countUp(tenant, Set.of(connectionId), max);
    if (result == CountResult.COUNTED) {
      counts.computeIfPresent(
          tenant, (id, count) -> count.withoutToken(withToken ? 0 : 1).admittedAt(now));
    }
    return result;
  }

  @Override
  public synchronized void countWithoutToken(TenantId tenant) {
    outage.check("countWithoutToken");
    counts.computeIfPresent(tenant, (id, count) -> count.withoutToken(1));
  }

  /** Counts a connection without a part, as older versions did. */
  public synchronized CountResult countUp(TenantId tenant, long max) {
    return countUp(tenant, Set.of(), max);
  }

  private CountResult countUp(TenantId tenant, Set<String> named, long max) {
    Count count = totals(tenant);
    if (count.open() >= max) {
      return CountResult.FULL;
    }
    counts.put(tenant, count.plus(1, 1).in(named, 1));
    return CountResult.COUNTED;
  }

  @Override
  public synchronized void undoCountUp(TenantId tenant, String connectionId, boolean withToken) {
    outage.check("undoCountUp");
    counts.computeIfPresent(
        tenant,
        (id, count) ->
            count.plus(-1, -1).in(Set.of(connectionId), -1).withoutToken(withToken ? 0 : -1));
  }

  @Override
  public synchronized void countDown(TenantId tenant, Set<String> connectionIds) {
    outage.check("countDown");
    counts.computeIfPresent(
        tenant, (id, count) -> count.plus(-connectionIds.size(), 0).in(connectionIds, -1));
  }

  /** Subtracts connections without a part, as older versions did. */
  public synchronized void countDown(TenantId tenant, long connections) {
    counts.computeIfPresent(tenant, (id, count) -> count.plus(-connections, 0));
  }

  @Override
  public synchronized ConnectionCount readCount(TenantId tenant) {
    outage.check("readCount");
    return totals(tenant).connections();
  }

  @Override
  public synchronized WriteResult correct(
      TenantId tenant, ConnectionCount seen, Correction correction) {
    outage.check("correct");
    Count count = totals(tenant);
    if (!count.connections().correction().equals(seen.correction())
        || count.open() + correction.open() < 0) {
      return WriteResult.CONFLICT;
    }
    counts.put(tenant, count.corrected(correction, "correction-" + corrections++));
    return WriteResult.DONE;
  }

  @Override
  public synchronized void deleteCount(TenantId tenant) {
    outage.check("deleteCount");
    counts.remove(tenant);
  }

  @Override
  public synchronized List<TenantId> list(Optional<TenantId> after, int max) {
    outage.check("list live");
    return Pages.of(turns.keySet(), TenantId::value, after.map(TenantId::value), max).items();
  }

  /** All live tenants. */
  public synchronized List<TenantId> list() {
    return List.copyOf(turns.keySet());
  }

  @Override
  public synchronized Optional<Instant> nextArrival(TenantId tenant) {
    outage.check("nextArrival");
    return Optional.ofNullable(turns.get(tenant));
  }

  @Override
  public synchronized WriteResult remove(TenantId tenant, Instant arrival) {
    outage.check("remove");
    return turns.remove(tenant, arrival) ? WriteResult.DONE : WriteResult.CONFLICT;
  }

  @Override
  public synchronized WriteResult renew(
      TenantId tenant, SessionId id, Instant endsAt, Lifetime lifetime, Instant now) {
    outage.check("renew");
    Instant end = endsAt.truncatedTo(ChronoUnit.SECONDS);
    Session row = of(tenant).get(id);
    if (row == null || row.hasEndedAt(now) || row.endsAt().isAfter(end)) {
      return WriteResult.CONFLICT;
    }
    Optional<Instant> before = row.lifetime().tokenEndsAt();
    Optional<Instant> token = lifetime.tokenEndsAt();
    if (token.isPresent() && before.filter(token.get()::isBefore).isPresent()) {
      return WriteResult.CONFLICT;
    }
    of(tenant)
        .put(
            id,
            new Session(
                tenant,
                id,
                row.connections(),
                end,
                row.arrival(),
                row.joinedAt(),
                row.messageAt(),
                row.processed(),
                new Lifetime(
                    row.lifetime().createdAt().or(lifetime::createdAt), token.or(() -> before)),
                row.place(),
                row.placeTaken()));
    return WriteResult.DONE;
  }

  @Override
  public synchronized WriteResult keepPlace(
      Session read, Place place, boolean isTaken, Instant endsAt, Instant now) {
    outage.check("keepPlace");
    Session row = of(read.tenant()).get(read.id());
    if (row == null || row.hasEndedAt(now) || !row.place().equals(read.place())) {
      return WriteResult.CONFLICT;
    }
    Instant end = endsAt.truncatedTo(ChronoUnit.SECONDS);
    of(read.tenant())
        .put(
            read.id(),
            new Session(
                read.tenant(),
                read.id(),
                row.connections(),
                end.isAfter(row.endsAt()) ? end : row.endsAt(),
                row.arrival(),
                row.joinedAt(),
                row.messageAt(),
                row.processed(),
                row.lifetime(),
                Optional.of(place),
                isTaken));
    return WriteResult.DONE;
  }

  @Override
  public synchronized WriteResult extend(
      Session read, Instant endsAt, Map<String, Instant> processed, Instant now) {
    outage.check("extend");
    Session row = of(read.tenant()).get(read.id());
    if (row == null
        || !row.endsAt().equals(read.endsAt())
        || !row.messageAt().equals(read.messageAt())) {
      return WriteResult.CONFLICT;
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
                row.joinedAt(),
                Optional.of(now.truncatedTo(ChronoUnit.SECONDS)),
                processed,
                created(row, now),
                row.place(),
                row.placeTaken()));
    return WriteResult.DONE;
  }

  synchronized void addRefused(TenantId tenant, RefusalCounts refusals) {
    counts.computeIfPresent(tenant, (id, count) -> count.refused(refusals));
  }

  synchronized Count totals(TenantId tenant) {
    return counts.getOrDefault(tenant, Count.NONE);
  }

  private Map<SessionId, Session> of(TenantId tenant) {
    return rows.computeIfAbsent(tenant, id -> new HashMap<>());
  }

  private void write(Session row, Set<String> connections, Optional<Instant> arrival) {
    Map<String, Instant> joinedAt = new HashMap<>(row.joinedAt());
    joinedAt.keySet().retainAll(connections);
    write(row, connections, arrival, joinedAt);
  }

  private void write(
      Session row,
      Set<String> connections,
      Optional<Instant> arrival,
      Map<String, Instant> joinedAt) {
    of(row.tenant())
        .put(
            row.id(),
            new Session(
                row.tenant(),
                row.id(),
                connections,
                row.endsAt(),
                arrival,
                joinedAt,
                row.messageAt(),
                row.processed(),
                row.lifetime(),
                row.place(),
                row.placeTaken()));
  }

  private static Lifetime created(Session row, Instant now) {
    Lifetime known = row.lifetime();
    return new Lifetime(
        known.createdAt().or(() -> Optional.of(now.truncatedTo(ChronoUnit.SECONDS))),
        known.tokenEndsAt());
  }

  /** A tenant's count of connections, and its totals. */
  record Count(
      ConnectionCount connections,
      long admitted,
      long withoutToken,
      Optional<Instant> admittedLastAt,
      long refused) {
    private static final Count NONE = new Count(ConnectionCount.NONE, 0, 0, Optional.empty(), 0);

    private Count withoutToken(long more) {
      return new Count(connections, admitted, withoutToken + more, admittedLastAt, refused);
    }

    private Count admittedAt(Instant now) {
      return new Count(connections, admitted, withoutToken, Optional.of(now), refused);
    }

    long open() {
      return connections.open();
    }

    private Count plus(long opened, long admittedMore) {
      return with(
          Math.max(0, open() + opened),
          connections.parts(),
          connections.correction(),
          admittedMore);
    }

    private Count in(Set<String> connectionIds, long each) {
      List<Long> parts = new ArrayList<>(connections.parts());
      connectionIds.forEach(id -> add(parts, ConnectionCount.partOf(id), each));
      return with(open(), parts, connections.correction(), 0);
    }

    private Count corrected(Correction correction, String name) {
      List<Long> parts = new ArrayList<>(connections.parts());
      correction.parts().forEach((part, by) -> add(parts, part, by));
      return with(open() + correction.open(), parts, Optional.of(name), 0)
          .withoutToken(Math.max(0, -correction.open()));
    }

    private Count refused(RefusalCounts refusals) {
      return new Count(
          new ConnectionCount(
              open(),
              connections.parts(),
              connections.correction(),
              refusals.tenantFullAt().or(connections::tenantFullAt),
              refusals.sessionFullAt().or(connections::sessionFullAt)),
          admitted,
          withoutToken,
          admittedLastAt,
          refused + refusals.refused());
    }

    private static void add(List<Long> parts, int part, long by) {
      parts.set(part, parts.get(part) + by);
    }

    private Count with(
        long open, List<Long> parts, Optional<String> correction, long admittedMore) {
      return new Count(
          new ConnectionCount(
              open, parts, correction, connections.tenantFullAt(), connections.sessionFullAt()),
          admitted + admittedMore,
          withoutToken,
          admittedLastAt,
          refused);
    }
  }
}
