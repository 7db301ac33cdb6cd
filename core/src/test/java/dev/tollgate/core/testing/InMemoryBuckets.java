package dev.tollgate.core.testing;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Written;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Emptiness;
import dev.tollgate.core.bucket.Shard;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Buckets in memory. */
public final class InMemoryBuckets implements Buckets {
  private final Map<BucketId, Bucket> rows = new HashMap<>();
  private final Outage outage = new Outage();

  /** What stops buckets from being read and written. */
  public Outage outage() {
    return outage;
  }

  @Override
  public synchronized Optional<Bucket> find(BucketId id) {
    outage.check("find");
    return Optional.ofNullable(rows.get(id));
  }

  @Override
  public synchronized List<Bucket> list(TenantId tenant) {
    outage.check("list");
    return rows.values().stream()
        .filter(bucket -> bucket.id().tenant().equals(tenant))
        .sorted(Comparator.comparing((Bucket bucket) -> bucket.id().action()))
        .toList();
  }

  @Override
  public synchronized Written open(Bucket bucket) {
    outage.check("open");
    return rows.putIfAbsent(bucket.id(), bucket) == null ? Written.DONE : Written.OVERTAKEN;
  }

  @Override
  public synchronized Written replace(Bucket next) {
    outage.check("replace");
    Bucket before = rows.get(next.id());
    if (before == null || before.version() != next.version() - 1) {
      return Written.OVERTAKEN;
    }
    rows.put(next.id(), next);
    return Written.DONE;
  }

  @Override
  public synchronized Written rememberEmpty(Bucket read, Emptiness found) {
    outage.check("rememberEmpty");
    Bucket stands = rows.get(read.id());
    if (stands == null
        || stands.version() != read.version()
        || !stands.emptiness().equals(read.emptiness())) {
      return Written.OVERTAKEN;
    }
    rows.put(read.id(), with(stands, Optional.of(found), stands.version()));
    return Written.DONE;
  }

  @Override
  public synchronized void forgetEmpty(BucketId id) {
    outage.check("forgetEmpty");
    rows.computeIfPresent(
        id, (key, stands) -> with(stands, Optional.empty(), stands.version() + 1));
  }

  private static Bucket with(Bucket bucket, Optional<Emptiness> emptiness, long version) {
    return new Bucket(
        bucket.id(),
        bucket.spec(),
        bucket.ledger(),
        bucket.level(),
        emptiness,
        bucket.upkeep(),
        version);
  }

  @Override
  public synchronized List<BucketId> due(Shard shard, Instant now) {
    outage.check("due");
    return rows.values().stream()
        .filter(bucket -> bucket.turnAt().filter(turn -> !turn.isAfter(now)).isPresent())
        .filter(bucket -> Shard.of(bucket.id().tenant()).equals(shard))
        .map(Bucket::id)
        .toList();
  }

  @Override
  public synchronized void remove(BucketId id) {
    outage.check("remove");
    rows.remove(id);
  }
}
