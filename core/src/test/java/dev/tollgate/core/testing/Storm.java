package dev.tollgate.core.testing;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.lawbook.Excuse;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What goes wrong with buckets, at random but the same for the same seed, for each bucket by
 * itself; and what that accounts for, counted as it strikes.
 */
public final class Storm {
  private final long seed;
  private final int perMille;
  private final BooleanSupplier rages;
  private final InstantSource clock;
  private final Map<BucketId, Random> randoms = new HashMap<>();
  private final Map<BucketId, Excuse> excuses = new HashMap<>();

  /**
   * A storm in which each thing that may go wrong does so as many times in a thousand.
   *
   * @param rages whether it does so now
   */
  public Storm(long seed, int perMille, BooleanSupplier rages, InstantSource clock) {
    this.seed = seed;
    this.perMille = perMille;
    this.rages = rages;
    this.clock = clock;
  }

  /** What the faults that struck a bucket so far account for. */
  public Excuse excuse(BucketId id) {
    return excuses.getOrDefault(id, Excuse.NONE);
  }

  /** Whether a fault strikes now. */
  boolean strikes(BucketId id) {
    boolean struck = perMille > 0 && rages.getAsBoolean() && random(id).nextInt(1_000) < perMille;
    if (struck) {
      struck(id);
    }
    return struck;
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
  int second(BucketId id) {
    return new Random(seed + id.toString().hashCode()).nextInt(60);
  }

  /** What is random for a bucket alone. */
  Random random(BucketId id) {
    return randoms.computeIfAbsent(id, key -> new Random(seed * 31 + key.toString().hashCode()));
  }

  /** A request that may not reach its port, or whose answer may be lost. */
  <T> T ask(BucketId id, String what, Supplier<T> request) {
    if (strikes(id)) {
      throw new Unavailable(what + ": not reached");
    }
    T answer = request.get();
    if (strikes(id)) {
      throw new Unavailable(what + ": done, but the answer is lost");
    }
    return answer;
  }
}
