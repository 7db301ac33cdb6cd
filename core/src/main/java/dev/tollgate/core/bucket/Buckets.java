package dev.tollgate.core.bucket;

import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/** Stores the state of buckets. Every method throws {@link Unavailable} if the store fails. */
public interface Buckets {
  /** A bucket, read consistently. */
  Optional<Bucket> find(BucketId id);

  /** Every bucket of a tenant, read consistently. */
  BucketRows list(TenantId tenant);

  /** Creates a bucket, unless it exists. */
  WriteResult open(Bucket bucket);

  /**
   * Replaces the stored bucket except its line, if its versions are still the ones before {@code
   * next}'s. Clears the empty hint if {@code next} has none. If the response to the write was lost,
   * the row is read, and the write counts as done if the row contains it.
   */
  WriteResult replace(Bucket next);

  /**
   * Stores that a claim found the bucket empty, unless the bucket has changed since it was read or
   * another claim has stored a hint. Never creates a bucket.
   */
  WriteResult rememberEmpty(Bucket read, EmptyHint found);

  /**
   * Removes the empty hint and changes its version, so that claims and fills that read the bucket
   * before get a conflict. Does nothing if the bucket does not exist.
   */
  void forgetEmpty(BucketId id);

  /**
   * Changes the line of a bucket, unless it has changed since it was read. Other callers may have
   * taken places in the meantime; they keep them, and {@code next}'s additional places follow. If
   * {@code next} is another line, with another epoch, places that were taken count as a change.
   *
   * @return the line as stored; empty if it had changed or the bucket does not exist
   */
  Optional<Line> changeLine(BucketId id, Optional<Line> read, Line next);

  /** {@link #takePlaces}, for one place. */
  default Optional<Line> takePlace(BucketId id, Line read) {
    return takePlaces(id, read, 1);
  }

  /**
   * Adds places at the end of a bucket's line, even if the line has changed since it was read.
   *
   * @param count 1 or more
   * @return the line as read, with the new places as its last ones; empty if there is no line with
   *     this epoch
   */
  Optional<Line> takePlaces(BucketId id, Line read, int count);

  /**
   * Clears a bucket's line: its places become void, see {@link Line#cleared}.
   *
   * @return a conflict if its epoch has changed, because it was cleared or another line was opened
   */
  WriteResult clearLine(BucketId id, Line read, Instant now);

  /**
   * Records a freed place of a bucket's line, unless the line has {@link Line#MAX_FREED} already.
   */
  void freePlace(BucketId id, Place place);

  /**
   * Takes a freed place of a bucket's line, and removes those that have passed.
   *
   * @param passed freed places whose slots have come, or of earlier lines
   * @return a conflict if another caller has taken it
   */
  WriteResult takeFreed(BucketId id, Place place, Set<Place> passed);

  /** Takes a spare token of a bucket's line; a conflict if it has none, or another epoch. */
  WriteResult takeSpare(BucketId id, long epoch, Instant now);

  /**
   * The due buckets of a shard, see {@link Bucket#shardDueAt}; eventually consistent. The order is
   * the same at each call, and buckets that are no longer due do not change it.
   *
   * @param cursor the previous page's, letters, digits and {@code %._+-} alone; empty for the first
   *     page
   * @param max 1 to 1,000
   */
  Page<BucketId> due(Shard shard, Instant now, Optional<String> cursor, int max);

  /** Deletes the bucket, whether or not its row is readable. Does nothing if it does not exist. */
  void remove(BucketId id);

  /**
   * Deletes a row that names no bucket, see {@link BucketRows#strays}. Does nothing if it does not
   * exist.
   */
  void removeStray(TenantId tenant, String name);
}
