package dev.tollgate.lawbook;

import java.time.Instant;
import java.time.InstantSource;

/**
 * The environment of a history: its clock, the seed of random faults, and whether faults may occur
 * now.
 */
public final class Setting {
  /** When every history begins: on a full minute. */
  public static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final long seed;
  private Instant now = START;
  private boolean mayInjectFaults = true;

  /** A setting at {@link #START} in which faults may occur, as when a history begins. */
  public Setting(long seed) {
    this.seed = seed;
  }

  /** The simulated time. */
  public InstantSource clock() {
    return () -> now;
  }

  /** The seed of all random choices of the subject. */
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
