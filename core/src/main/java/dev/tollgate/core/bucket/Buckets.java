package dev.tollgate.core.bucket;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Where buckets are written down. Every method throws {@link Unavailable} if that could not be
 * asked.
 */
public interface Buckets {
  /** The bucket as it stands, read consistently. */
  Optional<Bucket> find(BucketId id);

  /** Every bucket of a tenant, read consistently. */
  BucketRows list(TenantId tenant);

  /** Writes a new bucket down, unless there is one. */
  WriteResult open(Bucket bucket);

  /**
   * Replaces what is written, if its version is still the one before {@code next}'s. {@code
   * emptiness} is cleared where {@code next} has none. A write whose answer was lost counts as done
   * if the row shows it.
   */
  WriteResult replace(Bucket next);

  /**
   * Remembers that the bucket was found empty, unless it has changed since it was read or another
   * claim has written the same meanwhile. Never creates a bucket.
   */
  WriteResult rememberEmpty(Bucket read, EmptyHint found);

  /**
   * Forgets that the bucket was found empty, and changes its version: whoever read it before and
   * has found it empty since, or has filled it, is overtaken. Harmless if there is no such bucket.
   */
  void forgetEmpty(BucketId id);

  /**
   * The buckets of a shard whose turn has come, see {@link Bucket#shardDueAt}; in no order, a
   * second behind.
   */
  List<BucketId> due(Shard shard, Instant now);

  /** Forgets the bucket, whether or not its row can be read; harmless if there is none. */
  void remove(BucketId id);

  /**
   * Removes a row that names no bucket, see {@link BucketRows#strays}; harmless if there is none.
   */
  void removeStray(TenantId tenant, String name);
}
