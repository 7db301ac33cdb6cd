package dev.tollgate.bench;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/** The time that benchmarks measure and wait for. */
public final class Watch {
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final long start;

  /**
   * A watch that starts now.
   *
   * @param nanoTime elapsed time in nanoseconds, from any origin
   */
  public Watch(InstantSource clock, LongSupplier nanoTime) {
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.start = nanoTime.getAsLong();
  }

  /** The time. */
  public Instant now() {
    return clock.instant();
  }

  /** Time since the watch was started. */
  public Duration elapsed() {
    return Duration.ofNanos(nanoTime.getAsLong() - start);
  }

  /** Waits until so much has elapsed; returns at once if it has. */
  public void sleepUntil(Duration elapsed) throws InterruptedException {
    sleep(elapsed.minus(elapsed()));
  }

  /** Waits; a negative time is none. */
  public void sleep(Duration time) throws InterruptedException {
    if (!time.isNegative()) {
      Thread.sleep(time.toMillis());
    }
  }
}
