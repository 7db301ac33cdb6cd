package dev.tollgate.controlplane;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.limit.LimitChanges;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.connect.Activity;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.connect.RefusalCounts;
import dev.tollgate.core.connect.RefusalTally;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.connect.TenantActivity;
import dev.tollgate.core.enforcement.Enforcement;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.testing.memory.InMemoryFacts;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A day of many tenants on one thread, with its history. Clients open connections, more by day than
 * by night, and reconnect when they are refused; schedules fill buckets. The real code decides,
 * over in-memory ports. Each write of a count or a bucket becomes a record of the Limit table's
 * stream, which the real reader of that stream turns into the history. A seed determines the day.
 */
final class SimulatedDay {
  static final Instant MIDNIGHT = Instant.parse("2026-03-13T00:00:00Z");

  private static final Duration DAY = Duration.ofDays(1);
  private static final int MAX_ATTEMPTS = 20;

  /** So many changes are one batch of the stream. */
  private static final int BATCH = 100;

  final ControlPlaneFixture at = new ControlPlaneFixture();
  private final Random random;
  private final Queue<Event> events =
      new PriorityQueue<>(Comparator.comparing(Event::at).thenComparing(Event::number));
  private final List<String> tenants = new ArrayList<>();
  private final Map<String, Map<String, String>> rows = new HashMap<>();
  private final LimitChanges stream = new LimitChanges();
  private final List<Change> unwritten = new ArrayList<>();
  private final BucketMaintenance maintenance = at.maintenance();
  private final Disconnection disconnection = new Disconnection(at.sessions);
  private final Admission admission;
  private final Registration registration;
  private Instant noFillFrom = Instant.MAX;
  private Instant noFillTo = Instant.MAX;
  private long numbers;

  private record Event(Instant at, long number, Runnable work) {}

  /** Onboards tenants of the default tiers. */
  SimulatedDay(long seed, int count) {
    random = new Random(seed);
    Claims claims =
        new Claims(at.buckets, at.tokens, new Requests(), Runnable::run, pause -> {}, at.clock);
    RefusalTally tally = new RefusalTally(new StreamedActivity(), Runnable::run, at.clock);
    Enforcement enforcement = new Enforcement(at.admitAll, at.clock);
    admission =
        new Admission(
            new InMemoryFacts(at.tenants, at.sessions, at.buckets),
            claims,
            at.sessions,
            tally,
            enforcement,
            Runnable::run,
            pause -> {},
            at.clock);
    registration =
        new Registration(
            at.sessions,
            new HeldTokens(at.buckets, at.tokens, at.clock),
            tally,
            enforcement,
            Runnable::run,
            pause -> {},
            at.clock);
    List<String> tiers = List.of("gold", "silver", "bronze");
    for (int i = 0; i < count; i++) {
      String id = "tenant-" + i;
      if (at.onboard(id, tiers.get(i % tiers.size())).status() != 201) {
        throw new AssertionError(id);
      }
      tenants.add(id);
    }
    at.clock.set(MIDNIGHT);
    for (int minute = 0; minute < DAY.toMinutes(); minute++) {
      Instant begin = MIDNIGHT.plus(minute, ChronoUnit.MINUTES);
      at(begin, () -> fillAll(begin));
      arrivals(begin);
    }
    for (int hour = 0; hour < DAY.toHours(); hour++) {
      noise(MIDNIGHT.plus(hour, ChronoUnit.HOURS));
    }
  }

  List<String> tenants() {
    return tenants;
  }

  /** Runs the day, and some minutes more. */
  void run() {
    Instant end = MIDNIGHT.plus(DAY).plusSeconds(300);
    while (!events.isEmpty() && events.element().at().isBefore(end)) {
      Event next = events.remove();
      at.clock.set(next.at());
      next.work().run();
    }
    at.clock.set(end);
    write();
  }

  /** The sweep of a minute, after the stream was read. */
  void sweep() {
    write();
    at.sweep();
    while (!at.chunks.isEmpty()) {
      at.work(at.chunks.remove());
    }
  }

