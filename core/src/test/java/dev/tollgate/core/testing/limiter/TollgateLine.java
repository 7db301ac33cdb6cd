package dev.tollgate.core.testing.limiter;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.CachedClaims;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.bucket.claim.LineCaller;
import dev.tollgate.core.bucket.claim.Prefetch;
import dev.tollgate.core.bucket.claim.SettleResult;
import dev.tollgate.core.bucket.claim.TokenSearch;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.provisioning.ReconcileRequests;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.lawbook.Line;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Setting;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Tollgate's line as a {@code Line}: buckets, gates and fills are the real code over in-memory
 * ports. The schedule fires once a minute, and a requested fill takes up to a second to start.
 */
public final class TollgateLine implements Line {
  private static final BucketId ID = new BucketId(new TenantId("acme"), Action.CONNECT);

  private static final long MICRO = 1_000_000;

  /** A place is due for ten seconds. */
  private static final Duration GRACE = Duration.ofMillis(9_999);

  private static final int INSTANCES = 3;

  /** The most faults among a thousand requests. */
  private static final int MOST_FAULTS = 50;

  /** How far a process's clock may be off. */
  private static final int SKEW_MILLIS = 200;

  private static final List<Faults.Fault> FAULTS =
      List.of(Faults.UNREACHABLE, Faults.ANSWER_LOST, Faults.KILLED);

  /** The longest time until a requested fill starts. */
  private static final int INVOCATION_MILLIS = 1_000;

  /** An even number, so the line is on in the end. */
  private static final int SWITCHES = 4;

  private static final Duration SWITCHING = Duration.ofMinutes(4);

  private final AdmissionFixture ports;
  private final BucketMaintenance maintenance;
  private final Buckets buckets;
  private final Faults faults = new Faults();
  private final List<Instance> instances = new ArrayList<>();
  private long struck;
  private final Map<String, Place> places = new HashMap<>();
  private final PriorityQueue<Instant> requested = new PriorityQueue<>();
  private final Random random;
  private Instant minute;

  private final Mode mode;
  private final PriorityQueue<Timer> timers =
      new PriorityQueue<>(Comparator.comparing(Timer::at).thenComparing(Timer::order));
  private long order;
  private final PriorityQueue<Instant> switches = new PriorityQueue<>();

  /** Whether the line is on. */
  private enum Mode {
    ON,
    NONE,
    SWITCHED,
    /** Requests fail, answers are lost, instances end, and clocks differ. */
    FAULTY,
    /** Instances keep rows; somebody has waited in the line before. */
    KEEPING,
    /** The same, and instances claim with prefetched tokens for callers that take no place. */
    PREFETCHING,
    /** The same, with the faults of {@link #FAULTY}. */
    FAULTY_PREFETCHING;

    boolean isFaulty() {
      return this == FAULTY || this == FAULTY_PREFETCHING;
    }

    boolean isKeeping() {
      return compareTo(KEEPING) >= 0;
    }

    boolean isPrefetching() {
      return compareTo(PREFETCHING) >= 0;
    }
  }

  private record Timer(Instant at, long order, Runnable work) {}

  /** A process that answers claims. */
  private final class Instance {
    private final Claims claims;
    private final CachedClaims process;

    /** A process whose clock is ahead by {@code skew}. */
    Instance(Duration skew) {
      InstantSource clock = () -> ports.time().instant().plus(skew);
      Buckets unreliable = unreliable(Buckets.class, buckets);
      TokenQueue queue = unreliable(TokenQueue.class, ports.queue());
      this.claims = new Claims(unreliable, queue, new Requests(), Runnable::run, any -> {}, clock);
      Prefetch prefetch =
          new Prefetch(
              queue,
              new HeldTokens(unreliable, queue, clock),
              TokenQueue.BATCH,
              (time, work) -> timers.add(new Timer(clock.instant().plus(time), order++, work)),
              clock);
      this.process =
          new CachedClaims(
              id -> unreliable.find(id).orElseThrow(),
              claims,
              Optional.of(prefetch).filter(any -> mode.isPrefetching()),
              Runnable::run,
              clock);
    }
  }

