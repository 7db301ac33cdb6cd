package dev.tollgate.core.bucket;

import java.time.Instant;

/**
 * A held token that is not yet spent. After its end, another caller may claim the token.
 *
 * @param receipt the queue's handle of this lease
 * @param endsAt when the queue offers the token again
 * @param mintedAt when the token was minted; {@link Instant#EPOCH} if that is unknown
 */
public record Lease(String receipt, Instant endsAt, Instant mintedAt) {
  /** A lease of a token whose age does not matter any more. */
  public Lease(String receipt, Instant endsAt) {
    this(receipt, endsAt, Instant.EPOCH);
  }

  /** Whether the token is still held at {@code now}. */
  public boolean holdsAt(Instant now) {
    return now.isBefore(endsAt);
  }
}
