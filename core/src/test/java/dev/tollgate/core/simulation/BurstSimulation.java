package dev.tollgate.core.simulation;

import dev.tollgate.core.Page;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.connect.RefusalCounts;
import dev.tollgate.core.housekeeping.Housekeeping;
import dev.tollgate.core.housekeeping.LiveTenants;
import dev.tollgate.core.housekeeping.Recount;
import dev.tollgate.core.housekeeping.TenantVisit;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Connections.CountResult;
import dev.tollgate.core.session.Connections.JoinResult;
import dev.tollgate.core.session.Connections.LeaveResult;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Interleaved;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.fixture.HousekeepingFixture;
import dev.tollgate.core.testing.memory.InMemorySessions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Simulates connects and disconnects of one tenant while the housekeeper works. Each write and each
 * request of the housekeeper takes some milliseconds; the housekeeper lists sessions row by row
 * while they change.
 *
 * <p>Checks after every event that the limit of open sockets is kept, and that the count is not
 * lower than it will be after all outstanding writes: a correction must not subtract outstanding
 * changes.
 */
final class BurstSimulation {
  private static final Gcra FAST = Gcra.perMinute(600_000);
  private static final int PIECES = 10;

  /** The number of sockets that the housekeeper checks at a time. */
  private static final int LANES = 32;

  private final AdmissionFixture ports = new AdmissionFixture();
  private final InMemorySessions rows = ports.sessions();
  private final Random random;
  private final Tenant tenant;
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final OpenSockets sockets = new OpenSockets();
  private final Map<String, SessionId> open = new HashMap<>();
  private final List<String> openIds = new ArrayList<>();
  private final Map<String, Integer> positions = new HashMap<>();
  private final Map<String, Instant> ghosts = new HashMap<>();
  private final Interleaved keeper = new Interleaved(ports.clock());
  private final Duration listing;
  private final Housekeeping housekeeping;

  /** The number of connections in the sets of all sessions. */
  private long inSets;

  /** The outstanding change of the count, less the outstanding change of the sets. */
  private long outstanding;

  private long order;
  private int made;
  private int probes;
  private int admitted;
  private int refused;
  private Duration oldestGhost = Duration.ZERO;
  private Duration oldestGhostNear = Duration.ZERO;
  private Optional<Instant> nearSince = Optional.empty();

  /** The last instant at which no ghost was left and the count was right. */
  private Instant lastRight = Instant.MIN;

  private record Event(Instant at, long order, Runnable work) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      int byTime = at.compareTo(other.at);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  /**
   * Creates a tenant with this limit.
   *
   * @param listing the time to list its sessions
   */
  BurstSimulation(long seed, long limit, Duration listing) {
    this.random = new Random(seed);
    this.listing = listing;
    this.tenant =
        ports.onboard(
            "acme",
            "gold",
            Map.of(
                Limit.TENANT_CONNECTIONS,
                limit,
                Limit.CONNECTIONS_PER_SESSION,
                1_000L,
                Limit.SESSION_TTL,
                86_400L));
    this.housekeeping = housekeeping();
    at(minute(), this::runHousekeeping);
  }

  private Housekeeping housekeeping() {
    Sessions sessions = slow(Sessions.class, slowlyListed());
    Connections connections = slow(Connections.class, rows);
    Sockets slowSockets = slow(Sockets.class, sockets);
    SessionLifecycle lifecycle =
        new SessionLifecycle(sessions, connections, slowSockets, new SecureRandom(), ports.clock());
    Recount recount = new Recount(sessions, connections, keeper);
    TenantVisit visit =
        new TenantVisit(
            ports.tenants(),
            slow(LiveTenants.class, rows),
            sessions,
            connections,
            new Sockets() {
              @Override
              public CloseResult close(String connectionId) {
                return slowSockets.close(connectionId);
              }

              @Override
              public boolean isOpen(String connectionId) {
                probes++;
                return slowSockets.isOpen(connectionId);
              }

              @Override
              public PostResult post(String connectionId, String frame) {
                throw new AssertionError("unexpected frame");
              }
            },
            lifecycle,
            recount,
            Runnable::run,
            ports.clock());
    return new Housekeeping(
        rows, visit, recount, Housekeeping.CHECKS_A_MINUTE, Runnable::run, keeper, ports.clock());
  }

