package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;

/**
 * A place in the {@link Line} of a bucket.
 *
 * @param epoch the line's epoch; 0 or more
 * @param number the place's number; 1 or more
 */
public record Place(long epoch, long number) {
  /**
   * Checks the numbers.
   *
   * @throws InvalidValue if one is out of range
   */
  public Place {
    InvalidValue.inRange("epoch", epoch, 0, Long.MAX_VALUE);
    InvalidValue.inRange("number", number, 1, Long.MAX_VALUE);
  }
}
