package dev.tollgate.client;

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
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Buckets in memory. */
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
    if (before == null
        || before.version() != next.version() - 1
        || before.hintVersion() != next.hintVersion() - 1) {
      return WriteResult.CONFLICT;
    }
    put(before.line().map(next::with).orElse(next));
    return WriteResult.DONE;
  }

  @Override
  public synchronized WriteResult rememberEmpty(Bucket read, EmptyHint found) {
    Bucket current = rows.get(read.id());
    if (current == null
        || current.hintVersion() != read.hintVersion()
        || !current.emptyHint().equals(read.emptyHint())) {
      return WriteResult.CONFLICT;
    }
    put(with(current, Optional.of(found), current.hintVersion()));
    return WriteResult.DONE;
  }

  @Override
  public synchronized void forgetEmpty(BucketId id) {
    find(id).ifPresent(found -> put(with(found, Optional.empty(), found.hintVersion() + 1)));
  }

  private static Bucket with(Bucket bucket, Optional<EmptyHint> hint, long hintVersion) {
    return new Bucket(
        bucket.id(),
        bucket.spec(),
        bucket.ledger(),
        bucket.level(),
        bucket.minted(),
        bucket.mintedInFull(),
        hint,
        bucket.fillState(),
        bucket.line(),
        bucket.version(),
        hintVersion);
  }

  @Override
  public synchronized Optional<Line> changeLine(BucketId id, Optional<Line> read, Line next) {
    Optional<Line> current = find(id).flatMap(Bucket::line);
    boolean isSameLine = read.filter(line -> line.epoch() == next.epoch()).isPresent();
    boolean isUnchanged =
        isSameLine
            ? current.map(line -> line.withIssued(0)).equals(read.map(line -> line.withIssued(0)))
            : current.equals(read);
    long taken = current.map(Line::issued).orElse(0L) - read.map(Line::issued).orElse(0L);
    Optional<Bucket> changed =
        find(id)
            .filter(bucket -> isUnchanged)
            .map(bucket -> bucket.with(next.withIssued(next.issued() + taken)));
    changed.ifPresent(this::put);
    return changed.flatMap(Bucket::line);
  }

  @Override
  public synchronized Optional<Line> takePlaces(BucketId id, Line read, int count) {
    return updateLine(id, read.epoch(), line -> line.withIssued(line.issued() + count))
        .map(line -> read.withIssued(line.issued()));
  }

  @Override
  public synchronized WriteResult clearLine(BucketId id, Line read, Instant now) {
    return result(updateLine(id, read.epoch(), line -> line.cleared(now)));
  }

  @Override
  public synchronized void freePlace(BucketId id, Place place) {
    changeFreed(id, line -> line.freed().size() < Line.MAX_FREED, freed -> freed.add(place));
  }

  @Override
  public synchronized WriteResult takeFreed(BucketId id, Place place, Set<Place> passed) {
    return changeFreed(
        id,
        line -> line.freed().contains(place),
        freed -> {
          freed.remove(place);
          freed.removeAll(passed);
        });
  }

  private WriteResult changeFreed(
      BucketId id, Predicate<Line> condition, Consumer<Set<Place>> change) {
    Optional<Line> line = find(id).flatMap(Bucket::line).filter(condition);
    if (line.isEmpty()) {
      return WriteResult.CONFLICT;
    }
    Set<Place> freed = new HashSet<>(line.get().freed());
    change.accept(freed);
    put(find(id).orElseThrow().with(line.get().withFreed(freed)));
    return WriteResult.DONE;
  }

  @Override
  public synchronized WriteResult takeSpare(BucketId id, long epoch, Instant now) {
    boolean hasSpare = find(id).flatMap(Bucket::line).filter(line -> line.spare() > 0).isPresent();
    return hasSpare
        ? result(updateLine(id, epoch, line -> line.withoutSpare(now)))
        : WriteResult.CONFLICT;
  }

  /** Updates a bucket's line; returns it, or nothing if there is no line with this epoch. */
  private Optional<Line> updateLine(BucketId id, long epoch, UnaryOperator<Line> update) {
    Optional<Bucket> found =
        find(id).filter(bucket -> bucket.line().filter(line -> line.epoch() == epoch).isPresent());
    Optional<Bucket> updated =
        found.map(bucket -> bucket.with(update.apply(bucket.line().orElseThrow())));
    updated.ifPresent(this::put);
    return updated.flatMap(Bucket::line);
  }

  private static WriteResult result(Optional<Line> updated) {
    return updated.isPresent() ? WriteResult.DONE : WriteResult.CONFLICT;
  }

  @Override
  public synchronized WriteResult open(Bucket bucket) {
    return rows.putIfAbsent(bucket.id(), bucket) == null ? WriteResult.DONE : WriteResult.CONFLICT;
  }

  @Override
  public synchronized BucketRows list(TenantId tenant) {
    return new BucketRows(
        rows.values().stream()
            .filter(bucket -> bucket.id().tenant().equals(tenant))
            .sorted(Comparator.comparing(bucket -> bucket.id().action()))
            .toList(),
        Map.of(),
        List.of());
  }

  @Override
  public synchronized Page<BucketId> due(
      Shard shard, Instant now, Optional<String> cursor, int max) {
    List<BucketId> found =
        rows.values().stream()
            .filter(bucket -> bucket.shardDueAt().filter(turn -> !turn.isAfter(now)).isPresent())
            .map(Bucket::id)
            .filter(id -> Shard.of(id.tenant()).equals(shard))
            .sorted(Comparator.comparing(BucketId::toString))
            .filter(id -> cursor.filter(last -> id.toString().compareTo(last) <= 0).isEmpty())
            .limit(max + 1L)
            .toList();
    return found.size() <= max
        ? new Page<>(found, Optional.empty())
        : new Page<>(found.subList(0, max), Optional.of(found.get(max - 1).toString()));
  }

  @Override
  public synchronized void remove(BucketId id) {
    rows.remove(id);
  }

  @Override
  public void removeStray(TenantId tenant, String name) {
    // Every row is a bucket.
  }
}
