package dev.tollgate.core.testing.memory;

import dev.tollgate.core.Page;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.fill.FillSchedules;
import dev.tollgate.core.provisioning.Drift;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Schedules in memory that never fire. */
public final class InMemoryFillSchedules implements FillSchedules {
  private final Map<BucketId, Scheduled> schedules = new HashMap<>();
  private final Set<Shard> shards = new HashSet<>();
  private final Set<Shard> disabled = new HashSet<>();
  private final Outage outage = new Outage();

  /** The outage of writes and deletions. */
  public Outage outage() {
    return outage;
  }

  /** The existing schedules. */
  public synchronized Map<BucketId, Scheduled> schedules() {
    return Map.copyOf(schedules);
  }

  /** The shards that have a schedule. */
  public synchronized Set<Shard> shards() {
    return Set.copyOf(shards);
  }

  @Override
  public synchronized void put(Bucket bucket) {
    outage.check("put");
    if (bucket.spec().fillPolicy().mode() == FillMode.SHARED) {
      schedules.remove(bucket.id());
    } else {
      schedules.put(bucket.id(), new Scheduled(bucket.spec(), bucket.fillState().state()));
    }
  }

  @Override
  public synchronized void put(Shard shard) {
    outage.check("put");
    shards.add(shard);
  }

  @Override
  public synchronized void delete(BucketId id) {
    outage.check("delete");
    schedules.remove(id);
  }

  @Override
  public synchronized void delete(Shard shard) {
    outage.check("delete");
    shards.remove(shard);
    disabled.remove(shard);
  }

  @Override
  public synchronized Drift compare(Bucket bucket) {
    outage.check("compare");
    Optional<Scheduled> current = Optional.ofNullable(schedules.get(bucket.id()));
    if (bucket.spec().fillPolicy().mode() == FillMode.SHARED) {
      return Drift.of(current.isPresent() ? List.of("a schedule (expected: none)") : List.of());
    }
    Scheduled wanted = new Scheduled(bucket.spec(), bucket.fillState().state());
    return current
        .map(
            found ->
                Drift.of(
                    found.description().equals(wanted.description())
                        ? List.of()
                        : List.of(
                            found.description() + " (expected: " + wanted.description() + ")")))
        .orElseGet(Drift.Missing::new);
  }

  @Override
  public synchronized Drift compare(Shard shard) {
    outage.check("compare");
    return !shards.contains(shard)
        ? new Drift.Missing()
        : Drift.of(
            disabled.contains(shard) ? List.of("state: DISABLED (expected: ENABLED)") : List.of());
  }

  @Override
  public synchronized boolean has(BucketId id) {
    outage.check("has");
    return schedules.containsKey(id);
  }

  @Override
  public synchronized Page<BucketId> list(Optional<String> cursor, int max) {
    outage.check("list");
    return Pages.of(schedules.keySet(), BucketId::toString, cursor, max);
  }

  /** Writes a schedule by hand, possibly over an existing one. */
  public synchronized void edit(BucketId id, Scheduled scheduled) {
    schedules.put(id, scheduled);
  }

  /** Disables a shard's schedule by hand. */
  public synchronized void disable(Shard shard) {
    disabled.add(shard);
  }

  /** The last written state of a schedule. */
  public record Scheduled(BucketSpec spec, FillState.State state) {
    /** Whether the schedule is enabled. */
    public boolean enabled() {
      return state == FillState.State.PRODUCED || state == FillState.State.DIRECT;
    }

    private String description() {
      return (enabled() ? "fires" : "rests")
          + (state == FillState.State.DIRECT ? ", sends " + spec.rate().ceiling() : ", invokes");
    }
  }
}
