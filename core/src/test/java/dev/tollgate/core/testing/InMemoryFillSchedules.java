package dev.tollgate.core.testing;

import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.provisioning.FillSchedules;
import java.util.HashMap;
import java.util.Map;

/** Schedules in memory. They do not fire. */
public final class InMemoryFillSchedules implements FillSchedules {
  private final Map<BucketId, Scheduled> schedules = new HashMap<>();
  private final Outage outage = new Outage();

  /** What stops schedules from being put and deleted. */
  public Outage outage() {
    return outage;
  }

  /** What stands. */
  public synchronized Map<BucketId, Scheduled> schedules() {
    return Map.copyOf(schedules);
  }

  @Override
  public synchronized void put(BucketId id, BucketSpec spec, boolean enabled) {
    outage.check("put");
    schedules.put(id, new Scheduled(spec, enabled));
  }

  @Override
  public synchronized void delete(BucketId id) {
    outage.check("delete");
    schedules.remove(id);
  }

  /** What a schedule was last put with. */
  public record Scheduled(BucketSpec spec, boolean enabled) {}
}
