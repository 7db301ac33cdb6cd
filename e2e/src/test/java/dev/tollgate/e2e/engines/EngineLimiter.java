package dev.tollgate.e2e.engines;

import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.testing.fault.BucketFaults;
import dev.tollgate.core.testing.limiter.TollgateLimiter;
import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.Excuse;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Setting;
import dev.tollgate.lawbook.Terms;
import dev.tollgate.lawbook.TokenCounts;
import dev.tollgate.local.faults.FaultKind;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.faults.Faults;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Supplier;

/**
 * Our buckets on the engines of the local cloud, struck by a plan where requests arrive. What the
 * plan accounts for is told by what has struck so far; so the laws hold one tenant alone, whom
 * everything strikes.
 */
final class EngineLimiter implements Limiter {
  private final Limiter buckets;
  private final Faults faults;
  private final Setting setting;
  private Terms terms = new Terms(Rate.perMinute(1), 1);
  private Excuse excuse = Excuse.NONE;

  private EngineLimiter(Limiter buckets, Faults faults, Setting setting) {
    this.buckets = buckets;
    this.faults = faults;
    this.setting = setting;
  }

  /** Makes limiters, each on engines of its own. */
  static final class Works implements Limiter.Maker, AutoCloseable {
    private final FillMode mode;
    private final int perMille;
    private final FaultPlan plan;
    private Optional<BucketCloud> cloud = Optional.empty();

    /**
     * Makes limiters whose buckets are filled in one mode.
     *
     * @param perMille how often a fault strikes at the ports, where it may, see {@link
     *     BucketFaults}
     * @param plan what goes wrong where requests arrive, whatever its seed
     */
    Works(FillMode mode, int perMille, FaultPlan plan) {
      this.mode = mode;
      this.perMille = perMille;
      this.plan = plan;
    }

    @Override
    public Limiter make(Setting setting) {
      close();
      BucketCloud open =
          BucketCloud.start(
              new FaultPlan(setting.seed(), plan.odds(), plan.throttled(), plan.latency()),
              setting.clock());
      cloud = Optional.of(open);
      Faults faults = open.faults();
      TollgateLimiter.Ports ports = open.ports();
      // A direct bucket's queue forgets tokens, and a token that comes back after it was spent is
      // not minted: neither is told how often.
      Optional<TollgateLimiter.Insight> insight =
          mode == FillMode.DIRECT || faults.arePlanned()
              ? Optional.empty()
              : Optional.of(
                  new TollgateLimiter.Insight(id -> ports.queue().look(id).held(), id -> 0));
      BucketFaults storm =
          new BucketFaults(setting.seed(), perMille, setting::mayInjectFaults, setting.clock());
      return new EngineLimiter(
          new TollgateLimiter(ports, insight, this::filling, storm, setting.clock()),
          faults,
          setting);
    }

    private FillPolicy filling(Terms any) {
      return new FillPolicy(mode, 0);
    }

    @Override
    public Terms terms(Random random) {
      return TollgateLimiter.terms(random, this::filling);
    }

    @Override
    public void close() {
      cloud.ifPresent(BucketCloud::close);
      cloud = Optional.empty();
    }
  }

  @Override
  public void open(String tenant, Terms wanted) {
    terms = wanted;
    undisturbed(
        () -> {
          buckets.open(tenant, wanted);
          return true;
        });
  }

  @Override
  public boolean retune(String tenant, Terms wanted) {
    terms = wanted;
    return undisturbed(() -> buckets.retune(tenant, wanted));
  }

  @Override
  public Claim claim(String tenant) {
    weather();
    return buckets.claim(tenant);
  }

  @Override
  public Optional<Claim> claim(String tenant, long tokens) {
    weather();
    return buckets.claim(tenant, tokens);
  }

  @Override
  public OptionalLong expiredByAge(String tenant) {
    return undisturbed(() -> buckets.expiredByAge(tenant));
  }

  @Override
  public Optional<Instant> nextTimer() {
    return buckets.nextTimer();
  }

  @Override
  public void passedTo(Instant now) {
    weather();
    buckets.passedTo(now);
  }

  @Override
  public Optional<TokenCounts> tokenCounts(String tenant) {
    return undisturbed(() -> buckets.tokenCounts(tenant));
  }

  @Override
  public long cost(String tenant) {
    return buckets.cost(tenant);
  }

  /** Each kind of fault accounts for as much as in {@link BucketFaults}. */
  @Override
  public Excuse excuse(String tenant) {
    Map<String, Long> struck = faults.counts();
    long strikes = struck.values().stream().mapToLong(Long::longValue).sum();
    long fill = terms.rate().tokensIn(Duration.ofMinutes(1)) + 1;
    long fills =
        times(struck, FaultKind.QUEUE_FALSELY_EMPTY)
            + times(struck, FaultKind.QUEUE_LEVEL_STALE)
            + times(struck, FaultKind.WRITE_UNANSWERED)
            + struck.getOrDefault("throttled-dynamodb", 0L)
            + struck.getOrDefault("throttled-sqs", 0L);
    long tokens = fills * fill + times(struck, FaultKind.QUEUE_DELIVERS_TWICE);
    if (strikes > excuse.strikes()) {
      excuse = new Excuse(Math.max(tokens, excuse.tokens()), strikes, setting.clock().instant());
    }
    Excuse ofPorts = buckets.excuse(tenant);
    return new Excuse(
        excuse.tokens() + ofPorts.tokens(),
        excuse.strikes() + ofPorts.strikes(),
        excuse.struckAt().isAfter(ofPorts.struckAt()) ? excuse.struckAt() : ofPorts.struckAt());
  }

  private static long times(Map<String, Long> struck, FaultKind misfortune) {
    return struck.getOrDefault(misfortune.key(), 0L);
  }

  private void weather() {
    if (setting.mayInjectFaults()) {
      faults.resume();
    } else {
      faults.pause();
    }
  }

  private <T> T undisturbed(Supplier<T> work) {
    faults.pause();
    T result = work.get();
    weather();
    return result;
  }
}
