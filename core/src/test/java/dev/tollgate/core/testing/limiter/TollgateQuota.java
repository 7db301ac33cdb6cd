package dev.tollgate.core.testing.limiter;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.CachedClaims;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import dev.tollgate.core.bucket.claim.ClaimResult.Granted;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.claim.SettleResult;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.provisioning.ReconcileRequests;
import dev.tollgate.core.testing.fault.BucketFaults;
import dev.tollgate.core.testing.fault.FaultyBuckets;
import dev.tollgate.core.testing.fault.FaultyTokenQueue;
import dev.tollgate.core.testing.memory.InMemoryBucketQueues;
import dev.tollgate.core.testing.memory.InMemoryBuckets;
import dev.tollgate.core.testing.memory.InMemoryFillSchedules;
import dev.tollgate.core.testing.memory.InMemoryTenants;
import dev.tollgate.core.testing.memory.InMemoryTokenQueue;
import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.FaultEffects;
import dev.tollgate.lawbook.Lease;
import dev.tollgate.lawbook.Quota;
import dev.tollgate.lawbook.Setting;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * A bucket that a calendar fills, as a {@code Quota}, over any ports with or without {@link
 * BucketFaults}. Its schedule fires within the minute in which a period begins; with faults it may
 * fire late, twice, or not at all. Several processes claim in turn, some of which keep rows.
 */
public final class TollgateQuota implements Quota {
  private static final BucketId ID = new BucketId(new TenantId("acme"), new Action("send-email"));
  private static final int PROCESSES = 4;
  private static final List<String> ZONES =
      List.of("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe");

  private final InstantSource clock;
  private final Terms terms;
  private final FillMode mode;
  private final BucketFaults faults;
  private final TollgateLimiter.Ports ports;
  private final FaultyTokenQueue spending;
  private final FaultyTokenQueue filled;
  private final Buckets fills;
  private final InMemoryFillSchedules schedules = new InMemoryFillSchedules();
  private final List<Claims> claims;
  private final List<CachedClaims> cached;
  private final Queue<Timer> timers =
      new PriorityQueue<>(Comparator.comparing(Timer::at).thenComparing(Timer::number));
  private long capacity;
  private long numbers;
  private long asked;

  private record Timer(Instant at, long number, Runnable work) {}

  private TollgateQuota(
      TollgateLimiter.Ports ports,
      Setting setting,
      Terms terms,
      FillMode mode,
      int perMille,
      UnaryOperator<Buckets> claimed,
      UnaryOperator<Buckets> filledRows) {
    this.ports = ports;
    this.clock = setting.clock();
    this.terms = terms;
    this.mode = mode;
    this.capacity = terms.capacity();
    this.faults = new BucketFaults(setting.seed(), perMille, setting::mayInjectFaults, clock);
    this.spending = new FaultyTokenQueue(ports.queue(), faults, clock, id -> 0);
    this.filled = new FaultyTokenQueue(ports.queue(), faults, clock, id -> 0);
    Buckets rows =
        new FaultyBuckets(
            ports.buckets(),
            faults,
            id -> maintenance(filledRows.apply(ports.buckets())).maintain(id, Instant.MAX));
    this.fills = filledRows.apply(rows);
    Buckets seen = claimed.apply(rows);
    this.claims =
        Stream.generate(
                () -> new Claims(seen, spending, new Requests(), Runnable::run, any -> {}, clock))
            .limit(PROCESSES)
            .toList();
    this.cached =
        claims.stream()
            .map(
                each ->
                    new CachedClaims(
                        id -> seen.find(id).orElseThrow(),
                        each,
                        Optional.empty(),
                        Runnable::run,
                        clock))
            .toList();
    Bucket opened = Bucket.opened(ID, spec(), clock.instant());
    ports.buckets().open(opened);
    ports.queues().ensure(ID, opened.tokenLifetimeAt(clock.instant()));
    maintenanceWithoutFaults().maintain(ID, Instant.MAX);
    schedule();
  }

  /**
   * Makes quotas.
   *
   * @param perMille how often a fault strikes, see {@link BucketFaults}
   */
  public static Quota.Maker inMemory(FillMode mode, int perMille) {
    return inMemory(mode, perMille, UnaryOperator.identity(), UnaryOperator.identity());
  }

  /**
   * Makes quotas with planted faults.
   *
   * @param claimed changes the rows of claims
   * @param filled changes the rows of fills
   */
  public static Quota.Maker inMemory(
      FillMode mode, int perMille, UnaryOperator<Buckets> claimed, UnaryOperator<Buckets> filled) {
    return of(
        setting -> {
          InMemoryTokenQueue queue = new InMemoryTokenQueue(setting.clock());
          return new TollgateLimiter.Ports(
              new InMemoryBuckets(), queue, new InMemoryBucketQueues(queue, setting.clock()));
        },
        mode,
        perMille,
        claimed,
        filled);
  }

  /**
   * Makes quotas over any ports.
   *
   * @param ports makes the ports of a history
   * @param perMille how often a fault strikes, see {@link BucketFaults}
   */
  public static Quota.Maker over(
      Function<Setting, TollgateLimiter.Ports> ports, FillMode mode, int perMille) {
    return of(ports, mode, perMille, UnaryOperator.identity(), UnaryOperator.identity());
  }

