package dev.tollgate.producer;

import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.Threads;
import dev.tollgate.core.audit.CurrentAuthor;
import dev.tollgate.core.bucket.fill.AdaptiveExecutor;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.bucket.fill.ShardMaintenance;
import dev.tollgate.core.provisioning.ReconcileRequests;
import java.time.InstantSource;
import java.util.Map;

/** Builds the use cases of the function over AWS. */
final class Wiring {
  private final AwsEnvironment aws;
  private final InstantSource clock;
  private final AdaptiveExecutor executor =
      new AdaptiveExecutor(Threads.resizable(AdaptiveExecutor.MOST, "buckets"));

  Wiring(Map<String, String> environment, InstantSource clock) {
    this.aws = AwsEnvironment.withOwnRole(environment, clock);
    this.clock = clock;
  }

  /** The author of the changes of tenants. */
  CurrentAuthor author() {
    return aws.author();
  }

  /** The maintenance of buckets whose schedules invoke {@code ownArn}. */
  BucketMaintenance maintenance(String ownArn) {
    return new BucketMaintenance(
        aws.buckets(),
        aws.tokenQueue(),
        aws.bucketQueues(),
        aws.fillSchedules(ownArn),
        new ReconcileRequests(aws.tenants()),
        clock);
  }

  /** The maintenance of shards whose turns {@code ownArn} continues. */
  ShardMaintenance shardMaintenance(BucketMaintenance maintenance, String ownArn) {
    return new ShardMaintenance(
        aws.buckets(), maintenance, aws.selfInvocation(ownArn), executor, clock);
  }
}
