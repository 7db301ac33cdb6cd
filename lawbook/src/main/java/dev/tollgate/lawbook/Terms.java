package dev.tollgate.lawbook;

import java.time.Duration;
import java.util.Random;

/**
 * What a limiter promises for one tenant.
 *
 * @param rate the rate at which tokens accrue
 * @param capacity the most tokens that the bucket can hold, at least 1
 * @param slack how many tokens beyond capacity + rate × time may be admitted: 0 for a bucket that
 *     is computed at each claim; one fill for a bucket that is filled periodically, because a fill
 *     right after the bucket was emptied adds the tokens that accrued while it was full
 * @param lateness how much later than in an ideal bucket a token may arrive: zero for a bucket that
 *     is computed at each claim; up to the time between two fills for a bucket that is filled
 *     periodically
 * @param onDemand whether due tokens may appear only after a refused claim has requested them. A
 *     claim after the lateness is then admitted. Another such refusal is allowed after as many
 *     tokens as the capacity have been taken.
 * @param grain the longest time until a change of terms is in force and its surplus gone, and until
 *     a fault has no more effect; zero for a bucket that is computed at each claim
 */
public record Terms(
    Rate rate, long capacity, long slack, Duration lateness, boolean onDemand, Duration grain) {
  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if the capacity is not positive, or slack, lateness or grain
   *     negative
   */
  public Terms {
    if (capacity < 1) {
      throw new IllegalArgumentException("capacity: " + capacity + " (expected: > 0)");
    }
    if (slack < 0) {
      throw new IllegalArgumentException("slack: " + slack + " (expected: >= 0)");
    }
    if (lateness.isNegative()) {
      throw new IllegalArgumentException("lateness: " + lateness + " (expected: >= 0)");
    }
    if (grain.isNegative()) {
      throw new IllegalArgumentException("grain: " + grain + " (expected: >= 0)");
    }
  }

  /** Terms whose lateness equals the grain. */
  public Terms(Rate rate, long capacity, long slack, Duration grain) {
    this(rate, capacity, slack, grain, false, grain);
  }

  /** Terms of a bucket that is computed at each claim: no slack, no lateness. */
  public Terms(Rate rate, long capacity) {
    this(rate, capacity, 0, Duration.ZERO);
  }

  /** Draws random terms: slow and fast rates, whole and fractional, small and large capacities. */
  public static Terms any(Random random) {
    Rate rate =
        switch (random.nextInt(4)) {
          case 0 -> Rate.perMinute(1 + random.nextInt(5), 2 + random.nextInt(9));
          case 1 -> Rate.perMinute(1 + random.nextInt(10));
          case 2 -> Rate.perMinute(60L * (1 + random.nextInt(10)));
          default -> Rate.perMinute(1 + random.nextInt(1_000), 7);
        };
    return new Terms(rate, 1 + random.nextInt(random.nextBoolean() ? 4 : 30));
  }
}
