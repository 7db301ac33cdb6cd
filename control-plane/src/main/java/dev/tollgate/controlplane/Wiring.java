package dev.tollgate.controlplane;

import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Threads;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import java.time.InstantSource;
import java.util.Map;

/** Puts the control plane together over AWS. */
final class Wiring {
  /** Tenants that are worked at together; the time goes by waiting for answers. */
  private static final int WORKERS = 8;

  private final AwsEnvironment aws;
  private final InstantSource clock;

  /** A wiring of these environment variables. */
  Wiring(Map<String, String> environment, InstantSource clock) {
    this.aws = new AwsEnvironment(environment, clock);
    this.clock = clock;
  }

  /**
   * The keys of requests that are done once.
   *
   * @throws IllegalStateException if a variable is missing; it names it
   */
  IdempotencyKeys idempotencyKeys() {
    return aws.idempotencyKeys();
  }

  /**
   * The control plane.
   *
   * @throws IllegalStateException if a variable is missing; it names it
   */
  ControlPlane controlPlane() {
    Ports ports =
        new Ports(
            aws.tenants(),
            aws.tiers(),
            aws.buckets(),
            aws.tokenQueue(),
            aws.bucketQueues(),
            aws.fillSchedules(),
            aws.silos(),
            aws.siloQueues(),
            aws.siloFunctions(),
            aws.sessions(),
            aws.connections(),
            aws.activity(),
            aws.sockets());
    return new ControlPlane(
        ports, aws.release(), Pause.real(), Threads.upTo(WORKERS, "crew"), clock);
  }
}