  private TollgateLine(Setting setting, Terms terms, UnaryOperator<Buckets> around, Mode mode) {
    this.mode = mode;
    this.random = new Random(setting.seed());
    this.ports = new AdmissionFixture(setting.clock());
    this.buckets = around.apply(ports.buckets());
    this.maintenance =
        new BucketMaintenance(
            buckets,
            ports.queue(),
            ports.queues(),
            ports.schedules(),
            new ReconcileRequests(ports.tenants()),
            setting.clock());
    if (mode.isFaulty()) {
      int perMille = 1 + random.nextInt(MOST_FAULTS);
      this.faults.each(() -> drawn(setting, perMille));
    }
    for (int i = 0; i < (mode.isFaulty() || mode.isKeeping() ? INSTANCES : 1); i++) {
      instances.add(started());
    }
    this.minute = ports.time().instant().plusMillis(random.nextInt(60_000));
    ports.open(ID, spec(terms.rate(), terms.capacity()));
    if (mode.isKeeping()) {
      Instant now = ports.time().instant();
      Bucket row = ports.buckets().find(ID).orElseThrow();
      buckets.changeLine(ID, Optional.empty(), row.at(now).lineOpened(now).cleared(now));
    }
    for (int i = 0; mode == Mode.SWITCHED && i < SWITCHES; i++) {
      switches.add(ports.time().instant().plusMillis(random.nextLong(SWITCHING.toMillis())));
    }
  }

  private <T> T unreliable(Class<T> port, T target) {
    return mode.isFaulty() ? faults.around(port, target) : target;
  }

  private Instance started() {
    int skew = mode.isFaulty() ? random.nextInt(2 * SKEW_MILLIS + 1) - SKEW_MILLIS : 0;
    return new Instance(Duration.ofMillis(skew));
  }

  private Optional<Faults.Fault> drawn(Setting setting, int perMille) {
    if (!setting.mayInjectFaults() || random.nextInt(1_000) >= perMille) {
      return Optional.empty();
    }
    struck++;
    return Optional.of(FAULTS.get(random.nextInt(FAULTS.size())));
  }

  @Override
  public long faults() {
    return struck;
  }

  private static BucketSpec spec(Rate rate, long capacity) {
    long micro = rate.tokens() * MICRO * 60 / rate.per().toSeconds();
    return new BucketSpec(
        new dev.tollgate.core.bucket.Rate(micro), capacity, new FillPolicy(FillMode.PRODUCER, 0));
  }

  /** Makes lines over in-memory ports. */
  public static Line.Maker inMemory() {
    return inMemory(UnaryOperator.identity());
  }

  /** The same, with buckets wrapped by {@code around}. */
  public static Line.Maker inMemory(UnaryOperator<Buckets> around) {
    return maker(around, Mode.ON);
  }

  /**
   * The same, in several instances whose clocks differ by up to {@link #SKEW_MILLIS}, and whose
   * requests fail.
   */
  public static Line.Maker faulty() {
    return maker(UnaryOperator.identity(), Mode.FAULTY);
  }

  /** Makes limiters without a line: all callers are told when the next token is due. */
  public static Line.Maker withoutLine() {
    return maker(UnaryOperator.identity(), Mode.NONE);
  }

  /** Makes lines that are switched off and on at random times in the first minutes. */
  public static Line.Maker switched(UnaryOperator<Buckets> around) {
    return maker(around, Mode.SWITCHED);
  }

  /**
   * Makes lines in several instances that keep rows.
   *
   * @param prefetching whether others claim as well, with prefetched tokens
   * @param faulty whether requests fail, as with {@link #faulty()}; only if prefetching
   */
  public static Line.Maker keeping(boolean prefetching, boolean faulty) {
    Mode some = prefetching ? Mode.PREFETCHING : Mode.KEEPING;
    return maker(UnaryOperator.identity(), faulty ? Mode.FAULTY_PREFETCHING : some);
  }

  private static Line.Maker maker(UnaryOperator<Buckets> around, Mode mode) {
    return new Line.Maker() {
      @Override
      public Line make(Setting setting, Terms terms) {
        return new TollgateLine(setting, terms, around, mode);
      }

      /**
       * The bucket keeps a line: it holds three tokens, and those of 30 seconds at twice the rate.
       */
      @Override
      public Terms terms(Random random) {
        int perMinute = 1 + random.nextInt(random.nextBoolean() ? 20 : 600);
        Rate rate = Rate.perMinute(perMinute);
        long least = Math.max(3, rate.tokensIn(Duration.ofSeconds(60)) + 1);
        long capacity = least + random.nextInt(random.nextBoolean() ? 3 : 2 * perMinute + 1);
        // A minute's tokens may be minted ahead.
        return new Terms(rate, capacity, perMinute, GRACE);
      }
    };
  }

