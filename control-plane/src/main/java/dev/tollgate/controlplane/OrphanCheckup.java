package dev.tollgate.controlplane;

import dev.tollgate.controlplane.Finding.Kind;
import dev.tollgate.controlplane.Finding.Resource;
import dev.tollgate.core.NewerRow;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.tenant.TenantStatus;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Whether a queue or a schedule that is there belongs to a bucket. A bucket's row is written before
 * they are made and removed after them; so without a row, or a tenant that is to have one, they
 * belong to nobody. What is read first is the row: when it is gone, they are too, if somebody
 * removes all three at this moment.
 */
final class OrphanCheckup implements Checkup {
  private final Ports ports;
  private final TenantLifecycle lifecycle;
  private final Resource resource;
  private final BucketId id;
  private final Predicate<BucketId> stands;
  private final Consumer<BucketId> delete;

  private OrphanCheckup(
      Ports ports,
      TenantLifecycle lifecycle,
      Resource resource,
      BucketId id,
      Predicate<BucketId> stands,
      Consumer<BucketId> delete) {
    this.ports = ports;
    this.lifecycle = lifecycle;
    this.resource = resource;
    this.id = id;
    this.stands = stands;
    this.delete = delete;
  }

  static OrphanCheckup ofQueue(Ports ports, TenantLifecycle lifecycle, BucketId id) {
    return new OrphanCheckup(
        ports,
        lifecycle,
        Resource.QUEUE,
        id,
        bucket -> ports.queues().lifetime(bucket).isPresent(),
        ports.queues()::delete);
  }

  static OrphanCheckup ofSchedule(Ports ports, TenantLifecycle lifecycle, BucketId id) {
    return new OrphanCheckup(
        ports, lifecycle, Resource.SCHEDULE, id, ports.schedules()::has, ports.schedules()::delete);
  }

  @Override
  public List<Finding> findings() {
    String detail = "a " + resource.key() + " of no bucket (expected: none)";
    return belongs() || !stands.test(id)
        ? List.of()
        : List.of(Finding.of(Kind.ORPHANED, resource, id, detail));
  }

  /** A row that a newer release wrote is no reason to delete what may be its. */
  private boolean belongs() {
    try {
      return isDesired();
    } catch (NewerRow newer) {
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
  public List<Outcome> repair(List<Finding> findings, Invocation invocation) {
    return Collections.nCopies(findings.size(), repair(invocation));
  }

  private Outcome repair(Invocation invocation) {
    if (belongs()) {
      return new Outcome.Settled();
    }
    delete.accept(id);
    return belongs() ? lifecycle.restore(id.tenant(), invocation) : new Outcome.Settled();
  }
}