  void at(Instant instant, Runnable work) {
    events.add(new Event(instant, numbers++, work));
  }

  // Incidents.

  /** A client opens and drops sockets of many sessions, ten a second, and ignores its slots. */
  void storm(String tenant, Instant from, Duration length) {
    List<SessionId> sessions = new ArrayList<>();
    for (int i = 0; i < 240; i++) {
      sessions.add(open(tenant));
    }
    for (int i = 0; i < length.toSeconds() * 10; i++) {
      SessionId session = sessions.get(i % sessions.size());
      at(from.plusMillis(i * 100L), () -> connect(tenant, session, MAX_ATTEMPTS, 50));
    }
  }

  /** No fill of any bucket runs. */
  void stopFills(Instant from, Duration length) {
    noFillFrom = from;
    noFillTo = from.plus(length);
  }

  /** A tier gets a smaller limit of connections, and its old one back. */
  void shrink(String tier, Instant from, Duration length) {
    String before = at.getTier(tier).document().toString();
    at(from, () -> putTier(tier, before, 1));
    at(from.plus(length), () -> putTier(tier, before, 0));
  }

  private void putTier(String tier, String before, int connections) {
    put(
        tier,
        before,
        document -> {
          if (connections > 0) {
            ((ObjectNode) document.get("limits")).put("tenantConnections", connections);
          }
        });
  }

  /** Changes a tier's definition of before, and rolls it out. */
  void put(String tier, String before, Consumer<ObjectNode> change) {
    ObjectNode document = parsed(before);
    document.retain("isolation", "limits", "buckets", "fillMode", "onUnavailable", "line");
    change.accept(document);
    int status = at.putTier(tier, document.toString()).status();
    if (status != 200 && status != 202) {
      throw new AssertionError("PUT of " + document + ": " + status);
    }
    while (!at.chunks.isEmpty()) {
      at.work(at.chunks.remove());
    }
  }

  private static ObjectNode parsed(String json) {
    try {
      return (ObjectNode) new JsonMapper().readTree(json);
    } catch (JsonProcessingException malformed) {
      throw new AssertionError(json, malformed);
    }
  }

  // Clients.

  /**
   * About 90 connections a minute at noon, and 30 at midnight; some tenants have more of them than
   * others.
   */
  private void arrivals(Instant minute) {
    double time = Duration.between(MIDNIGHT, minute).toMinutes() / (double) DAY.toMinutes();
    int count = (int) (60 - 30 * Math.cos(2 * Math.PI * time)) + random.nextInt(11) - 5;
    for (int i = 0; i < count; i++) {
      String tenant = tenants.get((int) (tenants.size() * Math.pow(random.nextDouble(), 1.2)));
      at(minute.plusMillis(random.nextInt(60_000)), () -> come(tenant, 1));
    }
  }

  /** Each hour, some clients want more than their limits allow. */
  private void noise(Instant hour) {
    for (int i = 0; i < 6; i++) {
      String tenant = tenants.get(random.nextInt(tenants.size()));
      int sockets = 4 + random.nextInt(8);
      at(hour.plusMillis(random.nextInt(3_600_000)), () -> come(tenant, sockets));
    }
  }

  private void come(String tenant, int sockets) {
    SessionId session = open(tenant);
    for (int i = 0; i < sockets; i++) {
      int attempt = sockets > 1 ? MAX_ATTEMPTS : 1;
      after(random.nextInt(2_000), () -> connect(tenant, session, attempt, 600_000));
    }
  }

  private SessionId open(String tenant) {
    SessionId id = new SessionId("%016x%016x".formatted(random.nextLong(), random.nextLong()));
    at.sessions.create(
        new Session(
            new TenantId(tenant), id, Set.of(), MIDNIGHT.plus(DAY).plus(DAY), Optional.empty()));
    return id;
  }

