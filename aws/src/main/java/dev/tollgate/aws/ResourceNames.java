package dev.tollgate.aws;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Shard;
import java.util.Optional;

/**
 * Names of the resources of buckets, shards and silos. Tenant ids and actions contain no
 * underscore, so two buckets never share a name, and neither do a bucket and a silo.
 *
 * @param prefix distinguishes deployments in one account; may be empty
 */
public record ResourceNames(String prefix) {
  private static final String QUEUE = "_token_bucket";

  /** The queue of a bucket. */
  public String queue(BucketId bucket) {
    return prefix + bucket.action() + "_" + bucket.tenant() + QUEUE;
  }

  /** The bucket whose queue has this name; empty if no bucket of this deployment can have it. */
  public Optional<BucketId> findBucketByQueue(String queue) {
    return queue.endsWith(QUEUE)
        ? findBucketBySchedule(queue.substring(0, queue.length() - QUEUE.length()))
        : Optional.empty();
  }

  /** The bucket whose schedule has this name; empty if no bucket of this deployment can have it. */
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
    } catch (InvalidValue noBucket) {
      return Optional.empty();
    }
  }

  /** The schedule of a bucket. */
  public String schedule(BucketId bucket) {
    return prefix + bucket.action() + "_" + bucket.tenant();
  }

  /** The schedule of a shard. It has no underscore, so it differs from every bucket's schedule. */
  public String schedule(Shard shard) {
    return shard.toString();
  }

  /** The message queue of a silo. */
  public String siloQueue(TenantId tenant) {
    return siloFunction(tenant) + ".fifo";
  }

  /** The dead-letter queue of a silo. */
  public String siloDeadLetters(TenantId tenant) {
    return siloFunction(tenant) + "_dead.fifo";
  }

  /** The function of a silo. */
  public String siloFunction(TenantId tenant) {
    return prefix + "silo_" + tenant;
  }
}
