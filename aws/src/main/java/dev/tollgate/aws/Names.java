package dev.tollgate.aws;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Shard;

/**
 * What a bucket's queue and schedule, and a silo's queues and function are called. Neither a
 * tenant's name nor an action's has an underscore, so no two buckets share a name, nor a bucket and
 * a silo.
 *
 * @param prefix keeps deployments in one account apart; may be empty
 */
record Names(String prefix) {
  String queue(BucketId bucket) {
    return prefix + bucket.action() + "_" + bucket.tenant() + "_token_bucket";
  }

  String schedule(BucketId bucket) {
    return prefix + bucket.action() + "_" + bucket.tenant();
  }

  /** The name of a shard's schedule; a bucket's has an underscore where this has none. */
  String schedule(Shard shard) {
    return shard.toString();
  }

  String siloQueue(TenantId tenant) {
    return siloFunction(tenant) + ".fifo";
  }

  String siloDeadLetters(TenantId tenant) {
    return siloFunction(tenant) + "_dead.fifo";
  }

  String siloFunction(TenantId tenant) {
    return prefix + "silo_" + tenant;
  }
}