  private void connect(String tenant, SessionId session, int attempt, int mostMillis) {
    TenantId id = new TenantId(tenant);
    AdmissionDecision decision = admission.decide(id, session);
    if (decision instanceof AdmissionDecision.Ticketed ticketed) {
      String connection = "c" + numbers++;
      if (registration.register(ticketed.ticket(), connection) instanceof Registration.Registered) {
        counted(tenant, row -> add(row, "admitted", 1));
        after(
            mostMillis / 2 + random.nextInt(mostMillis),
            () -> {
              disconnection.remove(id, session, connection);
              counted(tenant, row -> {});
            });
        return;
      }
    }
    if (attempt < MAX_ATTEMPTS) {
      Instant soon = at.clock.instant().plusMillis(5_000 + random.nextInt(10_000));
      Instant next =
          decision instanceof AdmissionDecision.Refused refused
              ? refused.retryAt().orElse(soon)
              : soon;
      at(next, () -> connect(tenant, session, attempt + 1, mostMillis));
    }
  }

  private void after(long millis, Runnable work) {
    at(at.clock.instant().plusMillis(millis), work);
  }

  // Fills.

  private boolean canFill() {
    Instant now = at.clock.instant();
    return now.isBefore(noFillFrom) || !now.isBefore(noFillTo);
  }

  private void fillAll(Instant minute) {
    at.schedules
        .schedules()
        .forEach(
            (id, schedule) -> {
              if (schedule.enabled()) {
                at(
                    minute.plusSeconds(Math.floorMod(id.hashCode(), 60)),
                    () -> fill(id, () -> maintenance.maintain(id, Instant.MAX)));
              }
            });
  }

  private void fill(BucketId id, Runnable work) {
    if (canFill()) {
      work.run();
      at.buckets.find(id).ifPresent(this::filled);
    }
  }

  private final class Requests implements FillRequests {
    @Override
    public void send(BucketId id) {
      fill(id, () -> maintenance.maintainOnRequest(id, Instant.MAX));
    }

    @Override
    public void sendAndWait(BucketId id) {
      send(id);
    }
  }

  // The stream.

  private static void add(Map<String, String> row, String name, long more) {
    row.merge(
        name,
        Long.toString(more),
        (one, other) -> Long.toString(Long.parseLong(one) + Long.parseLong(other)));
  }

  private void counted(String tenant, Consumer<Map<String, String>> change) {
    change(
        tenant,
        "connections",
        row -> {
          row.put("itemCount", Long.toString(at.sessions.count(new TenantId(tenant))));
          change.accept(row);
        });
  }

  private void filled(Bucket bucket) {
    change(
        bucket.id().tenant().value(),
        "bucket:" + bucket.id().action(),
        row -> {
          row.put("minted", Long.toString(bucket.minted()));
          row.put("level", Long.toString(bucket.level()));
        });
  }

  private void change(String tenant, String key, Consumer<Map<String, String>> write) {
    Map<String, String> before = rows.getOrDefault(tenant + " " + key, Map.of());
    Map<String, String> after = new HashMap<>(before);
    after.putAll(Map.of("tenantId", tenant, "key", key));
    write.accept(after);
    if (!after.equals(before)) {
      rows.put(tenant + " " + key, after);
      stream.of(before, after, at.clock.instant()).ifPresent(unwritten::add);
      if (unwritten.size() >= BATCH) {
        write();
      }
    }
  }

  private void write() {
    if (!unwritten.isEmpty()) {
      at.history.add("batch-" + numbers++, unwritten);
      unwritten.clear();
    }
  }

  private final class StreamedActivity implements Activity {
    @Override
    public void addRefused(TenantId tenant, RefusalCounts refusals) {
      at.activity.addRefused(tenant, refusals);
      counted(
          tenant.value(),
          row -> {
            new TreeMap<>(refusals.byReason())
                .forEach((why, count) -> add(row, "refused_" + why, count));
            new TreeMap<>(refusals.wouldRefuse())
                .forEach((why, count) -> add(row, "refused_observed_" + why, count));
            row.put("refusedLastAt", Attribute.nanos(refusals.lastAt()).n());
          });
    }

    @Override
    public TenantActivity of(TenantId tenant) {
      return at.activity.of(tenant);
    }
  }
}
