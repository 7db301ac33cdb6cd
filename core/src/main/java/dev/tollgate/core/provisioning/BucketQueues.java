package dev.tollgate.core.provisioning;

import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import java.time.Duration;
import java.util.Optional;

/**
 * The token queues of buckets. Every method throws {@link Unavailable} if the queue service fails.
 */
public interface BucketQueues {
  /**
   * Creates the bucket's queue or updates the existing one, and marks it as owned by this
   * deployment.
   *
   * @param lifetime how long the queue keeps a token, one minute to fourteen days
   */
  QueueCreation ensure(BucketId id, Duration lifetime);

  /**
   * Changes how long the bucket's queue keeps tokens, including those already in it. Takes effect
   * within 15 minutes (SQS SetQueueAttributes). Does nothing if the queue does not exist.
   *
   * @param lifetime one minute to fourteen days
   */
  void setLifetime(BucketId id, Duration lifetime);

  /** How long the bucket's queue keeps a token; empty if the queue does not exist. */
  Optional<Duration> lifetime(BucketId id);

  /**
   * The buckets that have a queue, including orphans, unordered. A page may be empty although
   * others follow. A queue that was created or deleted within the last minute may be missing or
   * listed.
   *
   * @param cursor the previous page's; empty for the first page
   * @param max 1 to 1,000
   */
  Page<BucketId> list(Optional<String> cursor, int max);

  /** The owner of the bucket's queue. */
  Owner owner(BucketId id);

  /** Deletes the bucket's queue and its tokens, if it exists. */
  void delete(BucketId id);

  /** The owner of a queue, according to its tags. */
  enum Owner {
    /** This deployment. */
    THIS_DEPLOYMENT,
    /** Another deployment, or a release of this one that did not tag queues. */
    OTHER,
    /** The queue does not exist. */
    NO_QUEUE
  }
}
