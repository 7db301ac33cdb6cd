package dev.tollgate.core.testing;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Written;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Shard;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rows of buckets in a {@link Storm}. */
public final class StormyBuckets implements Buckets {
  private final Buckets buckets;
  private final Storm storm;
  private final Map<BucketId, Long> requests = new HashMap<>();

  /** Rows before {@code buckets}. */
  public StormyBuckets(Buckets buckets, Storm storm) {
    this.buckets = buckets;
    this.storm = storm;
  }

  /** How often this was asked. */
  public long requests(BucketId id) {
    return requests.getOrDefault(id, 0L);
  }

  @Override
  public Optional<Bucket> find(BucketId id) {
    requests.merge(id, 1L, Long::sum);
    return storm.ask(id, "find", () -> buckets.find(id));
  }

  @Override
  public List<Bucket> list(TenantId tenant) {
    return buckets.list(tenant);
  }

  @Override
  public Written open(Bucket bucket) {
    return storm.ask(bucket.id(), "open", () -> buckets.open(bucket));
  }

  /** At times somebody else is faster. */
  @Override
  public Written replace(Bucket next) {
    requests.merge(next.id(), 1L, Long::sum);
    return storm.strikes(next.id())
        ? Written.OVERTAKEN
        : storm.ask(next.id(), "replace", () -> buckets.replace(next));
  }

  @Override
  public void rememberEmpty(Bucket read, Instant until) {
    requests.merge(read.id(), 1L, Long::sum);
    storm.ask(
        read.id(),
        "rememberEmpty",
        () -> {
          buckets.rememberEmpty(read, until);
          return read;
        });
  }

  @Override
  public List<BucketId> due(Shard shard, Instant now) {
    return buckets.due(shard, now);
  }

  @Override
  public void remove(BucketId id) {
    buckets.remove(id);
  }
}
