package dev.tollgate.client;

import java.time.Duration;
import java.time.Instant;

/**
 * Receives the results of claims, for metrics and logs. The client calls it on the thread of the
 * claim and waits for it. Exceptions are logged and ignored, except a {@link VirtualMachineError}:
 * in that case the client returns the reservation that it was reporting, and rethrows the error.
 */
public interface ClaimListener {
  /**
   * A call to Tollgate.
   *
   * @param tokens the number of tokens of this event
   * @param took the duration of the call
   */
  record Call(String tenantId, String action, int tokens, Duration took) {}

  /** Tokens were spent at once, not reserved before. */
  default void claimed(Call call) {}

  /** Tokens were reserved. */
  default void reserved(Call call) {}

  /** Tokens were denied, whether or not the caller has a place in line. */
  default void denied(Call call, Instant retryAt) {}

  /**
   * A claim is undecided because the bucket's queue failed, or denied for lack of credentials for
   * the tenant.
   */
  default void undecided(Call call, String cause) {}

  /** {@link Reservation#spend} was called. */
  default void settled(Call call, Settlement settlement) {}

  /** A reservation was closed without being spent. */
  default void returned(Call call) {}
}
