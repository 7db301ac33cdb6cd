package dev.tollgate.core.provisioning;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Shard;

/**
 * The schedules that fill buckets: once a minute, on the minute. Every method throws {@link
 * Unavailable} if that could not be asked.
 */
public interface FillSchedules {
  /**
   * Makes the bucket's schedule what the bucket's rate, capacity and upkeep say, whatever there is:
   * one that invokes the producer, one that sends tokens by itself, one that does not fire, or none
   * for a bucket that its shard's schedule fills.
   */
  void put(Bucket bucket);

  /** Makes the schedule of a shard, unless there is one. */
  void put(Shard shard);

  /** Deletes the bucket's schedule; harmless if there is none. */
  void delete(BucketId id);
}
