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
public record Invocation(InstantSource clock, Instant end, Consumer<String> log) {
  /** An invocation that may begin something for so long from now. */
  public static Invocation of(InstantSource clock, Duration time, Consumer<String> log) {
    return new Invocation(clock, clock.instant().plus(time), log);
  }

  public boolean isOver() {
    return !clock.instant().isBefore(end);
  }

  /** The same with half of the time that is left. */
  public Invocation half() {
    return of(clock, Duration.between(clock.instant(), end).dividedBy(2), log);
  }

  /** The same without an end: for what looks at the end by itself. */
  public Invocation unlimited() {
    return new Invocation(clock, Instant.MAX, log);
  }

  public void log(String line) {
    log.accept(line);
  }
}
