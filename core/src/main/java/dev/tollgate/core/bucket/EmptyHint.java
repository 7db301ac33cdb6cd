package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;

/**
 * The observation of a claim that found a bucket empty. Until {@code until}, other claims are
 * refused without a request to the queue.
 *
 * @param since when the bucket was found empty
 * @param until when a claim sends a request to the queue again
 * @param held the tokens that other callers held then and may return; 0 or more
 */
public record EmptyHint(Instant since, Instant until, long held) {
  /**
   * Checks the tokens.
   *
   * @throws InvalidValue if they are negative
   */
  public EmptyHint {
    InvalidValue.inRange("held", held, 0, Long.MAX_VALUE);
  }
}
