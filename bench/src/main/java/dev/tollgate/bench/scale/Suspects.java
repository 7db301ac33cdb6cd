package dev.tollgate.bench.scale;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.reconcile.Reconciler;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.bucket.fill.BucketFill.Filled;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.BucketTerms;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.memory.InMemoryTiers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Situations that might take long: what each takes, with the product's own code. */
final class Suspects {
  private static final long SECOND = SimulatedTime.SECOND;
  private static final long MINUTE = 60 * SECOND;
  private static final long LARGE = 20_000;

  /** How long a request of the control plane may start work: a time-out of 29 s without 8 s. */
  private static final Duration REQUEST = Duration.ofSeconds(21);

  private final long seed;
  private final Map<String, Double> prices;

  Suspects(long seed, Map<String, Double> prices) {
    this.seed = seed;
    this.prices = prices;
  }

  /**
   * A request that onboards a tenant.
   *
   * @param seconds how long it takes
   * @param tokens tokens in all buckets at its end
   */
  record Onboarding(long seconds, long tokens) {}

  /** The request that onboards a tenant with so many buckets of 20,000 tokens. */
  Onboarding onboarding(int buckets, long rate) {
    World world = new World(seed, prices);
    Map<Action, BucketTerms> terms = new TreeMap<>();
    for (int i = 0; i < buckets; i++) {
      terms.put(
          new Action("large-" + i),
          new BucketTerms(Optional.of(Rate.perMinute(rate)), Optional.of(LARGE)));
    }
    Tier bronze = World.tier(0, FillMode.PRODUCER);
    Tier tier =
        new Tier(
            bronze.name(),
            bronze.isolation(),
            bronze.limits(),
            terms,
            bronze.fillPolicy(),
            bronze.onUnavailable(),
            bronze.line(),
            bronze.retreat(),
            1,
            1);
    Tenant tenant = Tenant.onboarded(new TenantId("t0000000"), tier, Overrides.of(Map.of()));
    world.store(tenant);
    Reconciler reconciler = world.reconciler(world.ports(new InMemoryTiers()));
    long end =
        world
            .time()
            .endOf(
                () ->
                    reconciler.reconcile(
                        tenant,
                        Optional.empty(),
                        Invocation.of(world.time(), REQUEST, line -> {})));
    long tokens =
        terms.keySet().stream()
            .mapToLong(action -> world.queue().level(new BucketId(tenant.id(), action)))
            .sum();
    return new Onboarding(end / SECOND, tokens);
  }

  /**
   * The fills of one bucket.
   *
   * @param withoutEnd how long a fill takes that has no time limit, in seconds: no function has one
   * @param inMinute tokens minted or removed by a fill of the token producer
   * @param minutes the producer's fills until the bucket is as it should be; at most 30
   */
  record Fill(long withoutEnd, long inMinute, int minutes) {}

  private static BucketSpec spec(long rate, long capacity, FillMode mode) {
    return new BucketSpec(Rate.perMinute(rate), capacity, new FillPolicy(mode, 0));
  }

  /** The first fill of a new bucket of 20,000 tokens. */
  Fill newBucket(long rate) {
    BucketSpec spec = spec(rate, LARGE, FillMode.PRODUCER);
    return fill(
        (world, id) -> {
          world.queue().create(id);
          world.rows().open(Bucket.opened(id, spec, world.time().instant()));
        },
        filled -> filled.level() >= LARGE);
  }

  /** The fill after a change of the tier from 100,000 tokens to 10. */
  Fill trim() {
    BucketSpec before = spec(60_000, 100_000, FillMode.PRODUCER);
    return fill(
        (world, id) -> {
          world.open(id, before);
          Bucket row = world.rows().find(id).orElseThrow();
          world
              .rows()
              .replace(row.retuned(spec(10, 10, FillMode.PRODUCER), world.time().instant()));
        },
        filled -> filled.level() <= 10);
  }

  private interface Opening {
    void open(World world, BucketId id);
  }

  private interface Goal {
    boolean isReached(Filled filled);
  }

  private Fill fill(Opening opening, Goal goal) {
    BucketId id = new BucketId(new TenantId("t0000000"), Action.CONNECT);
    World once = new World(seed, prices);
    opening.open(once, id);
    BucketFill fill = new BucketFill(once.buckets(), once.tokens(), once.time());
    long end = once.time().endOf(() -> fill.fill(id));
    World world = new World(seed, prices);
    opening.open(world, id);
    BucketFill limited = new BucketFill(world.buckets(), world.tokens(), world.time());
    List<Filled> fills = new ArrayList<>();
    for (int minute = 0; minute < 30; minute++) {
      world.time().at(minute * MINUTE, () -> limitedFill(world, limited, id, fills));
      world.time().runUntil(minute * MINUTE);
      if (!fills.isEmpty() && goal.isReached(fills.get(fills.size() - 1))) {
        break;
      }
    }
    return new Fill(end / SECOND, fills.get(0).minted() + fills.get(0).trimmed(), fills.size());
  }

