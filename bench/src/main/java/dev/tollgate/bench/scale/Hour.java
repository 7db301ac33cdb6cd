package dev.tollgate.bench.scale;

import dev.tollgate.bench.scale.Aws.Service;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.connect.Ticket;
import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.housekeeping.Housekeeping;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * An hour of many tenants. Every tenth is active; nine in ten of these lose all their sockets in an
 * outage of two minutes, and their clients come back at 500 handshakes a second. The others are
 * their neighbours, who connect all the time.
 */
final class Hour {
  private static final long SECOND = SimulatedTime.SECOND;
  private static final long MINUTE = 60 * SECOND;
  private static final long OUTAGE = 2 * MINUTE;
  private static final long HANDSHAKES_A_SECOND = 500;

  /** One in this many disconnect events is lost: API Gateway delivers them without a guarantee. */
  private static final int LOST = 100;

  private static final long MESSAGES_A_MINUTE = 30;
  private static final int MAX_STORMS = 3;
  private static final long LONGEST_BACK_OFF = 30 * SECOND;

  /** How long a neighbour's socket is open. */
  private static final long NEIGHBOUR_SOCKET = 5 * SECOND;

  private final Plan plan;
  private final World world;
  private final SimulatedTime time;
  private final Random random;
  private final List<Tenant> active = new ArrayList<>();
  private final List<Client> clients = new ArrayList<>();
  private final List<Tenant> neighbours = new ArrayList<>();
  private final Fills fills;
  private final Functions.Function<Housekeeping> housekeeper;
  private final Samples calm = new Samples();
  private final Samples stormy = new Samples();
  private final Samples heals = new Samples();
  private final Map<String, Long> ghosts = new HashMap<>();
  private final List<Storm> storms = new ArrayList<>();
  private Map<String, Double> quietBill = Map.of();
  private long neighboursRefusedByGateway;
  private long neighbourHandshakes;
  private long functionErrors;
  private long numbers;

  /**
   * What to simulate.
   *
   * @param mode what fills buckets
   * @param spread see {@link Fills}
   * @param shareCredentials see {@link World}
   * @param newConnections what API Gateway takes a second
   */
  record Plan(
      int tenants,
      FillMode mode,
      boolean spread,
      boolean shareCredentials,
      long newConnections,
      int minutes,
      long seed) {
    /** An hour of an account with default quotas, without the options. */
    static Plan of(int tenants, FillMode mode, int minutes, long seed) {
      return new Plan(tenants, mode, false, false, Service.HANDSHAKES.perSecond(), minutes, seed);
    }

    Plan spreadEvenly() {
      return new Plan(tenants, mode, true, shareCredentials, newConnections, minutes, seed);
    }

    Plan sharingCredentials() {
      return new Plan(tenants, mode, spread, true, newConnections, minutes, seed);
    }

    Plan withNewConnections(long perSecond) {
      return new Plan(tenants, mode, spread, shareCredentials, perSecond, minutes, seed);
    }

    /** Whether API Gateway has its default quota. */
    boolean hasDefaultQuotas() {
      return newConnections == Service.HANDSHAKES.perSecond();
    }

    /** The name, for tables. */
    String label() {
      return mode
          + (spread ? ", spread" : "")
          + (shareCredentials ? ", `shareCredentials`" : "")
          + (hasDefaultQuotas()
              ? ""
              : String.format(Locale.ROOT, ", %,d new connections", newConnections));
    }
  }

  /** A client with one session and one socket. */
  private static final class Client {
    private final Tenant tenant;
    private final int number;
    private final SessionId session;
    private String socket;
    private boolean refused;
    private boolean keptOut;
    private int failures;
    private long arrivedAt;

    private Client(Tenant tenant, int number, SessionId session, String socket) {
      this.tenant = tenant;
      this.number = number;
      this.session = session;
      this.socket = socket;
    }
  }

  /** What became of a storm. */
  static final class Storm {
    private final long droppedAt;
    private final long began;
    private final int waited;
    private final Samples admissions = new Samples();
    private long ideal;
    private long last;
    private long lastKeptOut;
    private int keptOut;
    private int refusedOnce;
    private int attemptsAfter;
    private long refusedByGateway;
    private long errors;

    private Storm(long droppedAt, long began, int waited) {
      this.droppedAt = droppedAt;
      this.began = began;
      this.waited = waited;
    }

    int clients() {
      return waited;
    }

    int admitted() {
      return admissions.size();
    }

    /** When clients were admitted, since the first came back. */
    Samples admissions() {
      return admissions;
    }

    int refusedOnce() {
      return refusedOnce;
    }

    /** Attempts of a client after its first refusal. */
    double attemptsAfterRefusal() {
      return refusedOnce == 0 ? 1 : (double) attemptsAfter / refusedOnce;
    }

