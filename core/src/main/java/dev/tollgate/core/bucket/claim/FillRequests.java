package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;

/**
 * Asks the token producer to fill a bucket now: a hibernating bucket, one without pending tokens,
 * or one with a line shortly before its tokens end. If the queue is missing, the tenant is
 * reconciled. A request for any other bucket has no effect.
 */
public interface FillRequests {
  /**
   * Requests a fill and does not wait for it.
   *
   * @throws Unavailable if the request may not have been accepted
   */
  void send(BucketId id);

  /**
   * Requests a fill and waits until the bucket holds what it is owed.
   *
   * @throws Unavailable if the fill may not have been done
   */
  void sendAndWait(BucketId id);
}
