package dev.tollgate.lawbook;

import java.time.Instant;
import java.time.InstantSource;

/**
 * Where a history happens: its clock, the seed for whatever goes wrong, and whether anything may go
 * wrong at present.
 */
public final class Setting {
  /** When every history begins: on a full minute. */
  public static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final long seed;
  private Instant now = START;
  private boolean mayInjectFaults = true;

  Setting(long seed) {
    this.seed = seed;
  }

  /** The simulated time. */
  public InstantSource clock() {
    return () -> now;
  }

  /** What is random in the subject on trial is to follow from this alone. */
  public long seed() {
    return seed;
  }

  /** Whether faults may be injected now. */
  public boolean mayInjectFaults() {
    return mayInjectFaults;
  }

  Instant now() {
    return now;
  }

  void set(Instant instant) {
    now = instant;
  }

  void stopFaults() {
    mayInjectFaults = false;
  }
}
