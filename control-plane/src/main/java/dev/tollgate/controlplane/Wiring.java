package dev.tollgate.controlplane;

import com.amazonaws.services.lambda.runtime.LambdaRuntime;
import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.controlplane.conditions.ConditionWatch;
import dev.tollgate.controlplane.doctor.TokenWatch;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Threads;
import dev.tollgate.core.alarm.Alarms;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.audit.AuditNotes;
import dev.tollgate.core.enforcement.AdmitAllSwitch;
import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.fanout.SelfInvocation;
import dev.tollgate.core.history.History;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.message.DeadLetters;
import dev.tollgate.core.message.PushQueue;
import dev.tollgate.core.message.Pushes;
import java.time.InstantSource;
import java.util.Map;

/** Builds the control plane over AWS. */
final class Wiring {
  /** Tenants that are processed in parallel. The threads mostly wait for responses. */
  private static final int WORKERS = 16;

  private final AwsEnvironment aws;
  private final InstantSource clock;

  /** A wiring with these environment variables. */
  Wiring(Map<String, String> environment, InstantSource clock) {
    this.aws = new AwsEnvironment(environment, clock, line -> LambdaRuntime.getLogger().log(line));
    this.clock = clock;
  }

  /**
   * The idempotency keys of processed requests.
   *
   * @throws IllegalStateException if an environment variable is missing
   */
  IdempotencyKeys idempotencyKeys() {
    return aws.idempotencyKeys();
  }

  /**
   * What happened to tenants.
   *
   * @throws IllegalStateException if an environment variable is missing
   */
  History history() {
    return aws.history();
  }

  /**
   * The audit.
   *
   * @throws IllegalStateException if an environment variable is missing
   */
  AuditLog auditLog() {
    return aws.auditLog();
  }

  /** The alarms of the deployment. */
  Alarms alarms() {
    return aws.alarms();
  }

  /**
   * The switch that lifts all limits.
   *
   * @throws IllegalStateException if an environment variable is missing
   */
  AdmitAllSwitch admitAllSwitch() {
    return aws.admitAllSwitch();
  }

  /**
   * The dead letters of tenants.
   *
   * @throws IllegalStateException if an environment variable is missing
   */
  DeadLetters deadLetters() {
    return aws.deadLetters();
  }

  /**
   * Where acts are recorded that change no settings.
   *
   * @throws IllegalStateException if an environment variable is missing
   */
  AuditNotes auditNotes() {
    return aws.auditNotes();
  }

  /**
   * Pushes to sessions.
   *
   * @throws IllegalStateException if an environment variable is missing
   */
  Pushes pushes() {
    return aws.pushes(Threads.unbounded("sockets"));
  }

  /**
   * The queue of pushes to whole tenants.
   *
   * @throws IllegalStateException if an environment variable is missing
   */
  PushQueue pushQueue() {
    return aws.pushQueue();
  }

  /**
   * The watch over the conditions of tenants.
   *
   * @throws IllegalStateException if an environment variable is missing
   */
  ConditionWatch conditionWatch(ControlPlane controlPlane) {
    Ports ports = controlPlane.ports();
    return new ConditionWatch(
        new ConditionWatch.Rows(ports.tenants(), ports.connections(), history(), aws.conditions()),
        controlPlane.catalog(),
        controlPlane.parallel());
  }

  /**
   * The watch over the tokens of tenants.
   *
   * @throws IllegalStateException if an environment variable is missing
   */
  TokenWatch tokenWatch(ControlPlane controlPlane) {
    return new TokenWatch(aws.activityWithOwnRole(), controlPlane.parallel());
  }

  /** Requests to the function with this ARN. */
  SelfInvocation<Chunk> selfInvocation(String functionArn) {
    return aws.selfInvocation(functionArn);
  }

  /**
   * The control plane.
   *
   * @throws IllegalStateException if an environment variable is missing
   */
  ControlPlane controlPlane() {
    Ports ports =
        new Ports(
            aws.tenants(),
            aws.tiers(),
            aws.buckets(),
            aws.bucketsWithOwnRole(),
            aws.tokenQueue(),
            aws.bucketQueues(),
            aws.fillSchedules(),
            aws.windowSchedules(),
            aws.silos(),
            aws.siloQueues(),
            aws.siloFunctions(),
            aws.sessions(),
            aws.connections(),
            aws.activity(),
            aws.sockets(),
            aws.credentialsPolicy());
    return new ControlPlane(
        ports,
        aws.release(),
        aws.connectionQuota(),
        Pause.real(),
        Threads.upTo(WORKERS, "tenants"),
        aws.author(),
        clock);
  }
}
