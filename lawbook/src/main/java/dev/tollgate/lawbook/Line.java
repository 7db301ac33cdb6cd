package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;

/** The limiter under test whose refused callers wait in line, each for one token. */
public interface Line {
  /**
   * A caller claims a token and, if it is admitted, spends it at once.
   *
   * @param caller a name that identifies the caller
   */
  Answer claim(String caller);

  /** Changes the rate. */
  void retune(Rate rate);

  /** When {@link #passedTo} must be called next; empty for never. */
  default Optional<Instant> nextTimer() {
    return Optional.empty();
  }

  /** How many faults have struck so far. */
  default long faults() {
    return 0;
  }

  /** Reports that the clock has reached {@code now}. */
  default void passedTo(Instant now) {}

  /** The answer to a claim. */
  sealed interface Answer {}

  /** The caller was admitted and spent a token. */
  record Admitted() implements Answer {}

  /**
   * The caller was refused.
   *
   * @param retryAt when it should come back
   */
  record Refused(Instant retryAt) implements Answer {}

  /** The caller got no answer because of a fault. It may have spent a token. */
  record Unanswered() implements Answer {}

  /**
   * What the line promises.
   *
   * @param rate the rate at which tokens accrue
   * @param capacity the most tokens that the bucket can hold; it is full at first
   * @param slack how many tokens beyond capacity + rate × time may be admitted
   * @param grace how long after its retry time a caller is admitted for certain
   */
  record Terms(Rate rate, long capacity, long slack, Duration grace) {}

  /** Makes a line for each history, and draws the terms that it promises. */
  interface Maker {
    /** Makes a line without any state of earlier ones. */
    Line make(Setting setting, Terms terms);

    /** Draws terms that the line can keep. */
    Terms terms(Random random);
  }
}
