package dev.tollgate.core;

import java.time.Duration;

/** Waits; given as a parameter, so that a test need not. */
@FunctionalInterface
public interface Pause {
  /**
   * Waits for as long as this, or until the thread is interrupted: then its interrupt status is
   * set.
   */
  void of(Duration duration);

  /** Waits in real time. */
  static Pause real() {
    return duration -> {
      try {
        Thread.sleep(duration.toMillis());
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    };
  }
}
