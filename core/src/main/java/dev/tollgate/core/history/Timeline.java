package dev.tollgate.core.history;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;
import java.util.SortedMap;
import java.util.TreeMap;

/** A history in steps. */
public final class Timeline {
  /** The most steps of one. */
  public static final int MAX_STEPS = 1_500;

  private Timeline() {}

  /**
   * Adds up the minutes of each step. Steps in which nothing happened are left out.
   *
   * @param step whole minutes, at most {@value #MAX_STEPS} in the time. Steps begin at multiples of
   *     it since 1970, so the first and the last one may be cut
   * @throws InvalidValue if it is not
   */
  public static SortedMap<Instant, Counts> of(
      SortedMap<Instant, Counts> minutes, Span span, Duration step) {
    check(span, step);
    SortedMap<Instant, Counts> steps = new TreeMap<>();
    minutes.forEach((minute, counts) -> steps.merge(begin(minute, step), counts, Counts::plus));
    return steps;
  }

  /**
   * Checks a step.
   *
   * @throws InvalidValue as {@link #of}
   */
  public static void check(Span span, Duration step) {
    boolean whole = step.toSeconds() > 0 && step.equals(Duration.ofMinutes(step.toMinutes()));
    InvalidValue.unless(whole, "step", step, "whole minutes such as PT1M");
    long steps = Duration.between(span.from(), span.to()).dividedBy(step);
    InvalidValue.unless(
        steps <= MAX_STEPS, "step", step, "at most " + MAX_STEPS + " steps, not " + steps);
  }

  private static Instant begin(Instant minute, Duration step) {
    long seconds = step.toSeconds();
    return Instant.ofEpochSecond(Math.floorDiv(minute.getEpochSecond(), seconds) * seconds);
  }
}
