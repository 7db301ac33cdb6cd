package dev.tollgate.core.simulation;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.bucket.fill.BucketFill.Filled;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.connect.Ticket;
import dev.tollgate.core.housekeeping.Housekeeping;
import dev.tollgate.core.housekeeping.Recount;
import dev.tollgate.core.housekeeping.TenantVisit;
import dev.tollgate.core.provisioning.ReconcileRequests;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.fault.BucketFaults;
import dev.tollgate.core.testing.fault.FaultyTokenQueue;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.memory.InMemoryFillSchedules.Scheduled;
import dev.tollgate.lawbook.Allowance;
import dev.tollgate.lawbook.Terms;
import dev.tollgate.lawbook.TokenCounts;
import java.security.SecureRandom;
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
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Simulates a day of many tenants on one thread: schedules that fire, sometimes late, twice or not
 * at all; clients that open sessions and sockets, retry, send, and leave, sometimes without an
 * event; the housekeeper. The real code decides, over in-memory ports. The clock jumps from event
 * to event. A seed determines the day. The laws are checked throughout.
 */
public final class DaySimulation {
  private static final Action MAIL = new Action("send-email");
  private static final Duration GRAIN = Duration.ofMinutes(4);
  private static final Duration AFTERWARDS = Duration.ofMinutes(10);
  private static final int MAX_ATTEMPTS = 5;
  private static final long MICRO = 1_000_000;

  private final long seed;
  private final Random random;
  private final Instant end;
  private final AdmissionFixture ports = new AdmissionFixture();
  private final Queue<Event> events =
      new PriorityQueue<>(Comparator.comparing(Event::at).thenComparing(Event::number));
  private final OpenSockets sockets = new OpenSockets();
  private final Map<BucketId, Account> accounts = new HashMap<>();
  private final List<Customer> customers = new ArrayList<>();
  private final FaultyTokenQueue spending;
  private final FaultyTokenQueue filled;
  private final BucketMaintenance maintenance;
  private final Claims claims;
  private final Admission admission;
  private final Registration registration;
  private final Disconnection departure;
  private final SessionLifecycle lifecycle;
  private final Housekeeping housekeeping;
  private final Tally tally = new Tally();
  private long numbers;

  /**
   * An event at an instant; events at the same instant run in the order in which they were planned.
   */
  private record Event(Instant at, long number, Runnable work) {}

  /** The tokens that a bucket may admit, and those that its missed fills explain. */
  private static final class Account {
    private final Allowance allowance;
    private final long opening;
    private long perMinute;
    private long explained;

    Account(Terms terms, long opening, Instant now) {
      this.opening = opening;
      allowance = new Allowance(terms, now);
      perMinute = terms.slack() + 1;
    }
  }

  /** A tenant, with its opening hours and its load. */
  private record Customer(
      int number, Tenant tenant, Instant opens, Instant closes, int everySeconds) {
    BucketId bucket(Action action) {
      return new BucketId(tenant.id(), action);
    }
  }

  /** The numbers of events so far. */
  private static final class Tally {
    private long fills;
    private long admitted;
    private long refused;
    private long gaveUp;
    private long messages;
    private long mails;
    private long checked;
    private long digest = 1;

    void addToDigest(Instant at, int customer, int what) {
      digest = ((digest * 31 + at.toEpochMilli()) * 31 + customer) * 31 + what;
    }
  }

  private DaySimulation(long seed, int tenants, Duration length) {
    this.seed = seed;
    this.random = new Random(seed);
    this.end = AdmissionFixture.START.plus(length);
    BucketFaults noFaults = new BucketFaults(seed, 0, () -> false, ports.clock());
    spending = new FaultyTokenQueue(ports.queue(), noFaults, ports.clock(), id -> 0);
    filled = new FaultyTokenQueue(ports.queue(), noFaults, ports.clock(), id -> 0);
    maintenance =
        new BucketMaintenance(
            ports.buckets(),
            filled,
            ports.queues(),
            ports.schedules(),
            new ReconcileRequests(ports.tenants()),
            ports.clock());
    claims =
        new Claims(
            ports.buckets(),
            spending,
            ports.fillRequests(maintenance),
            Runnable::run,
            pause -> {},
            ports.clock());
    admission = ports.admission(claims, Runnable::run, pause -> {});
    HeldTokens heldTokens = new HeldTokens(ports.buckets(), spending, ports.clock());
    registration =
        new Registration(
            ports.sessions(),
            heldTokens,
            ports.tally(),
            ports.enforcement(),
            Runnable::run,
            duration -> {},
            ports.clock());
    departure = new Disconnection(ports.sessions());
    lifecycle =
        new SessionLifecycle(
            ports.sessions(), ports.sessions(), sockets, new SecureRandom(), ports.clock());
    Recount recount = new Recount(ports.sessions(), ports.sessions(), duration -> {});
    TenantVisit visit =
        new TenantVisit(
            ports.tenants(),
            ports.sessions(),
            ports.sessions(),
            ports.sessions(),
            sockets,
            lifecycle,
            recount,
            Runnable::run,
            ports.clock());
    housekeeping =
        new Housekeeping(
            ports.sessions(),
            visit,
            recount,
            Housekeeping.CHECKS_A_MINUTE,
            Runnable::run,
            duration -> {},
            ports.clock());
    for (int i = 0; i < tenants; i++) {
      onboard(i, length);
    }
    minute(AdmissionFixture.START.plus(1, ChronoUnit.MINUTES));
  }

