package dev.tollgate.producer;

import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.Threads;
import dev.tollgate.core.bucket.fill.FillTurn;
import dev.tollgate.core.bucket.fill.ShardTurn;
import dev.tollgate.core.provisioning.ReconcileRequests;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.Executor;

/** Puts the function together from its environment. */
final class Wiring {
  /** Buckets that are filled together; the time goes by waiting for answers. */
  private static final int TURNS_AT_A_TIME = 16;

  private final AwsEnvironment aws;
  private final InstantSource clock;
  private final Executor executor = Threads.upTo(TURNS_AT_A_TIME, "turns");

  Wiring(Map<String, String> environment, InstantSource clock) {
    this.aws = new AwsEnvironment(environment, clock);
    this.clock = clock;
  }

  /** The turns of buckets whose schedules invoke {@code ownArn}. */
  FillTurn turns(String ownArn) {
    return new FillTurn(
        aws.buckets(),
        aws.tokenQueue(),
        aws.bucketQueues(),
        aws.fillSchedules(ownArn),
        new ReconcileRequests(aws.tenants()),
        clock);
  }

  ShardTurn shardTurn(FillTurn turns) {
    return new ShardTurn(aws.buckets(), turns, executor, clock);
  }
}
