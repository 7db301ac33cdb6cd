package dev.tollgate.cli.pacing;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Lets whatever asks go on one after the other, at even distances, from however many threads. Time
 * that nobody used is not made up for later.
 */
public final class Pace {
  private static final double NANOS = 1e9;

  private final long intervalNanos;
  private final LongSupplier nanoTime;
  private long next;

  /**
   * @param perSecond how many may go on in a second, more than 0
   * @param nanoTime elapsed time, in nanoseconds
   */
  public Pace(double perSecond, LongSupplier nanoTime) {
    this.intervalNanos = Math.round(NANOS / perSecond);
    this.nanoTime = nanoTime;
    this.next = nanoTime.getAsLong();
  }

  /** Takes the next turn; the answer is how long it is until then. */
  synchronized Duration next() {
    long now = nanoTime.getAsLong();
    long turn = later(now, next);
    next = turn + intervalNanos;
    return Duration.ofNanos(turn - now);
  }

  /** Gives nobody another turn for so long. */
  synchronized void holdBack(Duration time) {
    next = later(next, nanoTime.getAsLong() + time.toNanos());
  }

  /** Elapsed time has no origin and may wrap around, so only differences mean something. */
  private static long later(long one, long other) {
    return one - other > 0 ? one : other;
  }
}
