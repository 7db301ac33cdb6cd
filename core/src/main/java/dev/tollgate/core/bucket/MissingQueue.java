package dev.tollgate.core.bucket;

import dev.tollgate.core.Unavailable;

/**
 * A bucket has no queue. This is drift and not an outage: the claim is refused, and the tenant must
 * be reconciled.
 */
public final class MissingQueue extends Unavailable {
  private static final long serialVersionUID = 1L;

  /** Names the bucket. */
  public MissingQueue(BucketId bucket) {
    super("bucket " + bucket + " has no queue");
  }
}
