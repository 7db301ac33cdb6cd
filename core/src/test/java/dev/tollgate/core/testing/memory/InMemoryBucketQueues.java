package dev.tollgate.core.testing.memory;

import dev.tollgate.core.Page;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.QueueCreation;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Creates and deletes the queues of an {@link InMemoryTokenQueue}. */
public final class InMemoryBucketQueues implements BucketQueues {
  private static final Duration BLOCKED = Duration.ofSeconds(60);

  private final InMemoryTokenQueue queue;
  private final InstantSource clock;
  private final Outage outage = new Outage();
  private final Map<BucketId, Instant> deletedAt = new HashMap<>();
  private final Set<BucketId> foreign = new HashSet<>();

  /** Creates a view of the queues of {@code queue}. */
  public InMemoryBucketQueues(InMemoryTokenQueue queue, InstantSource clock) {
    this.queue = queue;
    this.clock = clock;
  }

  /** The outage of creations and deletions. */
  public Outage outage() {
    return outage;
  }

  @Override
  public synchronized QueueCreation ensure(BucketId id, Duration lifetime) {
    outage.check("ensure");
    Instant deleted = deletedAt.getOrDefault(id, Instant.MIN);
    if (clock.instant().minus(BLOCKED).isBefore(deleted)) {
      return QueueCreation.RECENTLY_DELETED;
    }
    QueueCreation made = queue.createQueue(id) ? QueueCreation.CREATED : QueueCreation.EXISTED;
    foreign.remove(id);
    queue.setLifetime(id, lifetime);
    return made;
  }

  @Override
  public synchronized void setLifetime(BucketId id, Duration lifetime) {
    outage.check("setLifetime");
    queue.setLifetime(id, lifetime);
  }

  @Override
  public synchronized Optional<Duration> lifetime(BucketId id) {
    outage.check("lifetime");
    return queue.has(id) ? Optional.of(queue.lifetime(id)) : Optional.empty();
  }

  @Override
  public synchronized Page<BucketId> list(Optional<String> cursor, int max) {
    outage.check("list");
    return Pages.of(queue.buckets(), BucketId::toString, cursor, max);
  }

  @Override
  public synchronized Owner owner(BucketId id) {
    outage.check("owner");
    if (!queue.has(id)) {
      return Owner.NO_QUEUE;
    }
    return foreign.contains(id) ? Owner.OTHER : Owner.THIS_DEPLOYMENT;
  }

  /** Creates a foreign queue with the name of the bucket's queue. */
  public synchronized void createForeignQueue(BucketId id) {
    queue.createQueue(id);
    foreign.add(id);
  }

  @Override
  public synchronized void delete(BucketId id) {
    outage.check("delete");
    if (queue.delete(id)) {
      deletedAt.put(id, clock.instant());
    }
  }
}