  /** Simulates {@code length} of a day of {@code tenants} tenants. */
  public static Result live(long seed, int tenants, Duration length) {
    DaySimulation day = new DaySimulation(seed, tenants, length);
    day.run();
    return day.result(tenants, length);
  }

  /**
   * Simulates a day of 1,000 tenants and prints the result. Arguments: {@code [seed [tenants
   * [hours]]]}.
   */
  public static void main(String[] arguments) {
    long seed = arguments.length > 0 ? Long.parseLong(arguments[0]) : 1;
    int tenants = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1_000;
    long hours = arguments.length > 2 ? Long.parseLong(arguments[2]) : 24;
    long began = System.nanoTime();
    Result result = live(seed, tenants, Duration.ofHours(hours));
    System.out.println(result);
    System.out.printf("in %.1f s%n", (System.nanoTime() - began) / 1e9);
  }

  // Tenants and buckets.

  private void onboard(int number, Duration length) {
    Tier tier = Tier.DEFAULTS.get(number % Tier.DEFAULTS.size());
    Tenant tenant = Tenant.onboarded(new TenantId("tenant-" + number), tier, Overrides.NONE);
    ports.tenants().create(tenant);
    FillMode mode = number % 4 == 0 ? FillMode.PRODUCER : FillMode.SHARED;
    tenant
        .buckets()
        .forEach(
            (action, spec) ->
                open(
                    new BucketId(tenant.id(), action),
                    new BucketSpec(spec.rate(), spec.capacity(), new FillPolicy(mode, 15))));
    open(
        new BucketId(tenant.id(), MAIL),
        number % 2 == 0
            ? new BucketSpec(Rate.perMinute(6), 12, new FillPolicy(FillMode.DIRECT, 15))
            : new BucketSpec(new Rate(200_000), 5, new FillPolicy(FillMode.SHARED, 60)));
    Instant opens = AdmissionFixture.START.plusMillis(random.nextLong(length.toMillis()));
    Instant closes = opens.plus(length.dividedBy(4));
    Customer customer =
        new Customer(
            number, tenant, opens, closes, 1 + random.nextInt(number % 10 == 0 ? 20 : 480));
    customers.add(customer);
    at(opens, () -> openSession(customer));
  }

  private void open(BucketId id, BucketSpec spec) {
    ports.open(id, spec);
    accounts.put(id, new Account(terms(spec), ports.queue().level(id), now()));
  }

  private static Terms terms(BucketSpec spec) {
    dev.tollgate.lawbook.Rate rate =
        new dev.tollgate.lawbook.Rate(
            spec.rate().microtokensPerMinute(), Duration.ofMinutes(MICRO));
    return new Terms(rate, spec.capacity(), rate.tokensIn(Duration.ofMinutes(1)), GRAIN);
  }

  private Account account(BucketId id) {
    return Optional.ofNullable(accounts.get(id)).orElseThrow();
  }

  // Schedules.

  private void at(Instant instant, Runnable work) {
    events.add(new Event(instant, numbers++, work));
  }

  private void after(long millis, Runnable work) {
    at(now().plusMillis(millis), work);
  }

  private Instant now() {
    return ports.clock().instant();
  }

  private void run() {
    Instant last = end.plus(AFTERWARDS);
    while (!events.isEmpty() && !events.element().at().isAfter(last)) {
      Event next = events.remove();
      ports.clock().set(next.at());
      next.work().run();
    }
    ports.clock().set(last);
    audit();
  }

