package com.google.common.util.concurrent;

import java.util.function.LongSupplier;

/**
 * Makes Guava's {@link RateLimiter} with a clock. It is in Guava's package, because the class of
 * its clock is package-private.
 */
public final class ClockedRateLimiter {
  private ClockedRateLimiter() {}

  /** As {@link RateLimiter#create(double)}, but with this clock. */
  public static RateLimiter create(double permitsPerSecond, LongSupplier micros) {
    return RateLimiter.create(
        permitsPerSecond,
        new RateLimiter.SleepingStopwatch() {
          @Override
          protected long readMicros() {
            return micros.getAsLong();
          }

          @Override
          protected void sleepMicrosUninterruptibly(long time) {
            if (time > 0) {
              throw new IllegalStateException("tryAcquire sleeps: " + time);
            }
          }
        });
  }
}
