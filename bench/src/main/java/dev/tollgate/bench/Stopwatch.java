package dev.tollgate.bench;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/** Measures elapsed time and waits. */
public final class Stopwatch {
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final long start;

  /**
   * Starts a stopwatch.
   *
   * @param nanoTime elapsed time in nanoseconds, from any origin
   */
  public Stopwatch(InstantSource clock, LongSupplier nanoTime) {
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.start = nanoTime.getAsLong();
  }

  /** The current time. */
  public Instant now() {
    return clock.instant();
  }

  /** The time since the start. */
  public Duration elapsed() {
    return Duration.ofNanos(nanoTime.getAsLong() - start);
  }

  /** Waits until the given time has elapsed since the start; returns at once if it has. */
  public void sleepUntil(Duration elapsed) throws InterruptedException {
    sleep(elapsed.minus(elapsed()));
  }

  /** Waits; does nothing for a negative duration. */
  public void sleep(Duration time) throws InterruptedException {
    if (!time.isNegative()) {
      Thread.sleep(time.toMillis());
    }
  }
}
