package dev.tollgate.controlplane.invocation;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Consumer;

/**
 * What one invocation of a function has: its time, and its log. What is not begun in time is left
 * to the sweep, so that the function answers before it is stopped.
 *
 * @param clock what time is told by
 * @param end when nothing more may be begun
 * @param log takes a line
 */
record Invocation(InstantSource clock, Instant end, Consumer<String> log) {
  /** An invocation that may begin something for so long from now. */
  static Invocation of(InstantSource clock, Duration time, Consumer<String> log) {
    return new Invocation(clock, clock.instant().plus(time), log);
  }

  boolean isOver() {
    return !clock.instant().isBefore(end);
  }

  /** The same with half of the time that is left. */
  Invocation half() {
    return of(clock, Duration.between(clock.instant(), end).dividedBy(2), log);
  }

  /** The same without an end: for what looks at the end by itself. */
  Invocation unlimited() {
    return new Invocation(clock, Instant.MAX, log);
  }

  void log(String line) {
    log.accept(line);
  }
}
