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

/**
 * Tollgate's line as a {@code Line}: buckets, gates and fills are the real code over in-memory
 * ports. The schedule fires once a minute, and a requested fill takes up to a second to start.
 */
public final class TollgateLine implements Line {
  private static final BucketId ID = new BucketId(new TenantId("acme"), Action.CONNECT);

  private static final long MICRO = 1_000_000;

  /** The longest time until a requested fill starts. */
  private static final int INVOCATION_MILLIS = 1_000;

  private final AdmissionFixture ports;
  private final BucketMaintenance maintenance;
  private final LineGate line;
  private final BucketGate gate;
  private final Map<String, Place> places = new HashMap<>();
  private final PriorityQueue<Instant> requested = new PriorityQueue<>();
  private final Random random;
  private Instant minute;

  private final boolean waits;

  private TollgateLine(Setting setting, Terms terms, UnaryOperator<Buckets> around, boolean waits) {
    this.waits = waits;
    this.random = new Random(setting.seed());
    this.ports = new AdmissionFixture(setting.clock());
    Buckets buckets = around.apply(ports.buckets());
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
    return maker(around, true);
  }

  /** Makes limiters without a line: all callers are told when the next token is due. */
  public static Line.Maker withoutLine() {
    return maker(UnaryOperator.identity(), false);
  }

  private static Line.Maker maker(UnaryOperator<Buckets> around, boolean waits) {
    return new Line.Maker() {
      @Override
      public Line make(Setting setting, Terms terms) {
        return new TollgateLine(setting, terms, around, waits);
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
        waits
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
    ports.retune(ID, spec(rate, ports.buckets().find(ID).orElseThrow().spec().capacity()));
  }

  @Override
  public Optional<Instant> nextTimer() {
    return Optional.ofNullable(requested.peek())
        .filter(minute::isAfter)
        .or(() -> Optional.of(minute));
  }

  @Override
  public void passedTo(Instant now) {
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