  /** The time of a request, and of its answer; many sockets are checked concurrently. */
  private Duration request(Class<?> port) {
    Duration time = Duration.ofMillis(1 + random.nextInt(2));
    return port == Sockets.class ? time.dividedBy(LANES) : time;
  }

  private <T> T slow(Class<T> port, T target) {
    return port.cast(
        Proxy.newProxyInstance(
            port.getClassLoader(),
            new Class<?>[] {port},
            (proxy, method, arguments) -> {
              keeper.of(request(port));
              try {
                Object answer = method.invoke(target, arguments);
                if (answer == LeaveResult.REMOVED) {
                  inSets--;
                  Optional.ofNullable(ghosts.remove(arguments[2])).ifPresent(this::recordGhostAge);
                }
                return answer;
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              } finally {
                keeper.of(request(port));
              }
            }));
  }

  /** Lists sessions in parts, one after the other. */
  private Sessions slowlyListed() {
    return Sessions.class.cast(
        Proxy.newProxyInstance(
            Sessions.class.getClassLoader(),
            new Class<?>[] {Sessions.class},
            (proxy, method, arguments) -> {
              if (!method.getName().equals("page")) {
                return method.invoke(rows, arguments);
              }
              List<SessionId> ids =
                  rows.list(tenant.id()).stream()
                      .map(Session::id)
                      .sorted((one, other) -> one.value().compareTo(other.value()))
                      .toList();
              List<Session> found = new ArrayList<>();
              for (int i = 0; i < ids.size(); i++) {
                if (i % Math.max(1, ids.size() / PIECES) == 0) {
                  keeper.of(listing.dividedBy(PIECES));
                }
                rows.find(tenant.id(), ids.get(i)).ifPresent(found::add);
              }
              return new Page<>(found, Optional.empty());
            }));
  }

  private void runHousekeeping() {
    at(minute(), this::runHousekeeping);
    keeper.begin(
        () ->
            housekeeping.run(
                HousekeepingFixture.ONE_CHUNK, ports.clock().instant().plusSeconds(35)));
    resumeHousekeeper();
  }

  private void resumeHousekeeper() {
    keeper
        .wakesAt()
        .ifPresent(
            then ->
                at(
                    then,
                    () -> {
                      keeper.resume();
                      resumeHousekeeper();
                    }));
  }

  private Instant minute() {
    Instant now = ports.clock().instant();
    return now.plusSeconds(60 - Math.floorMod(now.getEpochSecond(), 60L));
  }

  // Events.

  Instant now() {
    return ports.clock().instant();
  }

  void at(Instant instant, Runnable work) {
    events.add(new Event(instant, order++, work));
  }

  void after(Duration time, Runnable work) {
    at(now().plus(time), work);
  }

  /** Runs the simulation for this time. */
  void pass(Duration time) {
    Instant end = now().plus(time);
    while (!events.isEmpty() && !events.peek().at().isAfter(end)) {
      Event next = events.remove();
      ports.clock().set(next.at());
      next.work().run();
      check();
    }
    ports.clock().set(end);
  }

  private void check() {
    long max = tenant.limits().get(Limit.TENANT_CONNECTIONS);
    if (openIds.size() > max) {
      throw new AssertionError(openIds.size() + " open of " + max + " at " + now());
    }
    boolean isNear = rows.count(tenant.id()) * 100 >= max * 75;
    nearSince = isNear ? nearSince.or(() -> Optional.of(now())) : Optional.empty();
    ghosts.values().forEach(this::recordGhostAge);
    if (ghosts.isEmpty() && drift() == 0) {
      lastRight = now();
    }
    if (drift() < 0) {
      throw new AssertionError("counted " + -drift() + " too few at " + now());
    }
  }

  // Results.

  /** The excess of the count after all outstanding writes. */
  long drift() {
    return rows.count(tenant.id()) - inSets + outstanding;
  }

  /**
   * Whether everything lost until an instant has been repaired since: no ghost was left, and the
   * count was right. The count may be wrong again now: the housekeeper removes a connection whose
   * disconnect is under way, and corrects the count some seconds later.
   */
  boolean isRepairedSince(Instant lost) {
    return lastRight.isAfter(lost);
  }

  int open() {
    return openIds.size();
  }

  int ghosts() {
    return ghosts.size();
  }

  /** The highest age of a ghost so far. */
  Duration oldestGhost() {
    ghosts.values().forEach(this::recordGhostAge);
    return oldestGhost;
  }

