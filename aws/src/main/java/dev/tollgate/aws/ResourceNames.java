package dev.tollgate.aws;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Shard;
import java.util.Optional;

/**
 * What a bucket's queue and schedule, and a silo's queues and function are called. Neither a
 * tenant's name nor an action's has an underscore, so no two buckets share a name, nor a bucket and
 * a silo.
 *
 * @param prefix keeps deployments in one account apart; may be empty
 */
public record ResourceNames(String prefix) {
  private static final String QUEUE = "_token_bucket";

  public String queue(BucketId bucket) {
    return prefix + bucket.action() + "_" + bucket.tenant() + QUEUE;
  }

  /** The bucket whose queue is called so; empty if none of this deployment's is. */
  public Optional<BucketId> findBucketByQueue(String queue) {
    return queue.endsWith(QUEUE)
        ? findBucketBySchedule(queue.substring(0, queue.length() - QUEUE.length()))
        : Optional.empty();
  }

  /** The bucket whose schedule is called so; empty if none of this deployment's is. */
  public Optional<BucketId> findBucketBySchedule(String schedule) {
    String[] parts =
        schedule.startsWith(prefix)
            ? schedule.substring(prefix.length()).split("_", -1)
            : new String[0];
    if (parts.length != 2) {
      return Optional.empty();
    }
    try {
      return Optional.of(new BucketId(new TenantId(parts[1]), new Action(parts[0])));
    } catch (InvalidValue otherwise) {
      return Optional.empty();
    }
  }

  public String schedule(BucketId bucket) {
    return prefix + bucket.action() + "_" + bucket.tenant();
  }

  /** The name of a shard's schedule; a bucket's has an underscore where this has none. */
  public String schedule(Shard shard) {
    return shard.toString();
  }

  public String siloQueue(TenantId tenant) {
    return siloFunction(tenant) + ".fifo";
  }

  public String siloDeadLetters(TenantId tenant) {
    return siloFunction(tenant) + "_dead.fifo";
  }

  public String siloFunction(TenantId tenant) {
    return prefix + "silo_" + tenant;
  }
}
