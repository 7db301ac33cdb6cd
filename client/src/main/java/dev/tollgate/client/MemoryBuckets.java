package dev.tollgate.client;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketRows;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Shard;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Buckets in memory, with the operations that claims and fills use. */
final class MemoryBuckets implements Buckets {
  private final Map<BucketId, Bucket> rows = new HashMap<>();

  synchronized void put(Bucket bucket) {
    rows.put(bucket.id(), bucket);
  }

  synchronized boolean isKnown(TenantId tenant) {
    return rows.keySet().stream().anyMatch(id -> id.tenant().equals(tenant));
  }

  synchronized Set<BucketId> ids() {
    return Set.copyOf(rows.keySet());
  }

  @Override
  public synchronized Optional<Bucket> find(BucketId id) {
    return Optional.ofNullable(rows.get(id));
  }

  @Override
  public synchronized WriteResult replace(Bucket next) {
    Bucket before = rows.get(next.id());
    if (before == null || before.version() != next.version() - 1) {
      return WriteResult.CONFLICT;
    }
    rows.put(next.id(), next);
    return WriteResult.DONE;
  }

  @Override
  public synchronized WriteResult rememberEmpty(Bucket read, EmptyHint found) {
    Bucket current = rows.get(read.id());
    if (current == null || !current.equals(read)) {
      return WriteResult.CONFLICT;
    }
    rows.put(read.id(), with(current, Optional.of(found), current.version()));
    return WriteResult.DONE;
  }

  @Override
  public synchronized void forgetEmpty(BucketId id) {
    rows.computeIfPresent(
        id, (key, current) -> with(current, Optional.empty(), current.version() + 1));
  }

  private static Bucket with(Bucket bucket, Optional<EmptyHint> hint, long version) {
    return new Bucket(
        bucket.id(),
        bucket.spec(),
        bucket.ledger(),
        bucket.level(),
        hint,
        bucket.fillState(),
        version);
  }

  @Override
  public BucketRows list(TenantId tenant) {
    throw new UnsupportedOperationException("list");
  }

  @Override
  public WriteResult open(Bucket bucket) {
    throw new UnsupportedOperationException("open");
  }

  @Override
  public Optional<Line> changeLine(BucketId id, Optional<Line> read, Line next) {
    throw new UnsupportedOperationException("changeLine");
  }

  @Override
  public Optional<Line> takePlace(BucketId id, Line read) {
    throw new UnsupportedOperationException("takePlace");
  }

  @Override
  public WriteResult clearLine(BucketId id, Line read, Instant now) {
    throw new UnsupportedOperationException("clearLine");
  }

  @Override
  public WriteResult takeSpare(BucketId id, long epoch, Instant now) {
    throw new UnsupportedOperationException("takeSpare");
  }

  @Override
  public List<BucketId> due(Shard shard, Instant now) {
    throw new UnsupportedOperationException("due");
  }

  @Override
  public void remove(BucketId id) {
    throw new UnsupportedOperationException("remove");
  }

  @Override
  public void removeStray(TenantId tenant, String name) {
    throw new UnsupportedOperationException("removeStray");
  }
}