    /** The time until the last client is in, without those {@linkplain #keptOut() kept out}. */
    double lastSeconds() {
      return (double) (last - began) / SECOND;
    }

    /** The time until the last client would be in with an ideal bucket and gateway. */
    double idealSeconds() {
      return (double) Math.max(1, ideal - began) / SECOND;
    }

    /**
     * Clients that were refused without a time: sockets whose disconnect events were lost took the
     * tenant's last connections.
     */
    int keptOut() {
      return keptOut;
    }

    /** The time until the last of the {@link #keptOut()} is in; 0 without any. */
    double lastKeptOutSeconds() {
      return (double) Math.max(0, lastKeptOut - began) / SECOND;
    }

    long refusedByGateway() {
      return refusedByGateway;
    }

    long errors() {
      return errors;
    }

    private boolean isOver() {
      return admitted() >= waited;
    }
  }

  Hour(Plan plan, Map<String, Double> prices) {
    this.plan = plan;
    this.world = new World(plan.seed(), plan.shareCredentials(), prices);
    world.aws().raise(Service.HANDSHAKES, plan.newConnections());
    this.time = world.time();
    this.random = new Random(plan.seed() + 1);
    populate();
    List<BucketId> buckets = new ArrayList<>();
    active.forEach(
        tenant ->
            tenant.buckets().keySet().forEach(a -> buckets.add(new BucketId(tenant.id(), a))));
    Collections.shuffle(buckets, random);
    fills = new Fills(world, plan.spread(), buckets);
    housekeeper = world.functions().function("housekeeper", world::housekeeping);
  }

  private void populate() {
    int count = plan.tenants() / 10;
    for (int i = 0; i < count; i++) {
      int of = i % 100;
      Tenant tenant = world.onboard(i, World.tier(of < 60 ? 0 : of < 90 ? 1 : 2, plan.mode()));
      active.add(tenant);
      boolean isNeighbour = i % 10 == 5;
      if (isNeighbour) {
        neighbours.add(tenant);
      }
      int sockets = isNeighbour ? 0 : of < 90 ? 9 : of < 99 ? 6 : 246;
      for (int j = 0; j < sockets; j++) {
        SessionId session = session(tenant);
        String socket = "s" + numbers++;
        Instant now = time.instant();
        world
            .sessionRows()
            .join(
                tenant.id(),
                session,
                socket,
                2,
                Gcra.UNLIMITED,
                Optional.empty(),
                now.plusSeconds(7_200),
                now);
        world.sessionRows().countUp(tenant.id(), socket, 1_000, true, now);
        world.openSockets().add(socket);
        clients.add(new Client(tenant, i, session, socket));
      }
    }
  }

  private SessionId session(Tenant tenant) {
    SessionId id = new SessionId("%016x%016x".formatted(random.nextLong(), random.nextLong()));
    world
        .sessionRows()
        .create(
            new Session(
                tenant.id(), id, Set.of(), time.instant().plusSeconds(7_200), Optional.empty()));
    return id;
  }

  /** Lives the hour. */
  Hour live() {
    fills.start(plan.mode(), this::sendMessages);
    everyMinute();
    long perNeighbour = 4 * SECOND;
    long between = Math.max(SECOND / 20, perNeighbour / Math.max(1, neighbours.size()));
    time.at(MINUTE, () -> neighbour(0, between));
    time.at(4 * MINUTE, () -> quietBill = world.aws().bill());
    long length = OUTAGE + clients.size() * SECOND / HANDSHAKES_A_SECOND;
    long end = plan.minutes() * MINUTE;
    // Both at full minutes, when fills are due.
    long apart = (length / MINUTE + 6) * MINUTE;
    long at = 5 * MINUTE;
    for (int i = 0; i < MAX_STORMS && at + length + 4 * MINUTE <= end; i++) {
      time.at(at, this::outage);
      at += apart;
    }
    time.runUntil(end);
    return this;
  }

  /** Each tenant has sent thirty messages in the past minute. */
  private void sendMessages() {
    active.forEach(
        tenant ->
            world.queue().change(new BucketId(tenant.id(), Action.MESSAGE), -MESSAGES_A_MINUTE));
  }

  private void everyMinute() {
    time.at(
        (time.now() / MINUTE) * MINUTE + 90 * SECOND,
        () -> {
          keepHouse(Optional.empty());
          everyMinute();
        });
  }

  private void keepHouse(Optional<Chunk> chunk) {
    housekeeper.invoke(
        process -> {
          Instant until = time.instant().plusSeconds(45);
          try {
            if (chunk.isPresent()) {
              process.code().run(chunk.get(), until);
            } else {
              process
                  .code()
                  .run(next -> time.at(time.now(), () -> keepHouse(Optional.of(next))), until);
            }
          } catch (Unavailable unavailable) {
            functionErrors++;
          }
        });
    if (chunk.isEmpty()) {
      heal();
    }
  }

