package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.doctor.Finding.Kind;
import dev.tollgate.controlplane.doctor.Finding.Resource;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.provisioning.BucketQueues.Maker;
import dev.tollgate.core.tenant.TenantStatus;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Whether a queue or a schedule that is there belongs to a bucket. A bucket's row is written before
 * they are made and removed after them; so without a row, or a tenant that is to have one, they
 * belong to nobody. What is read first is the row: when it is gone, they are too, if somebody
 * removes all three at this moment.
 */
final class OrphanCheck implements Check {
  private final Ports ports;
  private final TenantLifecycle lifecycle;
  private final Resource resource;
  private final BucketId id;
  private final Function<BucketId, Maker> maker;
  private final Consumer<BucketId> delete;

  private OrphanCheck(
      Ports ports,
      TenantLifecycle lifecycle,
      Resource resource,
      BucketId id,
      Function<BucketId, Maker> maker,
      Consumer<BucketId> delete) {
    this.ports = ports;
    this.lifecycle = lifecycle;
    this.resource = resource;
    this.id = id;
    this.maker = maker;
    this.delete = delete;
  }

  static OrphanCheck ofQueue(Ports ports, TenantLifecycle lifecycle, BucketId id) {
    return new OrphanCheck(
        ports, lifecycle, Resource.QUEUE, id, ports.queues()::maker, ports.queues()::delete);
  }

  /** Schedules stand in the deployment's own group, so nobody else has made them. */
  static OrphanCheck ofSchedule(Ports ports, TenantLifecycle lifecycle, BucketId id) {
    return new OrphanCheck(
        ports,
        lifecycle,
        Resource.SCHEDULE,
        id,
        bucket -> ports.schedules().has(bucket) ? Maker.THIS_DEPLOYMENT : Maker.NOBODY,
        ports.schedules()::delete);
  }

  @Override
  public List<Finding> findings() {
    if (belongs()) {
      return List.of();
    }
    String what = "a " + resource.key() + " of no bucket";
    return switch (maker.apply(id)) {
      case NOBODY -> List.of();
      case THIS_DEPLOYMENT -> List.of(orphan(what + " (expected: none)"));
      case SOMEBODY_ELSE ->
          List.of(orphan(what + ", without this deployment's tag (expected: none)"));
    };
  }

  private Finding orphan(String detail) {
    return Finding.of(Kind.ORPHANED, resource, id, detail);
  }

  /** A row that cannot be read is no reason to delete what may be its. */
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
   * <p>Somebody may begin to need it between the look and the deletion. Then it is missing after
   * that, and its tenant is brought about once more.
   */
  @Override
  public List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation) {
    return Collections.nCopies(findings.size(), repair(invocation));
  }

  private ReconcileOutcome repair(Invocation invocation) {
    if (belongs()) {
      return new ReconcileOutcome.Settled();
    }
    if (maker.apply(id) == Maker.SOMEBODY_ELSE) {
      return new ReconcileOutcome.Pending(
          List.of("it lacks this deployment's tag; if nobody needs it, delete it by hand"));
    }
    delete.accept(id);
    return belongs() ? lifecycle.restore(id.tenant(), invocation) : new ReconcileOutcome.Settled();
  }
}
