package dev.tollgate.core.testing.memory;

import dev.tollgate.core.Action;
import dev.tollgate.core.NewerRow;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Buckets in memory. */
public final class InMemoryBuckets implements Buckets {
  /** No action has a smaller name. */
  private static final Action FIRST_ACTION = new Action("a");

  private final NavigableMap<BucketId, Bucket> rows =
      new TreeMap<>(
          Comparator.comparing((BucketId id) -> id.tenant().value())
              .thenComparing(BucketId::action));
  private final Map<BucketId, UnreadableRow> unreadable = new HashMap<>();
  private final Map<TenantId, Set<String>> strays = new HashMap<>();
  private final Outage outage = new Outage();

  /** Corrupts the row of a bucket, so that it can no longer be read. */
  public synchronized void corrupt(BucketId id) {
    unreadable.put(
        id,
        new UnreadableRow(
            "bucket", id.toString(), "version: of type S (expected: a whole number)"));
  }

  /** Replaces the row of a bucket with one of a newer release. */
  public synchronized void writeByNewerRelease(BucketId id) {
    unreadable.put(id, new NewerRow("bucket", id.toString(), 2, 1));
  }

  /** Adds a row among a tenant's buckets whose name is not an action. */
  public synchronized void addStray(TenantId tenant, String name) {
    strays.computeIfAbsent(tenant, none -> new TreeSet<>()).add(name);
  }

  /** Whether the bucket has a row, readable or not. */
  public synchronized boolean has(BucketId id) {
    return rows.containsKey(id) || unreadable.containsKey(id);
  }

  /**
   * The buckets of a tenant, by action.
   *
   * @throws UnreadableRow if a row cannot be read
   */
  synchronized List<Bucket> readableOf(TenantId tenant) {
    BucketRows found = list(tenant);
    found.unreadable().values().stream()
        .findFirst()
        .ifPresent(
            row -> {
              throw row;
            });
    return found.buckets();
  }

  private void check(BucketId id) {
    UnreadableRow row = unreadable.get(id);
    if (row != null) {
      throw row;
    }
  }

  /** The outage of reads and writes. */
  public Outage outage() {
    return outage;
  }

  @Override
  public synchronized Optional<Bucket> find(BucketId id) {
    outage.check("find");
    check(id);
    return Optional.ofNullable(rows.get(id));
  }

  @Override
  public synchronized BucketRows list(TenantId tenant) {
    outage.check("list");
    Map<Action, UnreadableRow> broken = new HashMap<>();
    unreadable.forEach(
        (id, row) -> {
          if (id.tenant().equals(tenant)) {
            broken.put(id.action(), row);
          }
        });
    // A stream would count all rows first.
    List<Bucket> whole = new ArrayList<>();
    for (Bucket bucket : rows.tailMap(new BucketId(tenant, FIRST_ACTION), true).values()) {
      if (!bucket.id().tenant().equals(tenant)) {
        break;
      }
      if (!broken.containsKey(bucket.id().action())) {
        whole.add(bucket);
      }
    }
    return new BucketRows(whole, broken, List.copyOf(strays.getOrDefault(tenant, Set.of())));
  }

  @Override
  public synchronized WriteResult open(Bucket bucket) {
    outage.check("open");
    if (unreadable.containsKey(bucket.id())) {
      return WriteResult.CONFLICT;
    }
    return rows.putIfAbsent(bucket.id(), bucket) == null ? WriteResult.DONE : WriteResult.CONFLICT;
  }

  @Override
  public synchronized WriteResult replace(Bucket next) {
    outage.check("replace");
    Bucket before = rows.get(next.id());
    if (before == null
        || before.version() != next.version() - 1
        || before.hintVersion() != next.hintVersion() - 1) {
      return WriteResult.CONFLICT;
    }
    rows.put(next.id(), before.line().map(next::with).orElse(next));
    return WriteResult.DONE;
  }

