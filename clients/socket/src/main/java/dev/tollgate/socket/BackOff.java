package dev.tollgate.socket;

import java.time.Duration;
import java.util.random.RandomGenerator;

/** Random waits, so that clients that failed together do not come back together. */
final class BackOff {
  private static final Duration FIRST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofSeconds(30);

  /** The most that is added to a time that several clients were told. */
  private static final Duration LONGEST_SPREAD = Duration.ofSeconds(10);

  private final RandomGenerator random;
  private int failures;

  BackOff(RandomGenerator random) {
    this.random = random;
  }

  /** The failures since the last success. */
  int failures() {
    return failures;
  }

  /** Begins anew. */
  void reset() {
    failures = 0;
  }

  /** Counts a failure; returns how long to wait: exponential, with full jitter, and bounded. */
  Duration next() {
    Duration most = FIRST.multipliedBy(1L << Math.min(failures, 10));
    failures++;
    return between(Duration.ZERO, most.compareTo(LONGEST) < 0 ? most : LONGEST);
  }

  /** Counts a failure after which the server told when to repeat the request. */
  Duration next(Duration retryAfter) {
    failures++;
    return spread(retryAfter);
  }

  /** Adds up to 100 % jitter, at most ten seconds, to a time that others were told as well. */
  Duration spread(Duration told) {
    Duration most = told.compareTo(LONGEST_SPREAD) < 0 ? told : LONGEST_SPREAD;
    return told.plus(between(Duration.ZERO, most));
  }

  /** A random time, which may be the first but not the last. */
  Duration between(Duration from, Duration to) {
    return from.plusMillis(random.nextLong(Math.max(1, to.minus(from).toMillis())));
  }
}
