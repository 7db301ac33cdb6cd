package dev.tollgate.league.adapters;

import java.time.InstantSource;

/** The clock that limiters read instead of the system's, see {@link ClockedClasses}. */
public final class SimulatedTime {
  private static final ThreadLocal<InstantSource> CLOCK =
      ThreadLocal.withInitial(InstantSource::system);

  private SimulatedTime() {}

  /** Sets the clock of this thread. */
  static void use(InstantSource clock) {
    CLOCK.set(clock);
  }

  /** Replaces {@link System#nanoTime}. */
  public static long nanoTime() {
    return Bucket.nanos(CLOCK.get());
  }

  /** Replaces {@link System#currentTimeMillis}, and methods of libraries that call it. */
  public static long currentTimeMillis() {
    return CLOCK.get().millis();
  }
}