  @Override
  public synchronized Optional<Line> changeLine(BucketId id, Optional<Line> read, Line next) {
    outage.check("changeLine");
    Optional<Bucket> stored = Optional.ofNullable(rows.get(id));
    Optional<Line> line = stored.flatMap(Bucket::line);
    boolean isSameLine = read.filter(then -> then.epoch() == next.epoch()).isPresent();
    boolean unchanged =
        isSameLine
            ? line.map(now -> now.withIssued(0)).equals(read.map(then -> then.withIssued(0)))
            : line.equals(read);
    if (stored.isEmpty() || !unchanged) {
      return Optional.empty();
    }
    long taken = line.map(Line::issued).orElse(0L) - read.map(Line::issued).orElse(0L);
    Line written = next.withIssued(next.issued() + taken);
    rows.put(id, stored.get().with(written));
    return Optional.of(written);
  }

  @Override
  public synchronized Optional<Line> takePlaces(BucketId id, Line read, int count) {
    outage.check("takePlaces");
    Optional<Line> next =
        line(id, read.epoch()).map(line -> line.withIssued(line.issued() + count));
    next.ifPresent(line -> rows.computeIfPresent(id, (key, bucket) -> bucket.with(line)));
    return next.map(line -> read.withIssued(line.issued()));
  }

  @Override
  public synchronized WriteResult clearLine(BucketId id, Line read, Instant now) {
    outage.check("clearLine");
    Optional<Line> found = line(id, read.epoch());
    found.ifPresent(
        line -> rows.computeIfPresent(id, (key, bucket) -> bucket.with(line.cleared(now))));
    return found.isPresent() ? WriteResult.DONE : WriteResult.CONFLICT;
  }

  @Override
  public synchronized void freePlace(BucketId id, Place place) {
    outage.check("freePlace");
    changeFreed(id, line -> line.freed().size() < Line.MAX_FREED, freed -> freed.add(place));
  }

  @Override
  public synchronized WriteResult takeFreed(BucketId id, Place place, Set<Place> passed) {
    outage.check("takeFreed");
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
    rows.computeIfPresent(id, (key, bucket) -> bucket.with(line.get().withFreed(freed)));
    return WriteResult.DONE;
  }

  @Override
  public synchronized WriteResult takeSpare(BucketId id, long epoch, Instant now) {
    outage.check("takeSpare");
    Optional<Line> found = line(id, epoch).filter(line -> line.spare() > 0);
    found.ifPresent(
        line -> rows.computeIfPresent(id, (key, bucket) -> bucket.with(line.withoutSpare(now))));
    return found.isPresent() ? WriteResult.DONE : WriteResult.CONFLICT;
  }

  private Optional<Line> line(BucketId id, long epoch) {
    return Optional.ofNullable(rows.get(id))
        .flatMap(Bucket::line)
        .filter(line -> line.epoch() == epoch);
  }

  @Override
  public synchronized WriteResult rememberEmpty(Bucket read, EmptyHint found) {
    outage.check("rememberEmpty");
    Bucket current = rows.get(read.id());
    if (current == null
        || current.hintVersion() != read.hintVersion()
        || !current.emptyHint().equals(read.emptyHint())) {
      return WriteResult.CONFLICT;
    }
    rows.put(read.id(), with(current, Optional.of(found), current.hintVersion()));
    return WriteResult.DONE;
  }

  @Override
  public synchronized void forgetEmpty(BucketId id) {
    outage.check("forgetEmpty");
    rows.computeIfPresent(
        id, (key, current) -> with(current, Optional.empty(), current.hintVersion() + 1));
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
  public synchronized Page<BucketId> due(
      Shard shard, Instant now, Optional<String> cursor, int max) {
    outage.check("due");
    List<BucketId> found =
        rows.values().stream()
            .filter(bucket -> bucket.shardDueAt().filter(turn -> !turn.isAfter(now)).isPresent())
            .filter(bucket -> Shard.of(bucket.id().tenant()).equals(shard))
            .map(Bucket::id)
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
    outage.check("remove");
    rows.remove(id);
    unreadable.remove(id);
  }

  @Override
  public synchronized void removeStray(TenantId tenant, String name) {
    outage.check("removeStray");
    strays.getOrDefault(tenant, new TreeSet<>()).remove(name);
  }
}
