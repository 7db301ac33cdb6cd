package dev.tollgate.core.bucket;

import java.time.Instant;
import java.util.Optional;

/**
 * What fills a bucket at present. The bucket's schedule and queue are updated to match this stored
 * state.
 *
 * @param state what fills the bucket
 * @param since when it entered the state; for {@link State#DIRECT}, when it was last inspected
 * @param fullSince since when every inspection found it full
 */
public record FillState(State state, Instant since, Optional<Instant> fullSince) {
  /** What fills a bucket. */
  public enum State {
    /** The token producer. */
    PRODUCED,
    /** Its own schedule, without a function: see {@link DirectFill}. */
    DIRECT,
    /** Nothing: it stayed full without claims. The next claim wakes it. */
    HIBERNATING,
    /** Nothing: its tenant is suspended. */
    SUSPENDED
  }

  /** A state that is entered at {@code now}. */
  static FillState entered(State state, Instant now) {
    return new FillState(state, now, Optional.empty());
  }

  /** This state after an inspection of the bucket. */
  FillState inspected(boolean full, Instant now) {
    return new FillState(
        state,
        state == State.DIRECT ? now : since,
        full ? fullSince.or(() -> Optional.of(now)) : Optional.empty());
  }
}
