package dev.tollgate.core.bucket;

import dev.tollgate.core.Unavailable;

/**
 * A bucket has no queue. That is a fault of the tenant's provisioning and no outage: a claim is
 * refused, and the tenant has to be reconciled.
 */
public final class MissingQueue extends Unavailable {
  private static final long serialVersionUID = 1L;

  /** Names the bucket. */
  public MissingQueue(BucketId bucket) {
    super("bucket " + bucket + " has no queue");
  }
}
