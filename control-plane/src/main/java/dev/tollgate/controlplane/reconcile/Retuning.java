package dev.tollgate.controlplane.reconcile;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.core.Action;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketRows;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.fill.BucketSchedules;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Applies a tier to a tenant during a roll-out, or a tenant's change of its own. If only limits,
 * rates and capacities change, that takes few requests: the tenant's row is written once, as if it
 * were in effect already, and then the rows of its buckets. The unfinished roll-out records that
 * they may differ.
 *
 * <p>Why no other change is lost: the buckets' rows are read before the tenant's row is replaced,
 * and each is replaced only if it has not changed since. A later change of the tenant reads the
 * buckets after it has written the tenant. So it either overwrites what is written here, or causes
 * a conflict here.
 *
 * <p>Why a crash loses nothing: the roll-out repeats the tenant, compares its buckets' rows with
 * the tenant's row, and reconciles the tenant if they differ.
 */
public final class Retuning {
  private final Ports ports;
  private final Reconciler reconciler;
  private final BucketSchedules schedules;
  private final InstantSource clock;

  /**
   * Applies tiers over these ports.
   *
   * @param reconciler makes all other changes
   */
  public Retuning(Ports ports, Reconciler reconciler, InstantSource clock) {
    this.ports = ports;
    this.reconciler = reconciler;
    this.schedules = new BucketSchedules(ports.buckets(), ports.schedules());
    this.clock = clock;
  }

  /**
   * Replaces a tenant by its next version.
   *
   * @return empty if the tenant has changed since it was read
   */
  public Optional<ReconcileOutcome> replace(Tenant current, Tenant next, Invocation invocation) {
    Optional<List<Bucket>> rows = changesRatesAlone(current, next) ? rows(next) : Optional.empty();
    if (rows.isEmpty()) {
      return ports.tenants().replace(next) == WriteResult.DONE
          ? Optional.of(reconciler.reconcile(next, Optional.of(current), invocation))
          : Optional.empty();
    }
    Tenant inEffect = next.inEffect();
    return ports.tenants().replace(inEffect) == WriteResult.DONE
        ? Optional.of(retune(inEffect, rows.get(), invocation))
        : Optional.empty();
  }

  /**
   * Reconciles a tenant that follows its tier already, if the rows of its buckets differ. A tenant
   * that is pending is left to the sweep.
   *
   * @return empty if the tenant has changed since it was read
   */
  public Optional<ReconcileOutcome> verify(Tenant tenant, Invocation invocation) {
    if (!tenant.isSettled()) {
      return Optional.of(new ReconcileOutcome.Settled());
    }
    boolean active = tenant.status() == TenantStatus.ACTIVE;
    boolean differs =
        ports.rollOutBuckets().list(tenant.id()).buckets().stream()
            .anyMatch(
                row ->
                    isActive(row) != active
                        || !row.spec().equals(tenant.buckets().get(row.id().action())));
    return differs ? reopen(tenant, invocation) : Optional.of(new ReconcileOutcome.Settled());
  }

  private Optional<ReconcileOutcome> reopen(Tenant tenant, Invocation invocation) {
    Tenant pending = tenant.withNextVersion();
    return ports.tenants().replace(pending) == WriteResult.DONE
        ? Optional.of(reconciler.reconcile(pending, Optional.empty(), invocation))
        : Optional.empty();
  }

  private static boolean changesRatesAlone(Tenant current, Tenant next) {
    return current.isSettled()
        && next.status() == TenantStatus.ACTIVE
        && current.isolation() == next.isolation()
        && current.buckets().keySet().equals(next.buckets().keySet())
        && current.buckets().entrySet().stream()
            .allMatch(bucket -> hasSameFilling(bucket.getKey(), bucket.getValue(), next));
  }

  /**
   * Whether neither the queue's nor the schedule's settings follow from the difference, and the
   * next fill, within a minute, may apply it.
   */
  private static boolean hasSameFilling(Action action, BucketSpec current, Tenant next) {
    return Optional.ofNullable(next.buckets().get(action))
        .filter(
            spec ->
                current.fillPolicy().equals(spec.fillPolicy())
                        && current.fillPolicy().mode() != FillMode.DIRECT
                        && current.refill() instanceof Rate
                        && spec.refill() instanceof Rate
                        && current.line() == spec.line()
                    || current.equals(spec))
        .isPresent();
  }

  /** The rows of a tenant's buckets, if they are as expected before a change of rates alone. */
  private Optional<List<Bucket>> rows(Tenant next) {
    BucketRows all;
    try {
      all = ports.rollOutBuckets().list(next.id());
    } catch (Unavailable unavailable) {
      return Optional.empty();
    }
    List<Bucket> rows = all.buckets();
    Set<Action> actions = rows.stream().map(row -> row.id().action()).collect(Collectors.toSet());
    boolean expected =
        all.unreadable().isEmpty()
            && all.strays().isEmpty()
            && actions.equals(next.buckets().keySet())
            && rows.stream()
                .allMatch(
                    row -> isActive(row) && hasSameFilling(row.id().action(), row.spec(), next));
    return expected ? Optional.of(rows) : Optional.empty();
  }

  private static boolean isActive(Bucket row) {
    return row.fillState().state() != FillState.State.SUSPENDED;
  }

  private ReconcileOutcome retune(Tenant inEffect, List<Bucket> rows, Invocation invocation) {
    Optional<String> failure = Optional.empty();
    try {
      boolean retuned =
          rows.stream()
              .allMatch(
                  row ->
                      Optional.ofNullable(inEffect.buckets().get(row.id().action()))
                          .filter(spec -> retune(row, spec))
                          .isPresent());
      if (retuned) {
        return new ReconcileOutcome.Settled();
      }
    } catch (Unavailable unavailable) {
      failure = Optional.of(unavailable.reason());
    } catch (UnreadableRow unreadable) {
      failure = Optional.of(unreadable.reason());
    }
    failure.ifPresent(
        reason -> invocation.log("tenant " + inEffect.id() + ": not retuned: " + reason));
    // A conflict means that another run reconciles the tenant.
    return reopen(inEffect, invocation)
        .orElseGet(() -> new ReconcileOutcome.Pending(List.of("changed meanwhile")));
  }

  /** Whether the bucket has this rate and capacity now; false after a conflict. */
  private boolean retune(Bucket row, BucketSpec spec) {
    if (row.spec().equals(spec)) {
      return true;
    }
    Bucket next = row.retuned(spec, clock.instant());
    if (ports.rollOutBuckets().replace(next) != WriteResult.DONE) {
      return false;
    }
    if (spec.fillPolicy().mode() != FillMode.SHARED
        && next.fillState().state() != row.fillState().state()) {
      schedules.follow(row.id(), Optional.of(next));
    }
    return true;
  }
}
