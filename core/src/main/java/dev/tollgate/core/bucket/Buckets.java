package dev.tollgate.core.bucket;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.Written;
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

  /** Every bucket of a tenant, by action, read consistently. */
  List<Bucket> list(TenantId tenant);

  /** Writes a new bucket down, unless there is one. */
  Written open(Bucket bucket);

  /**
   * Replaces what is written, if its version is still the one before {@code next}'s. {@code
   * emptyUntil} is cleared where {@code next} has none.
   */
  Written replace(Bucket next);

  /**
   * Remembers that the bucket is empty until then, unless it has changed since it was read. Never
   * creates a bucket.
   */
  void rememberEmpty(Bucket read, Instant until);

  /**
   * The buckets of a shard whose turn has come, see {@link Bucket#turnAt}; in no order, a second
   * behind.
   */
  List<BucketId> due(Shard shard, Instant now);

  /** Forgets the bucket; harmless if there is none. */
  void remove(BucketId id);
}
