package dev.tollgate.core.bucket;

import java.time.Instant;

/**
 * A token that is held but not yet spent. Whoever held it beyond its end holds it no longer:
 * another may have it.
 *
 * @param receipt what the queue knows the holding by
 * @param endsAt when the queue gives the token to somebody else
 */
public record Lease(String receipt, Instant endsAt) {
  /** Whether the token is still held at {@code now}. */
  public boolean holdsAt(Instant now) {
    return now.isBefore(endsAt);
  }
}
