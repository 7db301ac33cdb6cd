package dev.tollgate.core.provisioning;

import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import java.time.Duration;
import java.util.Optional;

/**
 * The queues that buckets' tokens lie in. Every method throws {@link Unavailable} if that could not
 * be asked.
 */
public interface BucketQueues {
  /**
   * Makes the bucket's queue, or brings the one that is there to what it should be. It is this
   * deployment's from then on.
   *
   * @param lifetime for how long it keeps a token, a minute to fourteen days
   */
  QueueCreation ensure(BucketId id, Duration lifetime);

  /**
   * Has the bucket's queue keep tokens for so long, those that are in it too. In force after a
   * quarter of an hour (SQS SetQueueAttributes). Harmless if there is no queue.
   *
   * @param lifetime a minute to fourteen days
   */
  void setLifetime(BucketId id, Duration lifetime);

  /** For how long the bucket's queue keeps a token; empty if there is no queue. */
  Optional<Duration> lifetime(BucketId id);

  /**
   * Buckets that have a queue, whether or not they are written down, in no order; the part after
   * {@code cursor}, or the first. A part may be empty, and others still follow. A queue that was
   * made or deleted less than a minute ago may be left out or listed.
   *
   * @param most 1 to 1,000
   */
  Page<BucketId> list(Optional<String> cursor, int most);

  /** Who made the bucket's queue. */
  Owner owner(BucketId id);

  /** Deletes the bucket's queue and the tokens in it; harmless if there is none. */
  void delete(BucketId id);

  /** Who made a queue, as its tags say. */
  enum Owner {
    /** This deployment. */
    THIS_DEPLOYMENT,
    /** Somebody else, or a release of this deployment that did not tag queues. */
    OTHER,
    /** There is no queue. */
    NO_QUEUE
  }
}