  /** Looks which ghosts are gone. */
  private void heal() {
    ghosts
        .entrySet()
        .removeIf(
            ghost -> {
              String[] parts = ghost.getKey().split(" ", -1);
              boolean gone =
                  world
                      .sessionRows()
                      .find(new TenantId(parts[0]), new SessionId(parts[1]))
                      .filter(row -> row.connections().contains(parts[2]))
                      .isEmpty();
              if (gone) {
                heals.add(time.now() - ghost.getValue());
              }
              return gone;
            });
  }

  // Clients.

  private void outage() {
    int waiting = clients.size();
    Storm storm = new Storm(time.now(), time.now() + OUTAGE, waiting);
    storms.add(storm);
    List<Client> order = new ArrayList<>(clients);
    Collections.shuffle(order, random);
    Map<Integer, Long> nextToken = new HashMap<>();
    for (int i = 0; i < waiting; i++) {
      Client client = order.get(i);
      client.refused = false;
      client.keptOut = false;
      client.failures = 0;
      leave(
          client.tenant, client.number, client.session, client.socket, (long) i * OUTAGE / waiting);
      client.socket = "s" + numbers++;
      long at = storm.began + i * SECOND / HANDSHAKES_A_SECOND;
      storm.ideal = Math.max(storm.ideal, ideal(client, at, nextToken));
      time.at(
          at,
          () -> {
            client.arrivedAt = time.now();
            connect(client, storm);
          });
    }
  }

  /** When an ideal bucket that was full before the storm admits the tenant's next client. */
  private static long ideal(Client client, long at, Map<Integer, Long> nextToken) {
    long rate = client.tenant.limits().get(Limit.TENANT_PER_MINUTE);
    long interval = MINUTE / rate;
    long due = Math.max(at, nextToken.getOrDefault(client.number, Long.MIN_VALUE / 2));
    long full = Math.max(nextToken.getOrDefault(client.number, 0L) + (rate - 1) * interval, at);
    nextToken.put(client.number, full + interval - (rate - 1) * interval);
    return due;
  }

  /** A socket closes; its event comes after a while, or never. */
  private void leave(Tenant tenant, int number, SessionId session, String socket, long after) {
    world.openSockets().remove(socket);
    long closedAt = time.now();
    String ghost = tenant.id() + " " + session.value() + " " + socket;
    if (random.nextInt(LOST) == 0) {
      ghosts.put(ghost, closedAt);
      return;
    }
    time.at(
        time.now() + after,
        () -> {
          long end =
              world
                  .disconnect()
                  .invoke(
                      process -> {
                        try {
                          world.credentials(process, number);
                          process.code().remove(tenant.id(), session, socket);
                        } catch (Unavailable unavailable) {
                          functionErrors++;
                          ghosts.put(ghost, closedAt);
                        }
                      });
          if (end < 0) {
            ghosts.put(ghost, closedAt);
          }
        });
  }

  private void connect(Client client, Storm storm) {
    if (client.refused) {
      storm.attemptsAfter++;
    }
    handshake(
        client.tenant,
        client.number,
        client.session,
        client.socket,
        answer -> {
          switch (answer.status()) {
            case ADMITTED -> {
              storm.admissions.add(time.now() - storm.began);
              if (client.keptOut) {
                storm.lastKeptOut = Math.max(storm.lastKeptOut, time.now());
              } else {
                storm.last = Math.max(storm.last, time.now());
              }
            }
            case GATEWAY -> {
              storm.refusedByGateway++;
              storm.attemptsAfter -= client.refused ? 1 : 0;
              after(backOff(client), () -> connect(client, storm));
            }
            case ERROR -> {
              storm.errors++;
              after(backOff(client), () -> connect(client, storm));
            }
            case REFUSED -> {
              storm.refusedOnce += client.refused ? 0 : 1;
              client.refused = true;
              if (answer.retryAt().isEmpty()) {
                storm.keptOut += client.keptOut ? 0 : 1;
                client.keptOut = true;
              }
              long wait =
                  answer
                      .retryAt()
                      .map(at -> Duration.between(time.instant(), at).toMillis())
                      .map(millis -> (Math.max(0, millis) + 999) / 1_000 * SECOND)
                      .orElseGet(() -> backOff(client));
              after(wait, () -> connect(client, storm));
            }
          }
        });
  }

  /**
   * How long the clients of this project wait, if they were not told: exponential, with full
   * jitter, and bounded.
   */
  private long backOff(Client client) {
    long most = Math.min(LONGEST_BACK_OFF, SECOND << Math.min(5, client.failures));
    client.failures++;
    return (long) (random.nextDouble() * most);
  }

