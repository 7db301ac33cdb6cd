package dev.tollgate.cli.pacing;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Spaces requests of any number of threads at even intervals. Intervals that pass without a request
 * are lost: there are no bursts.
 */
public final class Pace {
  private static final double NANOS = 1e9;

  private final long intervalNanos;
  private final LongSupplier nanoTime;
  private long next;

  /**
   * @param perSecond the number of requests per second, above 0
   * @param nanoTime elapsed time, in nanoseconds
   */
  public Pace(double perSecond, LongSupplier nanoTime) {
    this.intervalNanos = Math.round(NANOS / perSecond);
    this.nanoTime = nanoTime;
    this.next = nanoTime.getAsLong();
  }

  /** Reserves the next slot; returns the time until it begins. */
  public synchronized Duration next() {
    long now = nanoTime.getAsLong();
    long slot = later(now, next);
    next = slot + intervalNanos;
    return Duration.ofNanos(slot - now);
  }

  /** Starts no further slot for the given time. */
  public synchronized void delay(Duration time) {
    next = later(next, nanoTime.getAsLong() + time.toNanos());
  }

  /** Elapsed time has no origin and may overflow, so only differences can be compared. */
  private static long later(long one, long other) {
    return one - other > 0 ? one : other;
  }
}