  private void minute(Instant minute) {
    at(
        minute,
        () -> {
          ports
              .schedules()
              .schedules()
              .forEach(
                  (id, schedule) -> {
                    if (schedule.enabled()) {
                      fireSchedule(id, schedule, minute);
                    }
                  });
          for (Shard shard : Shard.all()) {
            at(minute.plusSeconds(shard.number() * 3L), () -> shard(shard));
          }
          at(minute.plusSeconds(30), () -> keepHouse());
          minute(minute.plus(1, ChronoUnit.MINUTES));
        });
  }

  /** Runs the housekeeper, and the chunks that it requests. */
  private void keepHouse() {
    housekeeping.run(chunk -> after(50, () -> housekeeping.run(chunk, Instant.MAX)), Instant.MAX);
  }

  /** Fires a schedule at its second of the minute; rarely late, twice, or not at all. */
  private void fireSchedule(BucketId id, Scheduled schedule, Instant minute) {
    Random draws = new Random(seed ^ (minute.getEpochSecond() * 31 + id.hashCode()));
    draws.nextInt();
    int draw = draws.nextInt(1_000);
    if (draw < 2) {
      account(id).explained += account(id).perMinute;
      return;
    }
    long second = draw < 10 ? draws.nextInt(60) : Math.floorMod(id.hashCode(), 60);
    account(id).explained += draw >= 2 && draw < 10 ? account(id).perMinute : 0;
    at(minute.plusSeconds(second), () -> fill(id, schedule));
    if (draw >= 990) {
      at(minute.plusSeconds(second + 1), () -> maintenance.maintain(id, Instant.MAX));
    }
  }

  private void fill(BucketId id, Scheduled schedule) {
    tally.fills++;
    if (schedule.state() == FillState.State.DIRECT) {
      filled.put(
          id,
          Stream.generate(() -> new Token("direct", id, now(), now()))
              .limit(schedule.spec().rate().ceiling())
              .toList());
    } else {
      maintenance.maintain(id, Instant.MAX);
    }
  }

  private void shard(Shard shard) {
    for (BucketId id : ports.buckets().due(shard, now(), Optional.empty(), 1_000).items()) {
      tally.fills += maintenance.maintainInShard(id, Instant.MAX).fill() instanceof Filled ? 1 : 0;
    }
  }

  // Clients.

  /** Opens a session with some sockets, and plans the next one. */
  private void openSession(Customer customer) {
    if (now().isAfter(customer.closes()) || now().isAfter(end)) {
      return;
    }
    after(1 + random.nextInt(2_000 * customer.everySeconds()), () -> openSession(customer));
    if (random.nextInt(200) == 0) {
      retuneConnects(customer);
    }
    if (lifecycle.open(customer.tenant(), Optional.empty())
        instanceof SessionLifecycle.Opened opened) {
      SessionId session = opened.session().id();
      int count = 1 + random.nextInt(3);
      for (int i = 0; i < count; i++) {
        after(random.nextInt(500), () -> connect(customer, session, 1));
      }
      if (random.nextInt(3) == 0) {
        after(1_000L * random.nextInt(200), () -> lifecycle.end(customer.tenant().id(), session));
      }
    }
    if (random.nextInt(4) == 0) {
      mail(customer, 1 + random.nextInt(3));
    }
  }

  /** Changes the rate of the tenant's connect bucket. */
  private void retuneConnects(Customer customer) {
    BucketId id = customer.bucket(Action.CONNECT);
    BucketSpec current = ports.buckets().find(id).orElseThrow().spec();
    long rate = 30L * (1 + random.nextInt(6));
    BucketSpec next = new BucketSpec(Rate.perMinute(rate), rate, current.fillPolicy());
    ports.retune(id, next);
    account(id).allowance.retune(terms(next), now());
    account(id).perMinute = Math.max(account(id).perMinute, rate);
  }

  private void connect(Customer customer, SessionId session, int attempt) {
    AdmissionDecision decision = admission.decide(customer.tenant().id(), session);
    if (decision instanceof AdmissionDecision.Ticketed ticketed) {
      after(20, () -> register(customer, session, ticketed.ticket()));
      return;
    }
    AdmissionDecision.Refused refused = (AdmissionDecision.Refused) decision;
    tally.refused++;
    tally.addToDigest(now(), customer.number(), 2 + refused.refusal().detail().length());
    Optional<Instant> retryAt = refused.retryAt();
    if (retryAt.isPresent() && attempt < MAX_ATTEMPTS && retryAt.get().isBefore(end)) {
      at(
          retryAt.get().plusMillis(random.nextInt(3_000)),
          () -> connect(customer, session, attempt + 1));
    } else {
      tally.gaveUp++;
    }
  }

