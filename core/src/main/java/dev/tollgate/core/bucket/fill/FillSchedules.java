package dev.tollgate.core.bucket.fill;

import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.provisioning.Drift;
import java.util.Optional;

/**
 * The schedules that fill buckets, once a minute on the minute. Every method throws {@link
 * Unavailable} if the scheduler fails.
 */
public interface FillSchedules {
  /**
   * Creates, updates or deletes the bucket's schedule to match the bucket: it invokes the token
   * producer, sends tokens itself, or is disabled. A bucket that its shard fills has no schedule.
   */
  void put(Bucket bucket);

  /** Creates the schedule of a shard, unless it exists. */
  void put(Shard shard);

  /** Deletes the bucket's schedule, if it exists. */
  void delete(BucketId id);

  /** Deletes the schedule of a shard, if it exists. */
  void delete(Shard shard);

  /**
   * Compares the bucket's schedule with the one that {@link #put(Bucket)} would create. If the
   * bucket must have no schedule, an existing one is drift.
   */
  Drift compare(Bucket bucket);

  /** Compares the schedule of a shard with a new one. */
  Drift compare(Shard shard);

  /** Whether the bucket has a schedule. */
  boolean has(BucketId id);

  /**
   * The buckets that have a schedule, including orphans, unordered. A page may be empty although
   * others follow.
   *
   * @param cursor the previous page's; empty for the first page
   * @param max 1 to 100
   */
  Page<BucketId> list(Optional<String> cursor, int max);
}
