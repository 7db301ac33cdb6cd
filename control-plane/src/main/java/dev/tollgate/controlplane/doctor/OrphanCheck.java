package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.doctor.Finding.Deviation;
import dev.tollgate.controlplane.doctor.Finding.Resource;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.provisioning.BucketQueues.Owner;
import dev.tollgate.core.tenant.TenantStatus;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Checks whether an existing queue or schedule belongs to a bucket. A bucket's row is written
 * before its queue and schedule are created, and removed after them. So a queue or schedule is an
 * orphan if its bucket has no row and no tenant desires the bucket. The check reads the row before
 * the queue or schedule. If another process removes all three during the check, there is no
 * finding.
 */
final class OrphanCheck implements Check {
  private final Ports ports;
  private final TenantLifecycle lifecycle;
  private final Resource resource;
  private final BucketId id;
  private final Function<BucketId, Owner> owner;
  private final Consumer<BucketId> delete;

  private OrphanCheck(
      Ports ports,
      TenantLifecycle lifecycle,
      Resource resource,
      BucketId id,
      Function<BucketId, Owner> owner,
      Consumer<BucketId> delete) {
    this.ports = ports;
    this.lifecycle = lifecycle;
    this.resource = resource;
    this.id = id;
    this.owner = owner;
    this.delete = delete;
  }

  static OrphanCheck ofQueue(Ports ports, TenantLifecycle lifecycle, BucketId id) {
    return new OrphanCheck(
        ports, lifecycle, Resource.QUEUE, id, ports.queues()::owner, ports.queues()::delete);
  }

  /** All schedules are in this deployment's own group, so this deployment has created them. */
  static OrphanCheck ofSchedule(Ports ports, TenantLifecycle lifecycle, BucketId id) {
    return new OrphanCheck(
        ports,
        lifecycle,
        Resource.SCHEDULE,
        id,
        bucket -> ports.schedules().has(bucket) ? Owner.THIS_DEPLOYMENT : Owner.NO_QUEUE,
        ports.schedules()::delete);
  }

  @Override
  public List<Finding> findings() {
    if (belongs()) {
      return List.of();
    }
    String actual = "a " + resource.key() + " without a bucket";
    return switch (owner.apply(id)) {
      case NO_QUEUE -> List.of();
      case THIS_DEPLOYMENT -> List.of(orphan(actual + " (expected: none)"));
      case OTHER -> List.of(orphan(actual + " and without this deployment's tag (expected: none)"));
    };
  }

  private Finding orphan(String detail) {
    return Finding.of(Deviation.ORPHANED, resource, id, detail);
  }

  /** Whether a bucket may own the resource. An unreadable row counts as an owner. */
  private boolean belongs() {
    try {
      return isDesired();
    } catch (UnreadableRow unreadable) {
      return true;
    }
  }

  private boolean isDesired() {
    return ports.buckets().find(id).isPresent()
        || ports
            .tenants()
            .find(id.tenant())
            .filter(tenant -> tenant.status() != TenantStatus.OFFBOARDING)
            .filter(tenant -> tenant.buckets().containsKey(id.action()))
            .isPresent();
  }

  /**
   * {@inheritDoc}
   *
   * <p>A tenant may begin to need the resource between the check and the deletion. In that case the
   * tenant is reconciled, which creates the resource again.
   */
  @Override
  public List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation) {
    return Collections.nCopies(findings.size(), repair(invocation));
  }

  private ReconcileOutcome repair(Invocation invocation) {
    if (belongs()) {
      return new ReconcileOutcome.Settled();
    }
    if (owner.apply(id) == Owner.OTHER) {
      return new ReconcileOutcome.Pending(
          List.of("it lacks this deployment's tag; delete it by hand if it is unused"));
    }
    delete.accept(id);
    return belongs() ? lifecycle.restore(id.tenant(), invocation) : new ReconcileOutcome.Settled();
  }
}
