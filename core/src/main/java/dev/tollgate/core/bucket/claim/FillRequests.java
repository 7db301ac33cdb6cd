package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;

/**
 * Requests to the token producer to fill a bucket now: one that hibernates, or one that was found
 * empty and has no token on the way. A request for any other bucket is harmless.
 */
public interface FillRequests {
  /**
   * Requests a fill and does not wait for it.
   *
   * @throws Unavailable if the request was not accepted, or not for certain
   */
  void send(BucketId id);

  /**
   * Requests a fill and waits for it: when this returns, the bucket holds what it is owed.
   *
   * @throws Unavailable if that was not done, or not for certain
   */
  void sendAndWait(BucketId id);
}
