package dev.tollgate.core.testing.limiter;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.claim.BucketGate;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.claim.LineGate;
import dev.tollgate.core.bucket.claim.Waiting;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.provisioning.ReconcileRequests;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.lawbook.Line;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Setting;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Tollgate's line as a {@code Line}: buckets, gates and fills are the real code over in-memory
 * ports. The schedule fires once a minute, and a requested fill takes up to a second to start.
 */
public final class TollgateLine implements Line {
  private static final BucketId ID = new BucketId(new TenantId("acme"), Action.CONNECT);

  private static final long MICRO = 1_000_000;

  /** The longest time until a requested fill starts. */
  private static final int INVOCATION_MILLIS = 1_000;

  /** An even number, so the line is on in the end. */
  private static final int SWITCHES = 4;

  private static final Duration SWITCHING = Duration.ofMinutes(4);

  private final AdmissionFixture ports;
  private final BucketMaintenance maintenance;
  private final Buckets buckets;
  private final LineGate line;
  private final BucketGate gate;
  private final Map<String, Place> places = new HashMap<>();
  private final PriorityQueue<Instant> requested = new PriorityQueue<>();
  private final Random random;
  private Instant minute;

  private final Mode mode;
  private final PriorityQueue<Instant> switches = new PriorityQueue<>();

  /** Whether the line is on. */
  private enum Mode {
    ON,
    NONE,
    SWITCHED
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
    this.gate =
        new BucketGate(
            buckets, ports.queue(), new Requests(), Runnable::run, any -> {}, setting.clock());
    this.line = new LineGate(buckets, gate, setting.clock());
    this.minute = ports.time().instant().plusMillis(random.nextInt(60_000));
    ports.open(ID, spec(terms.rate(), terms.capacity()));
    for (int i = 0; mode == Mode.SWITCHED && i < SWITCHES; i++) {
      switches.add(ports.time().instant().plusMillis(random.nextLong(SWITCHING.toMillis())));
    }
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

  /** Makes limiters without a line: all callers are told when the next token is due. */
  public static Line.Maker withoutLine() {
    return maker(UnaryOperator.identity(), Mode.NONE);
  }

  /** Makes lines that are switched off and on at random times in the first minutes. */
  public static Line.Maker switched(UnaryOperator<Buckets> around) {
    return maker(around, Mode.SWITCHED);
  }

  private static Line.Maker maker(UnaryOperator<Buckets> around, Mode mode) {
    return new Line.Maker() {
      @Override
      public Line make(Setting setting, Terms terms) {
        return new TollgateLine(setting, terms, around, mode);
      }

      /** The capacity holds the tokens of twice the grace, and two more. */
      @Override
      public Terms terms(Random random) {
        int perMinute = 1 + random.nextInt(random.nextBoolean() ? 20 : 600);
        Rate rate = Rate.perMinute(perMinute);
        long least = Math.max(4, rate.tokensIn(Duration.ofSeconds(6)));
        long capacity = least + random.nextInt(random.nextBoolean() ? 3 : 2 * perMinute + 1);
        Duration half = rate.timeOf(capacity).dividedBy(2);
        Duration longest = Duration.ofSeconds(10);
        Duration grace = half.compareTo(longest) < 0 ? half : longest;
        // A minute's tokens may be minted ahead.
        return new Terms(rate, capacity, perMinute, grace.minusMillis(1));
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
      maintenance.maintainOnRequest(id);
    }
  }

  private final class KeptPlace implements Waiting {
    private final String caller;

    KeptPlace(String caller) {
      this.caller = caller;
    }

    @Override
    public Optional<Place> place() {
      return Optional.ofNullable(places.get(caller));
    }

    @Override
    public boolean keep(Place place, Instant slot) {
      places.put(caller, place);
      return true;
    }
  }

  @Override
  public Answer claim(String caller) {
    Bucket read = ports.buckets().find(ID).orElseThrow();
    BucketGate.Attempt first = gate.firstTry(ID);
    ClaimResult result =
        mode != Mode.NONE
            ? line.claim(read, new KeptPlace(caller), first)
            : gate.claim(ID, Optional.of(read), first);
    if (result instanceof ClaimResult.Granted granted) {
      gate.settle(granted);
      places.remove(caller);
      return new Admitted();
    }
    ClaimResult.Denied denied = (ClaimResult.Denied) result;
    return new Refused(denied.retryAt());
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
    return Stream.of(
            Optional.of(minute),
            Optional.ofNullable(requested.peek()),
            Optional.ofNullable(switches.peek()))
        .flatMap(Optional::stream)
        .min(Instant::compareTo);
  }

  @Override
  public void passedTo(Instant now) {
    while (!switches.isEmpty() && !switches.peek().isAfter(now)) {
      switches.remove();
      switchLine();
    }
    while (!requested.isEmpty() && !requested.peek().isAfter(now)) {
      requested.remove();
      maintenance.maintainOnRequest(ID);
    }
    if (!minute.isAfter(now)) {
      maintenance.maintain(ID);
      minute = minute.plusSeconds(60);
    }
  }
}
