package dev.tollgate.core.testing.fault;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.lawbook.FaultEffects;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Random faults of buckets, determined by the seed and independent for each bucket. Counts, as each
 * fault strikes, the additional tokens that it explains.
 */
public final class BucketFaults {
  /** A kind of fault. */
  public enum Kind {
    /** A request has no effect and fails. */
    UNREACHABLE,
    /** A request takes effect, and its answer is lost. */
    ANSWER_LOST,
    /** A receive returns nothing although the queue holds tokens; rare for long polls. */
    FALSELY_EMPTY,
    /** Only some of several tokens are spent. */
    PARTIAL_SETTLE,
    /** Only some of several tokens are put. */
    PARTIAL_PUT,
    /** A spent token is delivered again and may be spent twice. */
    COPY,
    /** The level is stale, so that a fill may add tokens that the queue already holds. */
    STALE_LEVEL,
    /** Another fill runs at the same time. */
    RIVAL_FILL,
    /** A write reports a conflict that does not exist. */
    FALSE_CONFLICT,
    /** A schedule does not fire. */
    FILL_MISSED,
    /** A schedule fires at another second of its minute. */
    FILL_LATE,
    /** A schedule fires twice. */
    FILL_TWICE,
    /** Lambda throttles: for a while neither schedules nor requests fill buckets. */
    LAMBDA_THROTTLED,
    /** SQS throttles: for a while every request fails. */
    SQS_THROTTLED,
    /** DynamoDB throttles: for a while every request fails. */
    DYNAMODB_THROTTLED
  }

  private static final Set<Kind> SERVICES =
      EnumSet.of(Kind.LAMBDA_THROTTLED, Kind.SQS_THROTTLED, Kind.DYNAMODB_THROTTLED);

  private static final int LONGEST_SPELL_SECONDS = 180;

  private final Set<Kind> kinds = EnumSet.noneOf(Kind.class);
  private final long seed;
  private final int perMille;
  private final BooleanSupplier isActive;
  private final InstantSource clock;
  private final Map<BucketId, Random> randoms = new HashMap<>();
  private final Map<BucketId, FaultEffects> effects = new HashMap<>();
  private final Map<BucketId, Instant> throttledUntil = new HashMap<>();

  /**
   * Draws some kinds of faults from the seed, each of which strikes {@code perMille} times in a
   * thousand opportunities. Only some kinds, so that the tokens one kind explains do not hide the
   * effect of another. At most one service throttles.
   *
   * @param active whether faults may strike now
   */
  public BucketFaults(long seed, int perMille, BooleanSupplier active, InstantSource clock) {
    this.seed = seed;
    this.perMille = perMille;
    this.isActive = active;
    this.clock = clock;
    Random random = new Random(seed);
    for (Kind kind : EnumSet.complementOf(EnumSet.copyOf(SERVICES))) {
      if (random.nextInt(4) == 0) {
        kinds.add(kind);
      }
    }
    List<Kind> services = List.copyOf(SERVICES);
    int service = random.nextInt(2 * services.size());
    if (service < services.size()) {
      kinds.add(services.get(service));
    }
  }

  /** The deviations that the faults of a bucket explain so far. */
  public FaultEffects faultEffects(BucketId id) {
    return effects.getOrDefault(id, FaultEffects.NONE);
  }

  /** Decides whether a fault strikes now. */
  public boolean strikes(BucketId id, Kind kind) {
    boolean struck =
        perMille > 0
            && kinds.contains(kind)
            && isActive.getAsBoolean()
            && random(id).nextInt(1_000) < perMille * often(kind);
    if (struck) {
      struck(id);
    }
    return struck;
  }

  /** Whether a service throttles a bucket's requests now. */
  public boolean isThrottled(BucketId id, Kind service) {
    if (perMille == 0 || !kinds.contains(service) || !isActive.getAsBoolean()) {
      return false;
    }
    Instant now = clock.instant();
    boolean throttled = now.isBefore(throttledUntil.getOrDefault(id, Instant.MIN));
    if (!throttled && random(id).nextInt(1_000) < perMille) {
      int seconds = 1 + random(id).nextInt(LONGEST_SPELL_SECONDS);
      throttledUntil.put(id, now.plusSeconds(seconds));
      throttled = true;
    }
    if (throttled) {
      struck(id);
    }
    return throttled;
  }

  /**
   * Faults that explain no tokens, because a limiter must tolerate them, strike four times as
   * often.
   */
  private static int often(Kind kind) {
    return kind == Kind.RIVAL_FILL || kind == Kind.FILL_TWICE ? 4 : 1;
  }

  private void struck(BucketId id) {
    FaultEffects before = faultEffects(id);
    effects.put(id, new FaultEffects(before.tokens(), before.faults() + 1, clock.instant()));
  }

  /** Records that a fault explains this many more tokens. */
  void explain(BucketId id, long tokens) {
    FaultEffects before = faultEffects(id);
    effects.put(
        id, new FaultEffects(before.tokens() + tokens, before.faults(), before.lastFaultAt()));
  }

  /** The second of the minute at which a bucket's schedule fires, 0 to 59. */
  public int second(BucketId id) {
    return new Random(seed + id.toString().hashCode()).nextInt(60);
  }

  /** A bucket's own random source. */
  public Random random(BucketId id) {
    return randoms.computeIfAbsent(id, key -> new Random(seed * 31 + key.toString().hashCode()));
  }

  /** Sends a request that may be throttled, fail, or lose its answer. */
  public <T> T ask(BucketId id, Kind service, String method, Supplier<T> request) {
    if (isThrottled(id, service)) {
      throw new Unavailable(method + ": throttled");
    }
    if (strikes(id, Kind.UNREACHABLE)) {
      throw new Unavailable(method + ": not reached");
    }
    T answer = request.get();
    if (strikes(id, Kind.ANSWER_LOST)) {
      throw new Unavailable(method + ": done, but the answer is lost");
    }
    return answer;
  }
}
