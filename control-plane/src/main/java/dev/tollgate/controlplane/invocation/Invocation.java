package dev.tollgate.controlplane.invocation;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Consumer;

/**
 * The time and the log of one invocation of a function. No work starts after {@code end}, so that
 * the function responds before Lambda stops it; the sweep does the rest.
 *
 * @param clock the clock that {@code end} refers to
 * @param end the time after which no work starts
 * @param log accepts a line of the log
 */
public record Invocation(InstantSource clock, Instant end, Consumer<String> log) {
  /** An invocation that may start work for this time from now. */
  public static Invocation of(InstantSource clock, Duration time, Consumer<String> log) {
    return new Invocation(clock, clock.instant().plus(time), log);
  }

  /** Whether no more work may start. */
  public boolean isOver() {
    return !clock.instant().isBefore(end);
  }

  /** This invocation with one of {@code parts} equal parts of the remaining time. */
  public Invocation part(int parts) {
    return of(clock, Duration.between(clock.instant(), end).dividedBy(parts), log);
  }

  /** This invocation without an end, for tasks that check the end themselves. */
  public Invocation unlimited() {
    return new Invocation(clock, Instant.MAX, log);
  }

  /** Writes a line to the log. */
  public void log(String line) {
    log.accept(line);
  }
}
