package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;

/**
 * The counter under test: it counts what is open now, such as connections, and enforces a limit.
 */
public interface Counter {
  /** Opens an item with this name, which no other item ever had. */
  Opening open(String id);

  /** Reports a close. The report may be repeated, or name an item that was never opened. */
  void closed(String id);

  /** Closes an item without a report; the counter must discover that. */
  void vanished(String id);

  /** The current count. */
  long count();

  /** When {@link #passedTo} must be called next; empty for never. */
  default Optional<Instant> nextTimer() {
    return Optional.empty();
  }

  /** Reports that the clock has reached {@code now}. */
  default void passedTo(Instant now) {}

  /** The result of opening. */
  enum Opening {
    /** Opened. */
    OPEN,
    /** Refused: the counter's count has reached the limit. */
    REFUSED,
    /** Unknown, because of a failure; the item is not open. */
    UNDECIDED
  }

  /**
   * * What the counter promises.
   *
   * @param max the limit: the most items that may be open at a time, at least 1
   * @param heals the time after the last fault within which the count is right again, provided that
   *     clients try to fill every place
   */
  record Terms(long max, Duration heals) {}

  /** Makes a counter for each history, and draws the terms that it promises. */
  interface Maker {
    /** Makes a counter without any state of earlier ones. */
    Counter make(Setting setting, Terms terms);

    /** Draws terms that the counter can keep. */
    Terms terms(Random random);
  }
}
