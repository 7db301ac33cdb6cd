package dev.tollgate.core.bucket;

import java.time.Instant;
import java.util.Optional;

/**
 * Who keeps a bucket filled at present, if anybody does. Schedules and queues follow what is
 * written here.
 *
 * @param state who
 * @param since since when; for {@link State#DIRECT}, when it was looked at last
 * @param fullSince since when it has been found full at each look
 */
public record FillState(State state, Instant since, Optional<Instant> fullSince) {
  /** Who keeps a bucket filled. */
  public enum State {
    /** The token producer. */
    PRODUCED,
    /** Its own schedule, without a function: see {@link DirectFill}. */
    DIRECT,
    /** Nobody: it stayed full, and nobody claims. The next claim wakes it. */
    HIBERNATING,
    /** Nobody: its tenant is suspended. */
    SUSPENDED
  }

  /** A state that is entered at {@code now}. */
  static FillState entered(State state, Instant now) {
    return new FillState(state, now, Optional.empty());
  }

  /** The same after a look at the bucket. */
  FillState inspected(boolean full, Instant now) {
    return new FillState(
        state,
        state == State.DIRECT ? now : since,
        full ? fullSince.or(() -> Optional.of(now)) : Optional.empty());
  }
}