  private final class Requests implements FillRequests {
    @Override
    public void send(BucketId id) {
      requested.add(ports.time().instant().plusMillis(1 + random.nextInt(INVOCATION_MILLIS)));
    }

    @Override
    public void sendAndWait(BucketId id) {
      maintenance.maintainOnRequest(id, Instant.MAX);
    }
  }

  /** A caller whose place is in a row, whose writes may fail. */
  @SuppressWarnings("unchecked")
  private LineCaller waiting(String caller) {
    Predicate<Place> row =
        unreliable(
            Predicate.class,
            (Predicate<Place>)
                place -> {
                  places.put(caller, place);
                  return true;
                });
    return new LineCaller() {
      @Override
      public Optional<Place> place() {
        return Optional.ofNullable(places.get(caller));
      }

      @Override
      public boolean keep(Place place, Instant slot) {
        return row.test(place);
      }
    };
  }

  @Override
  public Answer claim(String caller) {
    int which = random.nextInt(instances.size());
    try {
      return claim(caller, instances.get(which));
    } catch (Unavailable unavailable) {
      return new Unanswered();
    } catch (Faults.Killed killed) {
      instances.set(which, started());
      return new Unanswered();
    }
  }

  private Answer claim(String caller, Instance instance) {
    if (mode.isPrefetching() && random.nextInt(4) == 0) {
      for (int i = random.nextInt(6); i >= 0; i--) {
        instance.process.spend(ID, 1);
      }
    }
    if (mode.isKeeping()) {
      return kept(caller, instance);
    }
    Bucket read = ports.buckets().find(ID).orElseThrow();
    TokenSearch.Attempt first = instance.claims.firstTry(ID);
    ClaimResult result =
        mode != Mode.NONE
            ? instance.claims.hold(read, waiting(caller), first)
            : instance.claims.hold(read, 1, first);
    if (result instanceof ClaimResult.Granted granted) {
      return admitted(caller, instance, granted);
    }
    return result instanceof ClaimResult.Denied denied
        ? new Refused(denied.retryAt())
        : new Unanswered();
  }

  private Answer kept(String caller, Instance instance) {
    ClaimResult result =
        instance.process.spendInLine(
            ID,
            row -> Optional.ofNullable(places.get(caller)).filter(row::hasIssued),
            (row, first) -> instance.claims.spend(row, waiting(caller), first));
    if (result instanceof ClaimResult.Granted) {
      places.remove(caller);
      return new Admitted();
    }
    return result instanceof ClaimResult.Denied denied
        ? new Refused(denied.retryAt())
        : new Unanswered();
  }

  private Answer admitted(String caller, Instance instance, ClaimResult.Granted granted) {
    if (!(instance.claims.held().settle(granted) instanceof SettleResult.Spent)) {
      return new Unanswered();
    }
    places.remove(caller);
    return new Admitted();
  }

  @Override
  public void retune(Rate rate) {
    BucketSpec before = ports.buckets().find(ID).orElseThrow().spec();
    ports.retune(ID, spec(rate, before.capacity()).withLine(before.line()));
  }

  /** As the control plane does it: a line that is switched on begins without places. */
  private void switchLine() {
    Bucket read = ports.buckets().find(ID).orElseThrow();
    if (!read.spec().line()) {
      read.line().ifPresent(old -> buckets.clearLine(ID, old, ports.time().instant()));
    }
    ports.retune(ID, read.spec().withLine(!read.spec().line()));
  }

  @Override
  public Optional<Instant> nextTimer() {
    Instant next = earlier(minute, requested.peek());
    Timer timer = timers.peek();
    next = earlier(next, timer == null ? null : timer.at());
    return Optional.of(earlier(next, switches.peek()));
  }

  private static Instant earlier(Instant one, @Nullable Instant other) {
    return other != null && other.isBefore(one) ? other : one;
  }

  @Override
  public void passedTo(Instant now) {
    while (!switches.isEmpty() && !switches.peek().isAfter(now)) {
      switches.remove();
      switchLine();
    }
    while (!timers.isEmpty() && !timers.peek().at().isAfter(now)) {
      try {
        timers.remove().work().run();
      } catch (Faults.Killed killed) {
        // The tokens return when their leases end.
      }
    }
    while (!requested.isEmpty() && !requested.peek().isAfter(now)) {
      requested.remove();
      maintenance.maintainOnRequest(ID, Instant.MAX);
    }
    if (!minute.isAfter(now)) {
      maintenance.maintain(ID, Instant.MAX);
      minute = minute.plusSeconds(60);
    }
  }
}
