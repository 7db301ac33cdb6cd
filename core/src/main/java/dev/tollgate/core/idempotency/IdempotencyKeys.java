package dev.tollgate.core.idempotency;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.time.Instant;

/**
 * The keys by which clients name requests that they may send again, with what was answered.
 *
 * <p>A key is claimed before its request is done. A claim is over by itself, so that who dies with
 * it keeps nobody out for long; it must last longer than the request can take.
 *
 * <p>Every method throws {@link Unavailable} if nothing, or nothing sure, can be said.
 */
public interface IdempotencyKeys {
  /**
   * Claims a key, unless it is in use at {@code now}. Of many that claim one at once, one gets it.
   */
  KeyUse claim(KeyClaim claim, Instant now);

  /**
   * Keeps what was answered, in the place of the claim.
   *
   * @param until when it is forgotten, in whole seconds
   * @return {@link WriteResult#CONFLICT} if the claim is over and somebody else's stands
   */
  WriteResult store(KeyClaim claim, StoredResponse answer, Instant until);

  /** Frees the key, if the claim still stands and nothing was kept. */
  void release(KeyClaim claim);
}
