package dev.tollgate.core.testing.fault;

import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketRows;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.Shard;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Buckets whose reads and writes suffer {@link BucketFaults}. */
public final class FaultyBuckets implements Buckets {
  private final Buckets buckets;
  private final BucketFaults faults;
  private final Consumer<BucketId> rival;

  private final Map<BucketId, Long> requests = new HashMap<>();

  /**
   * Wraps {@code buckets}.
   *
   * @param rival another fill of a bucket, which runs between the read and the write of a row
   */
  public FaultyBuckets(Buckets buckets, BucketFaults faults, Consumer<BucketId> rival) {
    this.buckets = buckets;
    this.faults = faults;
    this.rival = rival;
  }

  /** The number of requests for a bucket. */
  public long requests(BucketId id) {
    return requests.getOrDefault(id, 0L);
  }

  @Override
  public Optional<Bucket> find(BucketId id) {
    requests.merge(id, 1L, Long::sum);
    return faults.ask(id, BucketFaults.Kind.DYNAMODB_THROTTLED, "find", () -> buckets.find(id));
  }

  @Override
  public BucketRows list(TenantId tenant) {
    return buckets.list(tenant);
  }

  @Override
  public WriteResult open(Bucket bucket) {
    return faults.ask(
        bucket.id(), BucketFaults.Kind.DYNAMODB_THROTTLED, "open", () -> buckets.open(bucket));
  }

  /** Sometimes lets another fill write first, and sometimes reports a false conflict. */
  @Override
  public WriteResult replace(Bucket next) {
    requests.merge(next.id(), 1L, Long::sum);
    if (faults.strikes(next.id(), BucketFaults.Kind.RIVAL_FILL)) {
      rival.accept(next.id());
    }
    if (faults.strikes(next.id(), BucketFaults.Kind.FALSE_CONFLICT)) {
      return WriteResult.CONFLICT;
    }
    return faults.ask(
        next.id(), BucketFaults.Kind.DYNAMODB_THROTTLED, "replace", () -> buckets.replace(next));
  }

  @Override
  public WriteResult rememberEmpty(Bucket read, EmptyHint found) {
    requests.merge(read.id(), 1L, Long::sum);
    return faults.ask(
        read.id(),
        BucketFaults.Kind.DYNAMODB_THROTTLED,
        "rememberEmpty",
        () -> buckets.rememberEmpty(read, found));
  }

  @Override
  public void forgetEmpty(BucketId id) {
    requests.merge(id, 1L, Long::sum);
    faults.ask(
        id,
        BucketFaults.Kind.DYNAMODB_THROTTLED,
        "forgetEmpty",
        () -> {
          buckets.forgetEmpty(id);
          return id;
        });
  }

  @Override
  public Optional<Line> changeLine(BucketId id, Optional<Line> read, Line next) {
    requests.merge(id, 1L, Long::sum);
    return faults.ask(
        id,
        BucketFaults.Kind.DYNAMODB_THROTTLED,
        "changeLine",
        () -> buckets.changeLine(id, read, next));
  }

  @Override
  public Optional<Line> takePlaces(BucketId id, Line read, int count) {
    requests.merge(id, 1L, Long::sum);
    return faults.ask(
        id,
        BucketFaults.Kind.DYNAMODB_THROTTLED,
        "takePlaces",
        () -> buckets.takePlaces(id, read, count));
  }

  @Override
  public WriteResult clearLine(BucketId id, Line read, Instant now) {
    return buckets.clearLine(id, read, now);
  }

  @Override
  public void freePlace(BucketId id, Place place) {
    buckets.freePlace(id, place);
  }

  @Override
  public WriteResult takeFreed(BucketId id, Place place, Set<Place> passed) {
    return buckets.takeFreed(id, place, passed);
  }

  @Override
  public WriteResult takeSpare(BucketId id, long epoch, Instant now) {
    requests.merge(id, 1L, Long::sum);
    return faults.ask(
        id,
        BucketFaults.Kind.DYNAMODB_THROTTLED,
        "takeSpare",
        () -> buckets.takeSpare(id, epoch, now));
  }

  @Override
  public Page<BucketId> due(Shard shard, Instant now, Optional<String> cursor, int max) {
    return buckets.due(shard, now, cursor, max);
  }

  @Override
  public void remove(BucketId id) {
    buckets.remove(id);
  }

  @Override
  public void removeStray(TenantId tenant, String name) {
    buckets.removeStray(tenant, name);
  }
}