  private void after(long micros, Runnable work) {
    time.at(time.now() + micros, work);
  }

  private void neighbour(int turn, long between) {
    if (neighbours.isEmpty()) {
      return;
    }
    after(between, () -> neighbour(turn + 1, between));
    int at = turn % neighbours.size();
    Tenant tenant = neighbours.get(at);
    int number = 10 * at + 5;
    SessionId session = session(tenant);
    String socket = "n" + numbers++;
    long began = time.now();
    neighbourHandshakes++;
    handshake(
        tenant,
        number,
        session,
        socket,
        answer -> {
          if (answer.status() == Status.GATEWAY) {
            neighboursRefusedByGateway++;
          } else {
            boolean inStorm =
                !storms.isEmpty()
                    && began >= storms.get(storms.size() - 1).droppedAt
                    && !storms.get(storms.size() - 1).isOver();
            (inStorm ? stormy : calm).add(time.now() - began);
          }
          if (answer.status() == Status.ADMITTED) {
            after(NEIGHBOUR_SOCKET, () -> leave(tenant, number, session, socket, 0));
          }
          // A session without connections ends.
          after(2 * NEIGHBOUR_SOCKET, () -> world.sessionRows().remove(tenant.id(), session));
        });
  }

  private enum Status {
    ADMITTED,
    REFUSED,
    /** API Gateway's quota. */
    GATEWAY,
    /** A function was throttled or failed. */
    ERROR
  }

  private record Answer(Status status, Optional<Instant> retryAt) {
    Answer(Status status) {
      this(status, Optional.empty());
    }
  }

  private interface Receiver {
    void receive(Answer answer);
  }

  private void handshake(
      Tenant tenant, int number, SessionId session, String socket, Receiver receiver) {
    if (!world.aws().quota(Service.HANDSHAKES).take(time.now(), 1)
        || !world.aws().quota(Service.REQUESTS).take(time.now(), 1)) {
      receiver.receive(new Answer(Status.GATEWAY));
      return;
    }
    world.aws().charge("websocket-frame", 1);
    AdmissionDecision[] decision = new AdmissionDecision[1];
    long authorized =
        world
            .authorizer()
            .invoke(
                process -> {
                  try {
                    world.credentials(process, number);
                    decision[0] = process.code().admission().decide(tenant.id(), session);
                  } catch (Unavailable unavailable) {
                    functionErrors++;
                  }
                });
    if (authorized < 0 || decision[0] == null) {
      time.at(Math.max(time.now(), authorized), () -> receiver.receive(new Answer(Status.ERROR)));
      return;
    }
    time.at(authorized, () -> register(decision[0], number, socket, receiver));
  }

  private void register(AdmissionDecision decision, int number, String socket, Receiver receiver) {
    Answer[] answer = {new Answer(Status.ERROR)};
    long end =
        world
            .connect()
            .invoke(
                process -> {
                  if (decision instanceof AdmissionDecision.Refused refused) {
                    answer[0] = new Answer(Status.REFUSED, refused.retryAt());
                    return;
                  }
                  Ticket ticket = ((AdmissionDecision.Ticketed) decision).ticket();
                  try {
                    world.credentials(process, number);
                    answer[0] =
                        process.code().registration().register(ticket, socket)
                                instanceof Registration.Registered
                            ? new Answer(Status.ADMITTED)
                            : new Answer(Status.REFUSED);
                  } catch (Unavailable unavailable) {
                    functionErrors++;
                  }
                });
    time.at(
        Math.max(time.now(), end),
        () -> {
          if (answer[0].status() == Status.ADMITTED) {
            world.openSockets().add(socket);
          }
          receiver.receive(answer[0]);
        });
  }

  // Results.

  Plan plan() {
    return plan;
  }

  World world() {
    return world;
  }

  Fills fills() {
    return fills;
  }

  List<Storm> storms() {
    return storms;
  }

  /** How long neighbours' handshakes took outside of storms. */
  Samples calm() {
    return calm;
  }

  /** How long they took in storms. */
  Samples stormy() {
    return stormy;
  }

  /** From the end of a socket whose event was lost to the removal of its connection. */
  Samples heals() {
    return heals;
  }

  int ghosts() {
    return ghosts.size();
  }

  int sockets() {
    return clients.size();
  }

  int buckets() {
    return 2 * active.size();
  }

  long neighbourHandshakes() {
    return neighbourHandshakes;
  }

  long neighboursRefusedByGateway() {
    return neighboursRefusedByGateway;
  }

  long functionErrors() {
    return functionErrors;
  }

  /** The dollars of the first four minutes, before any storm. */
  Map<String, Double> quietBill() {
    return quietBill;
  }
}
