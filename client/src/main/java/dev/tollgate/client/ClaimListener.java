package dev.tollgate.client;

import java.time.Duration;
import java.time.Instant;

/**
 * Listens to what comes of claims, for metrics and logs. It is called on the thread of the claim,
 * which waits for it. Whatever it throws is logged and changes nothing; but a {@link
 * VirtualMachineError} is thrown on, after a reservation that it was told of was returned.
 */
public interface ClaimListener {
  /**
   * A call to Tollgate.
   *
   * @param tokens those that the event is about
   * @param took how long the call took
   */
  record Call(String tenantId, String action, int tokens, Duration took) {}

  /** Tokens were spent, by {@link TokenBucket#tryClaim} or {@link TokenBucket#claimUpTo}. */
  default void claimed(Call call) {}

  /** Tokens are held. */
  default void reserved(Call call) {}

  /** Tokens were denied. */
  default void denied(Call call, Instant retryAt) {}

  /** The bucket could not be asked for tokens. */
  default void undecided(Call call, String cause) {}

  /** {@link Reservation#spend} was called. */
  default void settled(Call call, Settlement settlement) {}

  /** A reservation was left without being spent. */
  default void returned(Call call) {}
}
