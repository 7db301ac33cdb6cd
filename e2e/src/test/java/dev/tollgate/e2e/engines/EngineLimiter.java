package dev.tollgate.e2e.engines;

import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.testing.fault.BucketFaults;
import dev.tollgate.core.testing.limiter.TollgateLimiter;
import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.FaultEffects;
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
 * Our buckets on the engines of the local cloud, with faults at the requests. The faults injected
 * so far determine how far the laws may be exceeded. These faults cannot be assigned to a tenant,
 * so the laws are checked for a single tenant.
 */
final class EngineLimiter implements Limiter {
  private final Limiter buckets;
  private final Faults faults;
  private final Setting setting;
  private Terms terms = new Terms(Rate.perMinute(1), 1);
  private FaultEffects faultEffects = FaultEffects.NONE;

  private EngineLimiter(Limiter buckets, Faults faults, Setting setting) {
    this.buckets = buckets;
    this.faults = faults;
    this.setting = setting;
  }

  /** Creates limiters, each on engines of its own. */
  static final class Factory implements Limiter.Maker, AutoCloseable {
    private final FillMode mode;
    private final int perMille;
    private final FaultPlan plan;
    private Optional<BucketCloud> cloud = Optional.empty();

    /**
     * Creates limiters whose buckets are filled in one mode.
     *
     * @param perMille how often a fault occurs at a port where {@link BucketFaults} allows it
     * @param plan the faults of requests; its seed is not used
     */
    Factory(FillMode mode, int perMille, FaultPlan plan) {
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
      // Nothing counts the tokens that the queue of a direct bucket loses, or the spent tokens that
      // return to it.
      Optional<TollgateLimiter.Insight> insight =
          mode == FillMode.DIRECT || faults.arePlanned()
              ? Optional.empty()
              : Optional.of(
                  new TollgateLimiter.Insight(id -> ports.queue().countTokens(id).held(), id -> 0));
      BucketFaults portFaults =
          new BucketFaults(setting.seed(), perMille, setting::mayInjectFaults, setting.clock());
      return new EngineLimiter(
          new TollgateLimiter(ports, insight, this::filling, portFaults, setting.clock()),
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
    withoutFaults(
        () -> {
          buckets.open(tenant, wanted);
          return true;
        });
  }

  @Override
  public boolean retune(String tenant, Terms wanted) {
    terms = wanted;
    return withoutFaults(() -> buckets.retune(tenant, wanted));
  }

  @Override
  public Claim claim(String tenant) {
    resumeOrPause();
    return buckets.claim(tenant);
  }

  @Override
  public Optional<Claim> claim(String tenant, long tokens) {
    resumeOrPause();
    return buckets.claim(tenant, tokens);
  }

  @Override
  public OptionalLong expiredByAge(String tenant) {
    return withoutFaults(() -> buckets.expiredByAge(tenant));
  }

  @Override
  public Optional<Instant> nextTimer() {
    return buckets.nextTimer();
  }

  @Override
  public void passedTo(Instant now) {
    resumeOrPause();
    buckets.passedTo(now);
  }

  @Override
  public Optional<TokenCounts> tokenCounts(String tenant) {
    return withoutFaults(() -> buckets.tokenCounts(tenant));
  }

  @Override
  public long cost(String tenant) {
    return buckets.cost(tenant);
  }

  /** The allowance for each kind of fault is that of {@link BucketFaults}. */
  @Override
  public FaultEffects faultEffects(String tenant) {
    Map<String, Long> injected = faults.counts();
    long count = injected.values().stream().mapToLong(Long::longValue).sum();
    long fill = terms.rate().tokensIn(Duration.ofMinutes(1)) + 1;
    long fills =
        times(injected, FaultKind.QUEUE_FALSELY_EMPTY)
            + times(injected, FaultKind.QUEUE_LEVEL_STALE)
            + times(injected, FaultKind.WRITE_UNANSWERED)
            + injected.getOrDefault("throttled-dynamodb", 0L)
            + injected.getOrDefault("throttled-sqs", 0L);
    long tokens = fills * fill + times(injected, FaultKind.QUEUE_DELIVERS_TWICE);
    if (count > faultEffects.faults()) {
      faultEffects =
          new FaultEffects(
              Math.max(tokens, faultEffects.tokens()), count, setting.clock().instant());
    }
    FaultEffects ofPorts = buckets.faultEffects(tenant);
    return new FaultEffects(
        faultEffects.tokens() + ofPorts.tokens(),
        faultEffects.faults() + ofPorts.faults(),
        faultEffects.lastFaultAt().isAfter(ofPorts.lastFaultAt())
            ? faultEffects.lastFaultAt()
            : ofPorts.lastFaultAt());
  }

  private static long times(Map<String, Long> injected, FaultKind fault) {
    return injected.getOrDefault(fault.key(), 0L);
  }

  private void resumeOrPause() {
    if (setting.mayInjectFaults()) {
      faults.resume();
    } else {
      faults.pause();
    }
  }

  private <T> T withoutFaults(Supplier<T> work) {
    faults.pause();
    T result = work.get();
    resumeOrPause();
    return result;
  }
}
