package dev.tollgate.core.idempotency;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.time.Instant;

/**
 * Stores idempotency keys with the responses of their requests.
 *
 * <p>A key is claimed before its request is executed. A claim expires, so that a crash does not
 * block the key for long; it must last longer than the request can take.
 *
 * <p>Every method throws {@link Unavailable} if the store fails or the result is unknown.
 */
public interface IdempotencyKeys {
  /** Claims a key, unless it is in use at {@code now}. Of concurrent claims, one succeeds. */
  KeyUse claim(KeyClaim claim, Instant now);

  /**
   * Replaces the claim with the response.
   *
   * @param until when the response expires, in whole seconds
   * @return {@link WriteResult#CONFLICT} if the claim has expired and the key has another owner
   */
  WriteResult store(KeyClaim claim, StoredResponse answer, Instant until);

  /** Releases the key, if the claim still owns it and no response is stored. */
  void release(KeyClaim claim);
}
