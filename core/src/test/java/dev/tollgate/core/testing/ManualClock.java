package dev.tollgate.core.testing;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that only tests move. */
public final class ManualClock implements InstantSource {
  private volatile Instant now;

  /** Creates a clock that shows {@code start}. */
  public ManualClock(Instant start) {
    now = start;
  }

  @Override
  public Instant instant() {
    return now;
  }

  /** Moves the clock forward and returns the new time. */
  public synchronized Instant advance(Duration by) {
    Instant next = now.plus(by);
    now = next;
    return next;
  }

  /** Moves the clock to an instant. */
  public synchronized void set(Instant instant) {
    now = instant;
  }
}
