package dev.tollgate.bench;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/** The time that benchmarks measure and wait for. */
final class Watch {
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final long start;

  /**
   * A watch that starts now.
   *
   * @param nanoTime elapsed time in nanoseconds, from any origin
   */
  Watch(InstantSource clock, LongSupplier nanoTime) {
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.start = nanoTime.getAsLong();
  }

  Instant now() {
    return clock.instant();
  }

  /** Time since the watch was started. */
  Duration elapsed() {
    return Duration.ofNanos(nanoTime.getAsLong() - start);
  }

  /** Waits until so much has elapsed; returns at once if it has. */
  void sleepUntil(Duration elapsed) throws InterruptedException {
    sleep(elapsed.minus(elapsed()));
  }

  /** Waits; a negative time is none. */
  void sleep(Duration time) throws InterruptedException {
    if (!time.isNegative()) {
      Thread.sleep(time.toMillis());
    }
  }
}
