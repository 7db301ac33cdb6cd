package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;

/** What counts things absolutely, such as open connections, on trial. */
public interface Counter {
  /** Something of this name, which nothing else ever had, is to be open. */
  Opening open(String id);

  /** It is told that the thing of this name closed; perhaps again, perhaps of one never opened. */
  void closed(String id);

  /**
   * A thing closed, and that is not told: this may be found out by looking, {@link #closed} will
   * not be called.
   */
  void vanished(String id);

  /** What is counted now. */
  long count();

  /** When this wants to be told next that time has passed; empty if it never needs to be. */
  default Optional<Instant> nextTimer() {
    return Optional.empty();
  }

  /** The clock has come to this instant. */
  default void passedTo(Instant now) {}

  /** What became of something that was to be open. */
  enum Opening {
    /** It is open. */
    OPEN,
    /** As many are open as may be, or are counted. */
    REFUSED,
    /** Nobody knows; it is not open. */
    UNDECIDED
  }

  /**
   * What is promised.
   *
   * @param most the most that may be open at a time, at least 1
   * @param heals within which time after nothing has gone wrong any more the count is right, if
   *     every place is sought
   */
  record Terms(long most, Duration heals) {}

  /** Makes what counts, anew for each history, and says what it promises. */
  interface Maker {
    /** One that knows nothing of an earlier one. */
    Counter make(Setting setting, Terms terms);

    /** Some terms that it can keep. */
    Terms terms(Random random);
  }
}
