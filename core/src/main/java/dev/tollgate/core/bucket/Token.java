package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;

/**
 * The right to do a bucket's action once. Tokens are alike; what they carry is for the logs alone.
 *
 * @param id unique
 * @param bucket where it belongs
 * @param mintedAt when it was made
 * @param delaySeconds how long it stays hidden after it is put, 0 to 900 (SQS SendMessage, {@code
 *     DelaySeconds})
 */
public record Token(String id, BucketId bucket, Instant mintedAt, int delaySeconds) {
  /**
   * Checks the delay.
   *
   * @throws InvalidValue if it is out of range
   */
  public Token {
    InvalidValue.inRange("delaySeconds", delaySeconds, 0, 900);
  }
}
