package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;

/**
 * What a claim learned when it found a bucket empty. A hint and no more: until {@code until} other
 * claims are refused without a look at the queue.
 *
 * @param since when the bucket was found empty
 * @param until when the queue is worth another look
 * @param held the tokens that others held then, and may give back; 0 or more
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
