package dev.tollgate.core.provisioning;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;

/**
 * The queues that buckets' tokens lie in. Every method throws {@link Unavailable} if that could not
 * be asked.
 */
public interface BucketQueues {
  /** Makes the bucket's queue, or brings the one that is there to what it should be. */
  Made make(BucketId id);

  /** Deletes the bucket's queue and the tokens in it; harmless if there is none. */
  void delete(BucketId id);
}
