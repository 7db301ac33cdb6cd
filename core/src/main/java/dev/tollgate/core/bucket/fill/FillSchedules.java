package dev.tollgate.core.bucket.fill;

import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.provisioning.Drift;
import java.util.Optional;

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

  /** Deletes the schedule of a shard; harmless if there is none. */
  void delete(Shard shard);

  /**
   * How the bucket's schedule compares with what {@link #put(Bucket)} would make of it. Where that
   * is none, one that is there differs.
   */
  Drift compare(Bucket bucket);

  /** How the schedule of a shard compares with a new one. */
  Drift compare(Shard shard);

  /** Whether the bucket has a schedule. */
  boolean has(BucketId id);

  /**
   * Buckets that have a schedule, whether or not they are written down, in no order; the part after
   * {@code cursor}, or the first. A part may be empty, and others still follow.
   *
   * @param most 1 to 100
   */
  Page<BucketId> list(Optional<String> cursor, int most);
}
