package dev.tollgate.lawbook;

import java.time.Duration;
import java.util.Random;

/**
 * What a limiter promises for one tenant: the terms that it is held to.
 *
 * @param rate how fast tokens come
 * @param capacity the most that can be saved up, at least 1
 * @param slack how many more than capacity and rate × time it says that it may admit. 0 for a
 *     bucket that reckons at each claim; one fill for one that is filled now and then, since a fill
 *     that finds a bucket just emptied brings what came while it was full.
 * @param lateness how much later than from an ideal bucket a token may come. Nothing for a bucket
 *     that reckons at each claim; up to the time between two fills for one that is filled.
 * @param onDemand whether it may be a claim that makes tokens come which are due: the claim is
 *     refused, and whoever claims after the lateness is admitted. That may happen again once as
 *     many tokens as the capacity have been taken.
 * @param grain how long it takes at most until a change of terms is in force and a surplus gone,
 *     and until a fault that struck shows no more. Nothing for a bucket that reckons at each claim.
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

  /** Terms of a bucket whose tokens may be as late as its changes. */
  public Terms(Rate rate, long capacity, long slack, Duration grain) {
    this(rate, capacity, slack, grain, false, grain);
  }

  /** Terms of a bucket that reckons at each claim: no slack, and nothing comes late. */
  public Terms(Rate rate, long capacity) {
    this(rate, capacity, 0, Duration.ZERO);
  }

  /** Some terms: slow and fast, small and larger buckets, whole rates and fractions. */
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
