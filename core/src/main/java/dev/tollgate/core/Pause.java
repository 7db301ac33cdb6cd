package dev.tollgate.core;

import java.time.Duration;

/** Waits. Tests replace it to avoid waiting. */
@FunctionalInterface
public interface Pause {
  /**
   * Waits for this duration, or until the thread is interrupted; then sets its interrupt status.
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
