package dev.tollgate.producer;

import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.Threads;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.bucket.fill.ShardMaintenance;
import dev.tollgate.core.provisioning.ReconcileRequests;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.Executor;

/** Builds the use cases of the function over AWS. */
final class Wiring {
  /** Buckets that are filled in parallel. The threads mostly wait for responses. */
  private static final int PARALLEL_TURNS = 16;

  private final AwsEnvironment aws;
  private final InstantSource clock;
  private final Executor executor = Threads.upTo(PARALLEL_TURNS, "turns");

  Wiring(Map<String, String> environment, InstantSource clock) {
    this.aws = new AwsEnvironment(environment, clock);
    this.clock = clock;
  }

  /** The turns of buckets whose schedules invoke {@code ownArn}. */
  BucketMaintenance turns(String ownArn) {
    return new BucketMaintenance(
        aws.buckets(),
        aws.tokenQueue(),
        aws.bucketQueues(),
        aws.fillSchedules(ownArn),
        new ReconcileRequests(aws.tenants()),
        clock);
  }

  ShardMaintenance shardTurn(BucketMaintenance turns) {
    return new ShardMaintenance(aws.buckets(), turns, executor, clock);
  }
}
