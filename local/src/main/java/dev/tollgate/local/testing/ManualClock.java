package dev.tollgate.local.testing;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that stands still until a test moves it. */
public final class ManualClock implements InstantSource {
  private volatile Instant now;

  /** A clock that shows this instant. */
  public ManualClock(Instant start) {
    now = start;
  }

  @Override
  public Instant instant() {
    return now;
  }

  /** Moves the clock forward and returns the new instant. */
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
