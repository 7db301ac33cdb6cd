package dev.tollgate.e2e.engines;

import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.provisioning.WindowSchedules;
import dev.tollgate.core.testing.limiter.TollgateLimiter;
import dev.tollgate.local.LocalCloud;
import dev.tollgate.local.Options;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.faults.Faults;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

/**
 * A local cloud with only a Limit table and the queues that a test creates, and Tollgate's adapters
 * for it. A fault plan may apply to every request.
 */
final class BucketCloud implements AutoCloseable {
  private static final Path ASSEMBLY = Path.of("src/test/resources/engines.cdk.out");
  private static final String TENANT_ROLE = "arn:aws:iam::000000000000:role/Tenant";

  private final LocalCloud cloud;
  private final Map<String, String> environment;
  private final AwsEnvironment adapters;

  private BucketCloud(LocalCloud cloud, InstantSource clock) {
    this.cloud = cloud;
    environment = new HashMap<>(cloud.environmentOf("Own"));
    environment.put("QUEUE_URL_PREFIX", "https://sqs.us-east-1.amazonaws.com/000000000000/");
    environment.put("TENANT_ROLE_ARN", TENANT_ROLE);
    environment.put("LIMIT_TABLE", "Limit");
    environment.put("DEPLOYMENT", "Tollgate");
    environment.put("SCHEDULE_GROUP", "default");
    environment.put("SCHEDULE_ROLE_ARN", TENANT_ROLE);
    environment.put("SCHEDULE_DEAD_LETTER_ARN", "arn:aws:sqs:us-east-1:000000000000:none");
    environment.put("SWEEP_ARN", "arn:aws:lambda:us-east-1:000000000000:function:none");
    environment.put("TOKEN_PRODUCER_ARN", "arn:aws:lambda:us-east-1:000000000000:function:none");
    adapters = new AwsEnvironment(environment, clock, line -> {});
  }

  /** Starts an empty cloud. */
  static BucketCloud start(FaultPlan plan, InstantSource clock) {
    return new BucketCloud(
        LocalCloud.start(Options.inMemory(ASSEMBLY, clock).withoutIam().with(plan)), clock);
  }

  /** Tollgate's adapters. */
  TollgateLimiter.Ports ports() {
    return new TollgateLimiter.Ports(
        adapters.buckets(), adapters.tokenQueue(), adapters.bucketQueues());
  }

  /** Tollgate's schedules of windows, whose function does not exist. */
  WindowSchedules windows() {
    return adapters.windowSchedules().orElseThrow();
  }

  /** The environment of a program that claims tokens here. Requests for fills have no effect. */
  Map<String, String> environment() {
    return Map.copyOf(environment);
  }

  /** The number of injected faults so far, by kind. */
  Faults faults() {
    return cloud.faults();
  }

  /** The AWS calls so far. */
  RecordedRequests requests() {
    return cloud.requests();
  }

  @Override
  public void close() {
    cloud.close();
  }
}
