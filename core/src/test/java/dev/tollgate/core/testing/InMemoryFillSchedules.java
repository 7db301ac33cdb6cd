package dev.tollgate.core.testing;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.Upkeep;
import dev.tollgate.core.provisioning.FillSchedules;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Schedules in memory. They do not fire. */
public final class InMemoryFillSchedules implements FillSchedules {
  private final Map<BucketId, Scheduled> schedules = new HashMap<>();
  private final Set<Shard> shards = new HashSet<>();
  private final Outage outage = new Outage();

  /** What stops schedules from being put and deleted. */
  public Outage outage() {
    return outage;
  }

  /** What stands. */
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
    if (bucket.spec().filling().mode() == FillMode.SHARED) {
      schedules.remove(bucket.id());
    } else {
      schedules.put(bucket.id(), new Scheduled(bucket.spec(), bucket.upkeep().state()));
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

  /** What a schedule was last put with. */
  public record Scheduled(BucketSpec spec, Upkeep.State state) {
    /** Whether it fires. */
    public boolean enabled() {
      return state == Upkeep.State.PRODUCED || state == Upkeep.State.DIRECT;
    }
  }
}
