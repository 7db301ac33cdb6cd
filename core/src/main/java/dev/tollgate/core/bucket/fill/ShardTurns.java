package dev.tollgate.core.bucket.fill;

import dev.tollgate.core.Unavailable;

/** Hands the rest of a shard's turn to another invocation of the token producer. */
@FunctionalInterface
public interface ShardTurns {
  /**
   * Requests the turn and does not wait for it.
   *
   * @throws Unavailable if the request may not have been accepted
   */
  void send(ShardTurn turn);
}
