package dev.tollgate.controlplane;

import dev.tollgate.controlplane.doctor.Doctor;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.reconcile.Reconciler;
import dev.tollgate.controlplane.silo.ReleaseRollOut;
import dev.tollgate.controlplane.silo.SiloSteps;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.controlplane.tiers.TierCatalog;
import dev.tollgate.controlplane.tiers.TierRollOut;
import dev.tollgate.core.Pause;
import dev.tollgate.core.audit.CurrentAuthor;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.tenant.Release;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.concurrent.ExecutorService;

/** Builds the use cases of the control plane over its ports. */
final class ControlPlane {
  private final Ports ports;
  private final InstantSource clock;
  private final CurrentAuthor author;
  private final SessionLifecycle sessions;
  private final Reconciler reconciler;
  private final TenantLifecycle lifecycle;
  private final TierRollOut tierRollOut;
  private final TierCatalog catalog;
  private final Doctor doctor;
  private final ReleaseRollOut releaseRollOut;
  private final ExecutorService workers;
  private final ParallelTasks parallel;

  /**
   * A control plane over these ports.
   *
   * @param release the release that the functions of silos run
   * @param connectionQuota how many new WebSocket connections a second the account may open
   * @param workers run parallel tasks
   * @param author names who makes the changes; each request sets it
   */
  ControlPlane(
      Ports ports,
      Release release,
      int connectionQuota,
      Pause pause,
      ExecutorService workers,
      CurrentAuthor author,
      InstantSource clock) {
    this(ports, release, connectionQuota, TierRollOut.MAX_RANGE, pause, workers, author, clock);
  }

  /** A control plane whose roll-outs have ranges of this many tenants. */
  ControlPlane(
      Ports ports,
      Release release,
      int connectionQuota,
      int rollOutRange,
      Pause pause,
      ExecutorService workers,
      CurrentAuthor author,
      InstantSource clock) {
    this.author = author;
    this.ports = ports;
    this.clock = clock;
    this.workers = workers;
    this.parallel = new ParallelTasks(workers);
    this.sessions =
        new SessionLifecycle(
            ports.sessions(), ports.connections(), ports.sockets(), new SecureRandom(), clock);
    this.reconciler =
        new Reconciler(
            ports,
            new BucketFill(ports.buckets(), ports.tokens(), clock),
            sessions,
            new SiloSteps(ports, release, pause, clock),
            pause,
            clock);
    this.lifecycle = new TenantLifecycle(ports, reconciler, clock);
    this.tierRollOut =
        new TierRollOut(
            rollOutRange, ports.tenants(), ports.tiers(), lifecycle, parallel, pause, clock);
    this.catalog = new TierCatalog(ports.tenants(), ports.tiers(), tierRollOut);
    this.doctor = new Doctor(ports, lifecycle, release, connectionQuota, parallel, pause, clock);
    this.releaseRollOut = new ReleaseRollOut(ports, release, parallel);
  }

  Ports ports() {
    return ports;
  }

  CurrentAuthor author() {
    return author;
  }

  InstantSource clock() {
    return clock;
  }

  SessionLifecycle sessions() {
    return sessions;
  }

  Reconciler reconciler() {
    return reconciler;
  }

  TenantLifecycle lifecycle() {
    return lifecycle;
  }

  TierCatalog catalog() {
    return catalog;
  }

  TierRollOut tierRollOut() {
    return tierRollOut;
  }

  Doctor doctor() {
    return doctor;
  }

  ReleaseRollOut releaseRollOut() {
    return releaseRollOut;
  }

  ExecutorService workers() {
    return workers;
  }

  ParallelTasks parallel() {
    return parallel;
  }
}
