package dev.tollgate.core.testing;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.claim.BucketGate;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.bucket.fill.FillTurn;
import dev.tollgate.core.bucket.fill.ShardTurn;
import dev.tollgate.core.connect.RefusalTally;
import dev.tollgate.core.provisioning.Reconciliation;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Stand-ins for every port of an admission, with tenants and sessions to fill them. */
public final class AdmissionFixture {
  /** Where its clock stands at first: on a full minute. */
  public static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  private static final SecureRandom RANDOM = new SecureRandom();

  private final ManualClock clock = new ManualClock(START);
  private final InstantSource time;
  private final InMemoryTokenQueue queue;
  private final InMemoryBuckets buckets = new InMemoryBuckets();
  private final Outage requests = new Outage();
  private final InMemoryBucketQueues queues;
  private final InMemoryFillSchedules schedules = new InMemoryFillSchedules();
  private final InMemoryTenants tenants = new InMemoryTenants();
  private final InMemorySessions sessions = new InMemorySessions();
  private final InMemoryActivity activity = new InMemoryActivity(sessions, buckets);
  private final InMemoryFacts facts = new InMemoryFacts(tenants, sessions, buckets);

  /** A town with a clock of its own. */
  public AdmissionFixture() {
    this(Optional.empty());
  }

  /** A town that another clock drives; its own stands still. */
  public AdmissionFixture(InstantSource time) {
    this(Optional.of(time));
  }

  private AdmissionFixture(Optional<InstantSource> other) {
    time = other.orElse(clock);
    queue = new InMemoryTokenQueue(time);
    queues = new InMemoryBucketQueues(queue, time);
  }

  /** What time it is there. */
  public InstantSource time() {
    return time;
  }

  /** Its own clock. */
  public ManualClock clock() {
    return clock;
  }

  /** Its tokens. */
  public InMemoryTokenQueue queue() {
    return queue;
  }

  /** Its buckets. */
  public InMemoryBuckets buckets() {
    return buckets;
  }

  /** Its tenants. */
  public InMemoryTenants tenants() {
    return tenants;
  }

  /** Its sessions and connections. */
  public InMemorySessions sessions() {
    return sessions;
  }

  /** What its tenants' connections came to. */
  public InMemoryActivity activity() {
    return activity;
  }

  /** A tally of its refusals, as a process of its own keeps it. */
  public RefusalTally tally() {
    return new RefusalTally(activity, Runnable::run, time);
  }

  /** What is known of it. */
  public InMemoryFacts facts() {
    return facts;
  }

  /** A fill of its buckets. */
  public BucketFill fill() {
    return new BucketFill(buckets, queue, time);
  }

  /** The queues of its tokens. */
  public InMemoryBucketQueues queues() {
    return queues;
  }

  /** The schedules of its buckets; {@link #pass} has them fire. */
  public InMemoryFillSchedules schedules() {
    return schedules;
  }

  /** The turns of its buckets. */
  public FillTurn turns() {
    return new FillTurn(buckets, queue, queues, schedules, new Reconciliation(tenants), time);
  }

  /** The turns of a shard's buckets. */
  public ShardTurn shardTurn(FillTurn turns) {
    return new ShardTurn(buckets, turns, Runnable::run, time);
  }

  /** Requests for fills, which are done at once, as the producer would. */
  public FillRequests fillRequests() {
    return fillRequests(turns());
  }

  /** The same, done by {@code turns}. */
  public FillRequests fillRequests(FillTurn turns) {
    return new FillRequests() {
      @Override
      public void send(BucketId id) {
        requests.check("send");
        turns.takeOnRequest(id);
      }

      @Override
      public void sendAndWait(BucketId id) {
        requests.check("sendAndWait");
        turns.takeOnRequest(id);
      }
    };
  }

  /** What stops requests for fills from being accepted. */
  public Outage requests() {
    return requests;
  }