  private void register(Customer customer, SessionId session, Ticket ticket) {
    String id = "c" + numbers++;
    if (registration.register(ticket, id) instanceof Registration.Registered admitted) {
      tally.admitted++;
      tally.addToDigest(now(), customer.number(), 1);
      if (admitted.tokenSpent()) {
        spent(customer.bucket(Action.CONNECT), 1);
      }
      long open = sockets.open(id, customer.tenant().id());
      check(
          open <= customer.tenant().limits().get(Limit.TENANT_CONNECTIONS),
          () -> customer.tenant().id() + " has " + open + " open");
      after(1_000L + random.nextInt(150_000), () -> close(customer, session, id));
      for (int i = random.nextInt(3); i > 0; i--) {
        after(random.nextInt(20_000), () -> send(customer, 1 + random.nextInt(10)));
      }
    } else {
      tally.refused++;
      tally.addToDigest(now(), customer.number(), 0);
    }
  }

  /** Closes a socket. Three percent of the events are lost. */
  private void close(Customer customer, SessionId session, String id) {
    sockets.close(id);
    if (random.nextInt(100) >= 3) {
      departure.remove(customer.tenant().id(), session, id);
    }
  }

  private void send(Customer customer, int count) {
    BucketId id = customer.bucket(Action.MESSAGE);
    int spent = claims.spendUpTo(id, ports.buckets().find(id), count).tokens();
    tally.messages += spent;
    tally.addToDigest(now(), customer.number(), 100 + spent);
    spent(id, spent);
  }

  private void mail(Customer customer, int count) {
    BucketId id = customer.bucket(MAIL);
    int spent = claims.spendUpTo(id, ports.buckets().find(id), count).tokens();
    tally.mails += spent;
    tally.addToDigest(now(), customer.number(), 200 + spent);
    spent(id, spent);
  }

  // Laws.

  private void spent(BucketId id, long tokens) {
    Account account = account(id);
    account.allowance.spend(tokens, now());
    check(
        account.allowance.excess() <= account.explained,
        () -> id + " gave " + account.allowance.excess() + " too many: " + account.allowance);
  }

  private void check(boolean kept, Supplier<String> otherwise) {
    tally.checked++;
    if (!kept) {
      throw new AssertionError("seed " + seed + ", at " + now() + ": " + otherwise.get());
    }
  }

  /**
   * Checks at the end that all tokens are accounted for, and that counts equal the open sockets.
   */
  private void audit() {
    for (Customer customer : customers) {
      long counted = ports.sessions().count(customer.tenant().id());
      long open = sockets.openOf(customer.tenant().id());
      check(
          counted == open,
          () -> customer.tenant().id() + ": " + counted + " counted, " + open + " open");
    }
    for (BucketId id : accounts.keySet()) {
      long inFlight = ports.queue().inFlight(id);
      TokenCounts counts =
          new TokenCounts(
              account(id).opening + filled.put(id) + spending.put(id),
              spending.settled(id),
              filled.settled(id) + ports.queue().expired(id),
              ports.queue().level(id) - inFlight,
              inFlight);
      check(counts.balances(), () -> id + ": " + counts);
    }
  }

  private Result result(int tenants, Duration length) {
    long minted =
        accounts.keySet().stream().mapToLong(id -> filled.put(id) + account(id).opening).sum();
    return new Result(
        seed,
        tenants,
        length,
        tally.fills,
        minted,
        tally.admitted,
        tally.refused,
        tally.gaveUp,
        tally.messages,
        tally.mails,
        sockets.max(),
        tally.checked,
        tally.digest);
  }

  /** The result of a day. */
  public record Result(
      long seed,
      int tenants,
      Duration length,
      long fills,
      long minted,
      long admitted,
      long refused,
      long gaveUp,
      long messages,
      long mails,
      long mostOpen,
      long lawsChecked,
      long digest) {
    @Override
    public String toString() {
      return ("seed %d: %s of %,d tenants: %,d fills, %,d tokens minted; %,d connections admitted,"
              + " %,d refused, %,d gave up, %,d open at most; %,d messages, %,d mails; laws checked"
              + " %,d times; digest %016x")
          .formatted(
              seed,
              length,
              tenants,
              fills,
              minted,
              admitted,
              refused,
              gaveUp,
              mostOpen,
              messages,
              mails,
              lawsChecked,
              digest);
    }
  }
}
