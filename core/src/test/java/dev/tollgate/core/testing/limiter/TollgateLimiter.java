package dev.tollgate.core.testing.limiter;

import dev.tollgate.core.Action;
import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.CachedClaims;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import dev.tollgate.core.bucket.claim.ClaimResult.Granted;
import dev.tollgate.core.bucket.claim.ClaimResult.Undecided;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.bucket.claim.Prefetch;
import dev.tollgate.core.bucket.claim.SettleResult;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.provisioning.BucketQueues;
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
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Setting;
import dev.tollgate.lawbook.Terms;
import dev.tollgate.lawbook.TokenCounts;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Tollgate's buckets as a {@code Limiter}, over any ports, with or without {@link BucketFaults}.
 * The schedules are simulated: each bucket's schedule fires at a fixed second of the minute; with
 * faults it may fire late, twice, or not at all.
 *
 * <p>A fill may add the tokens that accrued while the bucket was full: at most one minute's tokens,
 * however late it is. This is the {@link Terms#slack}, and no fault of a fill explains more. The
 * faults of SQS beyond that are counted as they strike, see {@link FaultyTokenQueue}.
 */
public final class TollgateLimiter implements Limiter {
  /** SQS delays by whole seconds, and a claim is repeated a second after the token is due. */
  private static final Duration LATENESS = Duration.ofSeconds(2);

  /**
   * The lateness of a directly filled bucket: it is filled once a minute, and claims look for
   * tokens every five seconds.
   */
  private static final Duration DIRECT_LATENESS = Duration.ofSeconds(67);

  /**
   * The next fill comes within a minute. Tokens minted ahead until then have appeared after 75
   * seconds, and the fill after that removes a surplus.
   */
  private static final Duration GRAIN = Duration.ofMinutes(3);

  private static final int PROCESSES = 3;

  /** What processes keep between their claims. */
  public enum Keeping {
    /** Nothing: every claim reads the bucket's row, as functions do. */
    NOTHING,
    /** Rows, as the client does. */
    ROWS,
    /** Rows and prefetched tokens, as the client does that prefetches. */
    TOKENS
  }

  private static final Action ACTION = new Action("send-email");
  private static final long MICRO = 1_000_000;

  private final Ports ports;
  private final Optional<Insight> insight;
  private final Map<String, BucketId> ids = new HashMap<>();
  private final Function<Terms, FillPolicy> filling;
  private final BucketFaults faults;
  private final InstantSource clock;
  private final InMemoryFillSchedules schedules = new InMemoryFillSchedules();
  private final FaultyTokenQueue spending;
  private final FaultyTokenQueue filled;
  private final FaultyBuckets rows;
  private final BucketMaintenance maintenance;
  private final List<Claims> gates;
  private final List<CachedClaims> processes;
  private final Keeping keeping;
  private final Map<BucketId, Terms> terms = new HashMap<>();
  private final Map<BucketId, Long> opened = new HashMap<>();
  private final Map<BucketId, Long> requested = new HashMap<>();
  private final Map<BucketId, Long> claims = new HashMap<>();
  private final Queue<Timer> timers =
      new PriorityQueue<>(Comparator.comparing(Timer::at).thenComparing(Timer::number));
  private long numbers;
  private long failedRequests;

  /** The ports of buckets and their tokens. */
  public record Ports(Buckets buckets, TokenQueue queue, BucketQueues queues) {}

  /** A view into a queue; without it the limiter returns no token counts. */
  public record Insight(ToLongFunction<BucketId> inFlight, ToLongFunction<BucketId> expired) {}

  private record Timer(Instant at, long number, Runnable work) {}

  /**
   * Makes limiters over {@code ports}.
   *
   * @param filling how a bucket with these terms is filled
   */
  public TollgateLimiter(
      Ports ports,
      Optional<Insight> insight,
      Function<Terms, FillPolicy> filling,
      BucketFaults faults,
      InstantSource clock) {
    this(ports, insight, filling, faults, Keeping.NOTHING, UnaryOperator.identity(), clock);
  }

  private TollgateLimiter(
      Ports ports,
      Optional<Insight> insight,
      Function<Terms, FillPolicy> filling,
      BucketFaults faults,
      Keeping keeping,
      UnaryOperator<TokenQueue> planted,
      InstantSource clock) {
    this.keeping = keeping;
    this.ports = ports;
    this.insight = insight;
    this.filling = filling;
    this.faults = faults;
    this.clock = clock;
    this.spending = new FaultyTokenQueue(ports.queue(), faults, clock, this::fillSize);
    this.filled = new FaultyTokenQueue(ports.queue(), faults, clock, this::fillSize);
    this.rows = new FaultyBuckets(ports.buckets(), faults, this::rival);
    this.maintenance = maintenance(rows);
    TokenQueue claimed = planted.apply(spending);
    this.gates = Stream.generate(() -> claims(claimed, pause -> {})).limit(PROCESSES).toList();
    this.processes = gates.stream().map(claims -> process(claims, claimed)).toList();
    minute(clock.instant().truncatedTo(ChronoUnit.MINUTES).plus(1, ChronoUnit.MINUTES));
  }

  /**
   * Makes limiters over in-memory ports.
   *
   * @param perMille how often a fault strikes, see {@link BucketFaults}
   */
  public static Limiter.Maker inMemory(Function<Terms, FillPolicy> filling, int perMille) {
    return inMemory(filling, perMille, Keeping.NOTHING, UnaryOperator.identity());
  }

  /**
   * Makes limiters over in-memory ports, whose processes keep something between claims.
   *
   * @param planted wraps the queue of claims
   */
  public static Limiter.Maker inMemory(
      Function<Terms, FillPolicy> filling,
      int perMille,
      Keeping keeping,
      UnaryOperator<TokenQueue> planted) {
    return new Limiter.Maker() {
      @Override
      public Limiter make(Setting setting) {
        InMemoryTokenQueue queue = new InMemoryTokenQueue(setting.clock());
        BucketFaults faults =
            new BucketFaults(setting.seed(), perMille, setting::mayInjectFaults, setting.clock());
        return new TollgateLimiter(
            new Ports(
                new InMemoryBuckets(), queue, new InMemoryBucketQueues(queue, setting.clock())),
            Optional.of(new Insight(queue::inFlight, queue::expired)),
            filling,
            faults,
            keeping,
            planted,
            setting.clock());
      }

      @Override
      public Terms terms(Random random) {
        return TollgateLimiter.terms(random, filling);
      }
    };
  }

  /** Draws terms that a bucket with the policy of {@code filling} can keep. */
  public static Terms terms(Random random, Function<Terms, FillPolicy> filling) {
    long tokens = 1L + random.nextInt(10);
    long micro =
        switch (random.nextInt(3)) {
          case 0 -> 100_000L * (1 + random.nextInt(30));
          case 1 -> 1L + random.nextInt(30_000_000);
          default -> tokens * MICRO;
        };
    Terms any = terms(micro, 1L + random.nextInt(30), LATENESS);
    return filling.apply(any).mode() == FillMode.DIRECT
        ? terms(tokens * MICRO, tokens * (1 + random.nextInt(3)), DIRECT_LATENESS)
        : any;
  }

  private BucketMaintenance maintenance(Buckets buckets) {
    return new BucketMaintenance(
        buckets,
        filled,
        ports.queues(),
        schedules,
        new ReconcileRequests(new InMemoryTenants()),
        clock);
  }

  private Claims claims(TokenQueue queue, Pause pause) {
    return new Claims(rows, queue, new Requests(), Runnable::run, pause, clock);
  }

  private CachedClaims process(Claims claims, TokenQueue queue) {
    Prefetch prefetch =
        new Prefetch(
            queue,
            new HeldTokens(rows, queue, clock),
            TokenQueue.BATCH,
            (time, work) -> at(clock.instant().plus(time), work),
            clock);
    return new CachedClaims(
        id -> rows.find(id).orElseThrow(),
        claims,
        Optional.of(prefetch).filter(any -> keeping == Keeping.TOKENS),
        Runnable::run,
        clock);
  }

  /** Several processes claim from a bucket in turn. */
  private int next(BucketId id) {
    return (int) (claims.merge(id, 1L, Long::sum) % PROCESSES);
  }

  /** Fill requests, each executed at once. {@code send} does not report failures. */
  private final class Requests implements FillRequests {
    @Override
    public void send(BucketId id) {
      requested.merge(id, 1L, Long::sum);
      if (faults.isThrottled(id, BucketFaults.Kind.LAMBDA_THROTTLED)) {
        failedRequests++;
        throw new Unavailable("Lambda throttles");
      }
      try {
        maintenance.maintainOnRequest(id, Instant.MAX);
      } catch (Unavailable notFilled) {
        return;
      }
    }

    @Override
    public void sendAndWait(BucketId id) {
      requested.merge(id, 1L, Long::sum);
      faults.ask(
          id,
          BucketFaults.Kind.LAMBDA_THROTTLED,
          "fill",
          () -> maintenance.maintainOnRequest(id, Instant.MAX));
    }
  }

  /** The number of rejected fill requests. */
  long failedRequests() {
    return failedRequests;
  }

  private static Terms terms(long micro, long capacity, Duration lateness) {
    dev.tollgate.lawbook.Rate rate =
        new dev.tollgate.lawbook.Rate(micro, Duration.ofMinutes(MICRO));
    return new Terms(rate, capacity, rate.tokensIn(Duration.ofMinutes(1)), lateness, true, GRAIN);
  }

  private BucketId id(String tenant) {
    return ids.computeIfAbsent(tenant, TollgateLimiter::inFirstShard);
  }

  /** A tenant id for this name; all tenants are in one shard. */
  private static BucketId inFirstShard(String tenant) {
    return Stream.iterate(0, i -> i + 1)
        .map(i -> new TenantId(tenant + "-" + i))
        .filter(id -> Shard.of(id).number() == 0)
        .findFirst()
        .map(id -> new BucketId(id, ACTION))
        .orElseThrow();
  }

  private BucketSpec spec(Terms wanted) {
    FillPolicy fillPolicy = filling.apply(wanted);
    Rate rate = new Rate(wanted.rate().tokens());
    boolean direct =
        wanted.rate().tokens() % MICRO == 0
            && wanted.rate().tokens() <= 10 * MICRO
            && wanted.capacity() >= rate.ceiling();
    return new BucketSpec(
        rate,
        wanted.capacity(),
        fillPolicy.mode() == FillMode.DIRECT && !direct
            ? new FillPolicy(FillMode.PRODUCER, fillPolicy.hibernateAfterMinutes())
            : fillPolicy);
  }

  private long fillSize(BucketId id) {
    Terms known = terms.get(id);
    return known == null ? 0 : known.rate().tokensIn(Duration.ofMinutes(1));
  }

  // The port.

  @Override
  public void open(String tenant, Terms wanted) {
    BucketId id = id(tenant);
    terms.put(id, wanted);
    Bucket bucket = Bucket.opened(id, spec(wanted), clock.instant());
    ports.buckets().open(bucket);
    ports.queues().ensure(id, bucket.tokenLifetimeAt(clock.instant()));
    provide(bucket);
    FaultyTokenQueue noFaults =
        new FaultyTokenQueue(
            ports.queue(), new BucketFaults(0, 0, () -> false, clock), clock, this::fillSize);
    new BucketFill(ports.buckets(), noFaults, clock).fill(id);
    opened.merge(id, noFaults.put(id), Long::sum);
    fires(id, clock.instant().truncatedTo(ChronoUnit.MINUTES));
  }

  @Override
  public boolean retune(String tenant, Terms wanted) {
    BucketId id = id(tenant);
    terms.put(id, wanted);
    Bucket next = ports.buckets().find(id).orElseThrow().retuned(spec(wanted), clock.instant());
    ports.buckets().replace(next);
    ports.queues().ensure(id, next.tokenLifetimeAt(clock.instant()));
    provide(next);
    return true;
  }

  private void provide(Bucket bucket) {
    schedules.put(bucket);
    if (bucket.spec().fillPolicy().mode() != FillMode.PRODUCER) {
      schedules.put(Shard.of(bucket.id().tenant()));
    }
  }

  @Override
  public Claim claim(String tenant) {
    BucketId id = id(tenant);
    int which = next(id);
    return keeping == Keeping.TOKENS
        ? answer(gates.get(which), () -> processes.get(which).spend(id, 1), true)
        : claim(which, id, 1);
  }

  @Override
  public Optional<Claim> claim(String tenant, long tokens) {
    BucketId id = id(tenant);
    return Optional.of(claim(next(id), id, tokens));
  }

  @Override
  public Optional<List<Claim>> claimTogether(String tenant, int callers, long tokens) {
    BucketId id = id(tenant);
    long seed = faults.random(id).nextLong();
    return Optional.of(
        SimulatedCallers.run(
            callers,
            seed,
            caller -> claim(claims(caller.around(spending), caller::pause), id, tokens)));
  }

  private Claim claim(int which, BucketId id, long tokens) {
    Claims claims = gates.get(which);
    if (keeping == Keeping.NOTHING) {
      return claim(claims, id, tokens);
    }
    long capacity = ports.buckets().find(id).orElseThrow().spec().capacity();
    int n = Math.toIntExact(Math.min(tokens, capacity));
    return answer(claims, () -> processes.get(which).hold(id, n, Claims.LEASE), false);
  }

  private Claim answer(
      Claims claims, Supplier<dev.tollgate.core.bucket.claim.ClaimResult> claim, boolean isSpent) {
    dev.tollgate.core.bucket.claim.ClaimResult answer;
    try {
      answer = claim.get();
    } catch (Unavailable unavailable) {
      return new Claim.Undecided(unavailable.reason());
    }
    if (answer instanceof Granted granted) {
      return isSpent ? Claim.admitted() : Claim.admitted(new Held(claims, granted));
    }
    return answer instanceof Denied denied
        ? Claim.refused(Duration.between(clock.instant(), denied.retryAt()))
        : new Claim.Undecided(((Undecided) answer).cause());
  }

  /**
   * A claim through one process.
   *
   * @throws IllegalStateException if the claims is undecided although SQS answered every request,
   *     or the row has an empty hint
   */
  private Claim claim(Claims claims, BucketId id, long tokens) {
    Bucket read;
    try {
      read = rows.find(id).orElseThrow();
    } catch (Unavailable unavailable) {
      return new Claim.Undecided(unavailable.reason());
    }
    long failed = spending.failedReserves(id);
    boolean empty = read.at(clock.instant()).isKnownEmpty();
    dev.tollgate.core.bucket.claim.ClaimResult answer =
        claims.hold(read, Math.toIntExact(Math.min(tokens, read.spec().capacity())), new Attempt());
    if (answer instanceof Granted granted) {
      return Claim.admitted(new Held(claims, granted));
    }
    if (answer instanceof Denied denied) {
      return Claim.refused(Duration.between(clock.instant(), denied.retryAt()));
    }
    String cause = ((Undecided) answer).cause();
    if (empty || spending.failedReserves(id) == failed) {
      throw new IllegalStateException(
          "undecided although SQS answers or the row has an empty hint: " + cause);
    }
    return new Claim.Undecided(cause);
  }

  /** A lease on claimed tokens. */
  private final class Held implements Lease {
    private final Claims claims;
    private final Granted granted;

    Held(Claims claims, Granted granted) {
      this.claims = claims;
      this.granted = granted;
    }

    @Override
    public long tokens() {
      return granted.leases().size();
    }

    @Override
    public Instant endsAt() {
      return granted.endsAt();
    }

    @Override
    public Spending spend() {
      boolean ended = !clock.instant().isBefore(granted.endsAt());
      boolean spent = claims.held().settle(granted) instanceof SettleResult.Spent;
      return spent ? Spending.SPENT : ended ? Spending.REFUSED : Spending.UNDECIDED;
    }

    @Override
    public void giveBack() {
      claims.held().giveBack(granted);
    }
  }

  @Override
  public Optional<TokenCounts> tokenCounts(String tenant) {
    BucketId id = id(tenant);
    return insight
        .filter(any -> keeping != Keeping.TOKENS)
        .map(
            view -> {
              long inFlight = view.inFlight().applyAsLong(id);
              return new TokenCounts(
                  opened.getOrDefault(id, 0L) + filled.put(id) + spending.put(id),
                  spending.settled(id),
                  filled.settled(id) + view.expired().applyAsLong(id),
                  ports.queue().level(id) - inFlight,
                  inFlight);
            });
  }

  @Override
  public OptionalLong expiredByAge(String tenant) {
    BucketId id = id(tenant);
    return insight
        .map(view -> OptionalLong.of(view.expired().applyAsLong(id)))
        .orElseGet(OptionalLong::empty);
  }

  @Override
  public FaultEffects faultEffects(String tenant) {
    return faults.faultEffects(id(tenant));
  }

  @Override
  public long cost(String tenant) {
    BucketId id = id(tenant);
    return spending.requests(id) + rows.requests(id) + requested.getOrDefault(id, 0L);
  }

  // Schedules.

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

  /** Schedules one firing per bucket within this minute, and repeats every minute. */
  private void minute(Instant minute) {
    at(
        minute,
        () -> {
          terms.keySet().stream()
              .sorted(Comparator.comparing(BucketId::toString))
              .forEach(id -> fires(id, minute));
          minute(minute.plus(1, ChronoUnit.MINUTES));
        });
  }

  private void fires(BucketId id, Instant minute) {
    Instant then = minute.plusSeconds(faults.second(id));
    if (faults.strikes(id, BucketFaults.Kind.FILL_MISSED)
        || faults.isThrottled(id, BucketFaults.Kind.LAMBDA_THROTTLED)) {
      return;
    }
    if (faults.strikes(id, BucketFaults.Kind.FILL_LATE)) {
      then = minute.plusSeconds(faults.random(id).nextInt(60));
    }
    at(then, () -> fill(id));
    if (faults.strikes(id, BucketFaults.Kind.FILL_TWICE)) {
      at(then.plusSeconds(faults.random(id).nextInt(20)), () -> fill(id));
    }
  }

  /** Another fill in the same minute, during a fill. */
  private void rival(BucketId id) {
    maintenance(ports.buckets()).maintain(id, Instant.MAX);
  }

  private void fill(BucketId id) {
    try {
      InMemoryFillSchedules.Scheduled schedule = schedules.schedules().get(id);
      if (schedule != null && schedule.state() == FillState.State.DIRECT) {
        int tokens = Math.toIntExact(schedule.spec().rate().ceiling());
        filled.put(
            id,
            Stream.generate(() -> new Token("direct", id, clock.instant(), clock.instant()))
                .limit(tokens)
                .toList());
      } else if (schedule != null && schedule.state() == FillState.State.PRODUCED) {
        maintenance.maintain(id, Instant.MAX);
      }
      if (ports
          .buckets()
          .due(Shard.of(id.tenant()), clock.instant(), Optional.empty(), 1_000)
          .items()
          .contains(id)) {
        maintenance.maintainInShard(id, Instant.MAX);
      }
    } catch (Unavailable notFilled) {
      return;
    }
  }
}