  private static void limitedFill(World world, BucketFill fill, BucketId id, List<Filled> fills) {
    world
        .time()
        .endOf(
            () -> {
              if (fill.fill(id, world.time().instant().plusSeconds(35)) instanceof Filled filled) {
                fills.add(filled);
              }
            });
  }

  /**
   * The turns of a shard with 1,250 buckets in use, of which some are new and have 20,000 tokens.
   *
   * @param large how many are new
   * @return from the minute to each fill
   */
  Fills shard(int large) {
    World world = new World(seed, prices);
    List<BucketId> buckets = new ArrayList<>();
    for (int number = 0; buckets.size() < 1_250; number++) {
      TenantId tenant = new TenantId("t%07d".formatted(number));
      if (Shard.of(tenant).number() == 0) {
        BucketId id = new BucketId(tenant, Action.CONNECT);
        if (buckets.size() % 20 == 0 && buckets.size() / 20 < large) {
          world.queue().create(id);
          world
              .rows()
              .open(Bucket.opened(id, spec(10, LARGE, FillMode.SHARED), world.time().instant()));
        } else {
          world.open(id, spec(60, 60, FillMode.SHARED));
        }
        buckets.add(id);
      }
    }
    Fills fills = new Fills(world, false, buckets);
    fills.start(FillMode.SHARED, () -> buckets.forEach(id -> world.queue().change(id, -30)));
    world.time().runUntil(5 * MINUTE);
    return fills;
  }

  /**
   * How long the function of ended sessions recounts, in seconds.
   *
   * @param tenants each with one session that ended
   * @param areRight whether the counts are right already
   */
  long recount(int tenants, boolean areRight) {
    World world = new World(seed, prices);
    Set<TenantId> ids = new LinkedHashSet<>();
    for (int i = 0; i < tenants; i++) {
      Tenant tenant = world.onboard(i, World.tier(0, FillMode.SHARED));
      Instant now = world.time().instant();
      SessionId session = new SessionId("%032x".formatted(i));
      world
          .sessionRows()
          .create(
              new Session(tenant.id(), session, Set.of(), now.plusSeconds(100), Optional.empty()));
      if (!areRight) {
        world.sessionRows().countUp(tenant.id(), "gone" + i, 10, true, now);
      }
      world
          .sessionRows()
          .join(
              tenant.id(),
              session,
              "s" + i,
              2,
              Gcra.UNLIMITED,
              Optional.empty(),
              now.plus(Duration.ofHours(1)),
              now);
      world.sessionRows().countUp(tenant.id(), "s" + i, 10, true, now);
      ids.add(tenant.id());
    }
    long end =
        world
            .time()
            .endOf(
                () ->
                    world
                        .recount()
                        .repair(ids, world.facts()::tenantExists, world.time().executor(1_000)));
    return end / SECOND;
  }

  /**
   * What an outage of SQS of two minutes does to fills with a schedule for each bucket.
   *
   * @param before the most executions at once before the outage
   * @param during the most in it
   * @param throttled fills that Lambda refused to start at once
   * @param lost fills that failed or were dropped
   */
  record Outage(int before, int during, long throttled, long lost) {}

  /** An outage of SQS with this many tenants in use. */
  Outage outage(int tenants) {
    World world = new World(seed, prices);
    List<BucketId> buckets = new ArrayList<>();
    for (int i = 0; i < tenants; i++) {
      Tenant tenant = world.onboard(i, World.tier(0, FillMode.PRODUCER));
      tenant.buckets().keySet().forEach(action -> buckets.add(new BucketId(tenant.id(), action)));
    }
    world.aws().stopQueues(4 * MINUTE - SECOND, 6 * MINUTE - SECOND);
    Fills fills = new Fills(world, false, buckets);
    fills.start(FillMode.PRODUCER, () -> {});
    world.time().runUntil(4 * MINUTE - SECOND);
    int before = world.functions().peak();
    world.time().runUntil(8 * MINUTE);
    return new Outage(
        before,
        world.functions().peak(),
        world.producer().usage().throttled(),
        fills.failed() + fills.dropped());
  }
}