  /** What becomes of tokens that are held there. */
  public HeldTokens heldTokens() {
    return new HeldTokens(buckets, queue, time);
  }

  /** A gate to its buckets, as a process of its own has one. */
  public BucketGate gate() {
    return new BucketGate(buckets, queue, fillRequests(), Runnable::run, pause -> {}, time);
  }

  /** A bucket with its queue and its schedule, just opened and full. */
  public void open(BucketId id, BucketSpec spec) {
    Bucket bucket = Bucket.opened(id, spec, time.instant());
    buckets.open(bucket);
    queues.make(id, bucket.lifetimeAt(time.instant()));
    provide(bucket);
    fill().fill(id);
  }

  /** What a reconciler does for a bucket whose tier has changed. */
  public void retune(BucketId id, BucketSpec spec) {
    Bucket next = buckets.find(id).orElseThrow().retuned(spec, time.instant());
    buckets.replace(next);
    queues.make(id, next.lifetimeAt(time.instant()));
    provide(next);
  }

  private void provide(Bucket bucket) {
    schedules.put(bucket);
    if (bucket.spec().filling().mode() != FillMode.PRODUCER) {
      schedules.put(Shard.of(bucket.id().tenant()));
    }
  }

  /**
   * Lets so many full minutes come, and the schedules fire at each. A schedule that stands for a
   * bucket's own tokens sends them.
   */
  public void pass(int minutes) {
    for (int i = 0; i < minutes; i++) {
      Instant minute = clock.instant().truncatedTo(ChronoUnit.MINUTES).plus(1, ChronoUnit.MINUTES);
      clock.advance(Duration.between(clock.instant(), minute));
      schedules.schedules().forEach((id, schedule) -> fire(id, schedule));
      schedules.shards().forEach(shard -> shardTurn(turns()).take(shard, Instant.MAX, line -> {}));
    }
  }

  /** Lets time pass until then, and the schedules fire at each full minute. */
  public void passUntil(Instant then) {
    while (!clock
        .instant()
        .truncatedTo(ChronoUnit.MINUTES)
        .plus(1, ChronoUnit.MINUTES)
        .isAfter(then)) {
      pass(1);
    }
    clock.advance(Duration.between(clock.instant(), then));
  }

  private void fire(BucketId id, InMemoryFillSchedules.Scheduled schedule) {
    if (schedule.state() == FillState.State.PRODUCED) {
      turns().take(id);
    } else if (schedule.state() == FillState.State.DIRECT) {
      queue.put(
          id,
          Stream.generate(() -> new Token("direct", id, time.instant(), time.instant()))
              .limit(schedule.spec().rate().ceiling())
              .toList());
    }
  }

  /** A tenant of a default tier, its buckets opened and full. */
  public Tenant onboard(String id, String tier, Map<Limit, Long> overrides) {
    Tier chosen =
        Tier.DEFAULTS.stream()
            .filter(candidate -> candidate.name().value().equals(tier))
            .findFirst()
            .orElseThrow();
    Tenant tenant = Tenant.onboarded(new TenantId(id), chosen, overrides);
    tenants.create(tenant);
    sessions.openCount(tenant.id());
    tenant
        .buckets()
        .forEach(
            (action, spec) -> {
              BucketId bucket = new BucketId(tenant.id(), action);
              queue.make(bucket);
              buckets.open(Bucket.opened(bucket, spec, time.instant()));
              fill().fill(bucket);
            });
    return tenant;
  }

  /** A session of a tenant, open for an hour. */
  public SessionId open(Tenant tenant) {
    SessionId id = SessionId.random(RANDOM);
    sessions.create(
        new Session(tenant.id(), id, Set.of(), time.instant().plusSeconds(3600), Optional.empty()));
    return id;
  }

  /** The bucket that pays for a tenant's connections. */
  public static BucketId connects(Tenant tenant) {
    return new BucketId(tenant.id(), Action.CONNECT);
  }
}
