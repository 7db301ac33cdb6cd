package dev.tollgate.core.testing.fault;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.lawbook.Excuse;
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
 * What goes wrong with buckets, at random but the same for the same seed, for each bucket by
 * itself; and what that accounts for, counted as it strikes.
 */
public final class BucketFaults {
  /** What may go wrong. */
  public enum Kind {
    /** A request does not reach its port. */
    UNREACHABLE,
    /** A request is done, and its answer lost. */
    ANSWER_LOST,
    /** A queue that holds tokens is found empty, by a long poll only seldom. */
    FALSELY_EMPTY,
    /** Of several tokens not all are spent. */
    PARTIAL_SETTLE,
    /** Of several tokens not all are put. */
    PARTIAL_PUT,
    /** A token that was spent comes back: it may be spent twice. */
    COPY,
    /** The level is that of the last time: a fill may bring what there is already. */
    STALE_LEVEL,
    /** Another fill comes while one is under way. */
    RIVAL_FILL,
    /** A row is said to have changed that has not. */
    FALSE_CONFLICT,
    /** A schedule does not fire. */
    FILL_MISSED,
    /** A schedule fires at another second of its minute. */
    FILL_LATE,
    /** A schedule fires twice. */
    FILL_TWICE,
    /** Lambda throttles: for a while no fill comes, neither on schedule nor on request. */
    LAMBDA_THROTTLED,
    /** SQS throttles: for a while no request is done. */
    SQS_THROTTLED,
    /** DynamoDB throttles: for a while no request is done. */
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
  private final Map<BucketId, Excuse> excuses = new HashMap<>();
  private final Map<BucketId, Instant> throttledUntil = new HashMap<>();

  /**
   * A storm of some kinds of faults, drawn from the seed, each of which strikes so many times in a
   * thousand where it may; so that what each accounts for does not hide what another brings about.
   * One service at most throttles.
   *
   * @param rages whether it does so now
   */
  public BucketFaults(long seed, int perMille, BooleanSupplier rages, InstantSource clock) {
    this.seed = seed;
    this.perMille = perMille;
    this.isActive = rages;
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

  /** What the faults that struck a bucket so far account for. */
  public Excuse excuse(BucketId id) {
    return excuses.getOrDefault(id, Excuse.NONE);
  }

  /** Whether a fault strikes now. */
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

  /** What accounts for nothing, for a limiter must bear it, strikes four times as often. */
  private static int often(Kind kind) {
    return kind == Kind.RIVAL_FILL || kind == Kind.FILL_TWICE ? 4 : 1;
  }

  private void struck(BucketId id) {
    Excuse before = excuse(id);
    excuses.put(id, new Excuse(before.tokens(), before.strikes() + 1, clock.instant()));
  }

  /** A fault that struck accounts for so many tokens more. */
  void accountsFor(BucketId id, long tokens) {
    Excuse before = excuse(id);
    excuses.put(id, new Excuse(before.tokens() + tokens, before.strikes(), before.struckAt()));
  }

  /** The second of the minute at which a bucket's schedule fires, 0 to 59. */
  public int second(BucketId id) {
    return new Random(seed + id.toString().hashCode()).nextInt(60);
  }

  /** What is random for a bucket alone. */
  public Random random(BucketId id) {
    return randoms.computeIfAbsent(id, key -> new Random(seed * 31 + key.toString().hashCode()));
  }

  /** A request that may be throttled, or not reach its port, or whose answer may be lost. */
  public <T> T ask(BucketId id, Kind service, String what, Supplier<T> request) {
    if (isThrottled(id, service)) {
      throw new Unavailable(what + ": throttled");
    }
    if (strikes(id, Kind.UNREACHABLE)) {
      throw new Unavailable(what + ": not reached");
    }
    T answer = request.get();
    if (strikes(id, Kind.ANSWER_LOST)) {
      throw new Unavailable(what + ": done, but the answer is lost");
    }
    return answer;
  }
}