  private static Quota.Maker of(
      Function<Setting, TollgateLimiter.Ports> ports,
      FillMode mode,
      int perMille,
      UnaryOperator<Buckets> claimed,
      UnaryOperator<Buckets> filled) {
    return new Quota.Maker() {
      @Override
      public Quota make(Setting setting, Terms terms) {
        return new TollgateQuota(
            ports.apply(setting), setting, terms, mode, perMille, claimed, filled);
      }

      @Override
      public Terms terms(Random random) {
        boolean isLarge = random.nextInt(20) == 0;
        return new Terms(
            1 + random.nextInt(isLarge ? 150 : 30),
            random.nextInt(3) == 0 ? 7 : 1,
            LocalTime.of(random.nextInt(4), random.nextInt(60)),
            ZoneId.of(ZONES.get(random.nextInt(ZONES.size()))),
            Duration.ofMinutes(1));
      }
    };
  }

  private BucketSpec spec() {
    Calendar calendar =
        new Calendar(
            terms.days() == 7 ? Calendar.Every.WEEK : Calendar.Every.DAY,
            terms.days() == 7 ? Optional.of(DayOfWeek.MONDAY) : Optional.empty(),
            terms.at(),
            terms.zone(),
            false);
    return new BucketSpec(calendar, capacity, new FillPolicy(mode, 0));
  }

  private Calendar calendar() {
    return (Calendar) spec().refill();
  }

  private BucketMaintenance maintenance(Buckets on) {
    return maintenance(on, filled);
  }

  private BucketMaintenance maintenanceWithoutFaults() {
    return maintenance(ports.buckets(), ports.queue());
  }

  private BucketMaintenance maintenance(Buckets on, TokenQueue tokens) {
    return new BucketMaintenance(
        on, tokens, ports.queues(), schedules, new ReconcileRequests(new InMemoryTenants()), clock);
  }

  private final class Requests implements FillRequests {
    @Override
    public void send(BucketId id) {
      if (faults.isThrottled(id, BucketFaults.Kind.LAMBDA_THROTTLED)) {
        throw new Unavailable("Lambda throttles");
      }
      Unavailable.ignore(() -> maintenance(fills).maintainOnRequest(id, Instant.MAX));
    }

    @Override
    public void sendAndWait(BucketId id) {
      send(id);
    }
  }

  @Override
  public Claim claim() {
    int which = (int) (asked++ % PROCESSES);
    ClaimResult result;
    try {
      result = cached.get(which).hold(ID, 1, Claims.LEASE);
    } catch (Unavailable unavailable) {
      return new Claim.Undecided(unavailable.reason());
    }
    if (result instanceof Granted granted) {
      return Claim.admitted(new Held(claims.get(which), granted));
    }
    return result instanceof Denied denied
        ? Claim.refused(Duration.between(clock.instant(), denied.retryAt()))
        : new Claim.Undecided(result.toString());
  }

  private record Held(Claims claims, Granted granted) implements Lease {
    @Override
    public Instant endsAt() {
      return granted.endsAt();
    }

    @Override
    public Spending spend() {
      SettleResult result = claims.held().settle(granted);
      return result instanceof SettleResult.Spent
          ? Spending.SPENT
          : result instanceof SettleResult.Lapsed lapsed && !lapsed.maySpend()
              ? Spending.REFUSED
              : Spending.UNDECIDED;
    }

    @Override
    public void giveBack() {
      claims.held().giveBack(granted);
    }
  }

  /** As the control plane does: it writes the row, and has the bucket filled at once. */
  @Override
  public void retune(long next) {
    capacity = next;
    Bucket row = ports.buckets().find(ID).orElseThrow();
    if (!row.spec().equals(spec())) {
      ports.buckets().replace(row.retuned(spec(), clock.instant()));
      Unavailable.ignore(() -> maintenance(fills).maintain(ID, Instant.MAX));
    }
  }

  @Override
  public FaultEffects faultEffects() {
    return faults.faultEffects(ID);
  }

  @Override
  public Optional<Instant> nextTimer() {
    return Optional.ofNullable(timers.peek()).map(Timer::at);
  }

  @Override
  public void passedTo(Instant now) {
    for (Timer next = timers.peek();
        next != null && !next.at().isAfter(now);
        next = timers.peek()) {
      timers.remove();
      next.work().run();
    }
  }

  private void at(Instant instant, Runnable work) {
    timers.add(new Timer(instant, numbers++, work));
  }

  /** Schedules the firings at the beginning of the next period. */
  private void schedule() {
    Instant next = calendar().next(clock.instant());
    at(
        next,
        () -> {
          fires(next);
          schedule();
        });
  }

  private void fires(Instant minute) {
    if (faults.strikes(ID, BucketFaults.Kind.FILL_MISSED)
        || faults.isThrottled(ID, BucketFaults.Kind.LAMBDA_THROTTLED)) {
      return;
    }
    Instant then = minute.plusSeconds(faults.random(ID).nextInt(60));
    at(then, this::fill);
    if (faults.strikes(ID, BucketFaults.Kind.FILL_TWICE)) {
      at(then.plusSeconds(faults.random(ID).nextInt(20)), this::fill);
    }
  }

  private void fill() {
    Unavailable.ignore(
        () -> {
          if (mode == FillMode.PRODUCER) {
            maintenance(fills).maintain(ID, Instant.MAX);
          } else {
            maintenance(fills).maintainInShard(ID, Instant.MAX);
          }
        });
  }
}