  /** The highest age of a ghost so far, from the time when the tenant came near its limit. */
  Duration oldestGhostNear() {
    return oldestGhostNear;
  }

  private void recordGhostAge(Instant ghostSince) {
    Duration age = Duration.between(ghostSince, now());
    oldestGhost = age.compareTo(oldestGhost) > 0 ? age : oldestGhost;
    Duration near =
        nearSince
            .map(since -> Duration.between(since.isAfter(ghostSince) ? since : ghostSince, now()))
            .orElse(Duration.ZERO);
    oldestGhostNear = near.compareTo(oldestGhostNear) > 0 ? near : oldestGhostNear;
  }

  /** The number of socket checks at API Gateway. */
  int probes() {
    return probes;
  }

  int admitted() {
    return admitted;
  }

  int refused() {
    return refused;
  }

  // Connections.

  SessionId session() {
    rows.acquireCreation(tenant.id(), FAST, now());
    SessionId id = SessionId.random(new SecureRandom());
    rows.create(
        new Session(tenant.id(), id, Set.of(), now().plusSeconds(86_400), Optional.empty()));
    return id;
  }

  /** Connects in a session; {@code then} receives the id if the connection is admitted. */
  void connect(SessionId session, Consumer<String> then) {
    String id = "c" + made++;
    Duration join = write();
    Duration count = write();
    boolean[] counted = new boolean[1];
    after(
        join,
        () -> {
          if (rows.join(tenant.id(), session, id, 1_000, FAST, Optional.empty(), now(), now())
              != JoinResult.ADDED) {
            throw new AssertionError("did not join");
          }
          inSets++;
          outstanding++;
        });
    after(
        count,
        () -> {
          counted[0] =
              rows.countUp(tenant.id(), id, tenant.limits().get(Limit.TENANT_CONNECTIONS))
                  == CountResult.COUNTED;
          outstanding -= counted[0] ? 1 : 0;
        });
    after(
        join.compareTo(count) > 0 ? join : count,
        () -> {
          if (counted[0]) {
            admitted++;
            positions.put(id, openIds.size());
            openIds.add(id);
            open.put(id, session);
            sockets.open(id, tenant.id());
            then.accept(id);
          } else {
            refused++;
            refuse();
            after(write(), () -> left(session, id, () -> outstanding--));
          }
        });
  }

  /** Closes a socket. A lost event leaves a ghost. */
  void close(String id, boolean isLost) {
    SessionId session = closed(id);
    if (isLost) {
      ghosts.put(id, now());
      return;
    }
    after(
        write(),
        () ->
            left(
                session,
                id,
                () -> {
                  outstanding--;
                  after(
                      write(),
                      () -> {
                        rows.countDown(tenant.id(), Set.of(id));
                        outstanding++;
                      });
                }));
  }

  /** Closes a socket, and returns its session. */
  private SessionId closed(String id) {
    String last = openIds.remove(openIds.size() - 1);
    int position = Optional.ofNullable(positions.remove(id)).orElseThrow();
    if (!last.equals(id)) {
      openIds.set(position, last);
      positions.put(last, position);
    }
    sockets.close(id);
    return Optional.ofNullable(open.remove(id)).orElseThrow();
  }

  /** Closes some open socket, if there is one. */
  void closeSome(boolean isLost) {
    if (!openIds.isEmpty()) {
      close(openIds.get(random.nextInt(openIds.size())), isLost);
    }
  }

  /** Crashes a process between the two writes of a disconnect. */
  void crashAtDisconnect() {
    String id = openIds.get(random.nextInt(openIds.size()));
    SessionId session = closed(id);
    left(session, id, () -> {});
  }

  /** Refuses a connection at the tenant's limit. */
  void refuse() {
    ports
        .activity()
        .addRefused(
            tenant.id(),
            new RefusalCounts(
                Map.of(Refusal.TENANT_RATE, 1L),
                Map.of(),
                now(),
                Optional.of(now()),
                Optional.empty()));
  }

  private void left(SessionId session, String id, Runnable then) {
    if (rows.leave(tenant.id(), session, id) == LeaveResult.REMOVED) {
      inSets--;
      then.run();
    }
  }

  private Duration write() {
    return Duration.ofMillis(2 + random.nextInt(20));
  }
}
