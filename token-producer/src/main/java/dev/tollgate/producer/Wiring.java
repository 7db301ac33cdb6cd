package dev.tollgate.producer;

import dev.tollgate.aws.AwsEnvironment;
import dev.tollgate.core.bucket.BucketFill;
import java.time.InstantSource;
import java.util.Map;

/** Puts the function together from its environment. */
final class Wiring {
  private final AwsEnvironment aws;
  private final InstantSource clock;

  Wiring(Map<String, String> environment, InstantSource clock) {
    this.aws = new AwsEnvironment(environment, clock);
    this.clock = clock;
  }

  BucketFill bucketFill() {
    return new BucketFill(aws.buckets(), aws.tokenQueue(), clock);
  }
}
