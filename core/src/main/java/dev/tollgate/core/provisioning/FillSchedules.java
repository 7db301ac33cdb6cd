package dev.tollgate.core.provisioning;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;

/**
 * The schedules that fill buckets. Every method throws {@link Unavailable} if that could not be
 * asked.
 */
public interface FillSchedules {
  /**
   * Makes the bucket's schedule, or replaces the one that is there: once a minute, on the minute.
   *
   * @param spec the bucket's rate and capacity, told in the schedule's description
   * @param enabled whether it fires
   */
  void put(BucketId id, BucketSpec spec, boolean enabled);

  /** Deletes the bucket's schedule; harmless if there is none. */
  void delete(BucketId id);
}
