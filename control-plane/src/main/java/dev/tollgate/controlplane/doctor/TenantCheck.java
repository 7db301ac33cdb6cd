package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.doctor.Finding.Deviation;
import dev.tollgate.controlplane.doctor.Finding.Resource;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.controlplane.tiers.TierRollOut;
import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.LogText;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketRows;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.provisioning.Drift;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Checks whether a tenant is settled and follows its tier, and whether the rows, queues and
 * schedules of its buckets are as desired. Queues and schedules are compared with the bucket's row.
 * If a tenant is unsettled, this is the only finding of its check, because the sweep will reconcile
 * its resources.
 */
final class TenantCheck implements Check {
  private final Ports ports;
  private final TenantLifecycle lifecycle;
  private final InstantSource clock;
  private final TenantId id;

  TenantCheck(Ports ports, TenantLifecycle lifecycle, InstantSource clock, TenantId id) {
    this.ports = ports;
    this.lifecycle = lifecycle;
    this.clock = clock;
    this.id = id;
  }

  @Override
  public List<Finding> findings() {
    try {
      return readable();
    } catch (UnreadableRow unreadable) {
      return List.of(Finding.unsettled(id, unreadable.reason()));
    }
  }

  private List<Finding> readable() {
    Optional<Tenant> found = ports.tenants().find(id);
    if (found.isEmpty()) {
      return List.of();
    }
    Tenant tenant = found.get();
    if (!tenant.isSettled()) {
      return List.of(Finding.pending(id, unsettled(tenant)));
    }
    List<Finding> findings = new ArrayList<>();
    differenceFromTier(tenant).ifPresent(findings::add);
    BucketRows all = ports.buckets().list(id);
    all.unreadable()
        .forEach(
            (action, row) ->
                findings.add(
                    Finding.of(
                        Deviation.DIFFERS,
                        Resource.BUCKET,
                        new BucketId(id, action),
                        row.reason())));
    all.strays()
        .forEach(
            name ->
                findings.add(
                    Finding.unsettled(
                        id, "a row %s (expected: none)".formatted(LogText.quoted(name)))));
    Map<Action, Bucket> rows =
        all.buckets().stream()
            .collect(Collectors.toMap(row -> row.id().action(), Function.identity()));
    tenant
        .buckets()
        .forEach(
            (action, spec) -> {
              if (!all.unreadable().containsKey(action)) {
                findings.addAll(
                    bucket(tenant, action, spec, Optional.ofNullable(rows.get(action))));
              }
            });
    rows.values().stream()
        .filter(row -> !tenant.buckets().containsKey(row.id().action()))
        .map(
            row ->
                Finding.of(
                    Deviation.ORPHANED, Resource.BUCKET, row.id(), "a bucket (expected: none)"))
        .forEach(findings::add);
    return findings;
  }

  private static String unsettled(Tenant tenant) {
    String what =
        tenant.status() == TenantStatus.OFFBOARDING
            ? "being offboarded, and not removed completely"
            : "still being %s, which usually takes seconds, and minutes from SILO to POOL: version %d is reconciled"
                .formatted(
                    tenant.observedVersion() == 0 ? "set up" : "changed", tenant.observedVersion());
    return what + " (expected: version " + tenant.version() + " is reconciled)";
  }

  /** How a tenant's row differs from its tier; empty if it does not. */
  private Optional<Finding> differenceFromTier(Tenant tenant) {
    Optional<Tier> tier = ports.tiers().find(tenant.tier());
    if (tier.isEmpty()) {
      return Optional.of(
          Finding.unsettled(
              id, "tier " + tenant.tier() + " was deleted (expected: an existing tier)"));
    }
    try {
      boolean follows =
          tenant
              .changed(tier.get(), tenant.overrides(), tenant.status())
              .hasSameDesiredStateAs(tenant);
      if (follows) {
        return Optional.empty();
      }
      String older =
          "follows an older version of tier %s (expected: version %d)"
              .formatted(tenant.tier(), tier.get().version());
      return Optional.of(
          TierRollOut.isRolledOut(tier.get())
              ? Finding.unsettled(id, older)
              : Finding.pending(id, older));
    } catch (InvalidValue misfit) {
      return Optional.of(
          Finding.unsettled(
              id, "the overrides do not fit tier " + tenant.tier() + ": " + misfit.getMessage()));
    }
  }

  private List<Finding> bucket(
      Tenant tenant, Action action, BucketSpec spec, Optional<Bucket> found) {
    BucketId bucket = new BucketId(id, action);
    if (found.isEmpty()) {
      return List.of(
          Finding.of(
              Deviation.MISSING, Resource.BUCKET, bucket, "none (expected: " + text(spec) + ")"));
    }
    Bucket row = found.get();
    boolean suspended = row.fillState().state() == FillState.State.SUSPENDED;
    if (!row.spec().equals(spec) || suspended != (tenant.status() == TenantStatus.SUSPENDED)) {
      String detail =
          "%s, %s (expected: %s, tenant %s)"
              .formatted(text(row.spec()), row.fillState().state(), text(spec), tenant.status());
      return List.of(Finding.of(Deviation.DIFFERS, Resource.BUCKET, bucket, detail));
    }
    List<Finding> findings = new ArrayList<>();
    queue(row).ifPresent(findings::add);
    schedule(row).ifPresent(findings::add);
    return findings;
  }

  private static String text(BucketSpec spec) {
    return spec.refill()
        + ", capacity "
        + spec.capacity()
        + ", "
        + spec.fillPolicy().mode()
        + ", hibernates after "
        + spec.fillPolicy().hibernateAfterMinutes()
        + " min";
  }

  private Optional<Finding> queue(Bucket row) {
    Optional<Duration> lifetime = ports.queues().lifetime(row.id());
    String expected = row.tokenLifetimeAt(clock.instant()).toSeconds() + " s";
    if (lifetime.isEmpty()) {
      return Optional.of(
          Finding.of(
              Deviation.MISSING,
              Resource.QUEUE,
              row.id(),
              "no queue (expected: one that keeps tokens for " + expected + ")"));
    }
    return lifetime
        .filter(seconds -> !row.allowsTokenLifetime(seconds))
        .map(
            seconds ->
                Finding.of(
                    Deviation.DIFFERS,
                    Resource.QUEUE,
                    row.id(),
                    "the queue keeps tokens for %d s (expected: %s)"
                        .formatted(seconds.toSeconds(), expected)));
  }

  private Optional<Finding> schedule(Bucket row) {
    Drift drift = ports.schedules().compare(row);
    if (drift instanceof Drift.Missing) {
      String expected =
          "no schedule (expected: one for a bucket that is " + row.fillState().state() + ")";
      return Optional.of(Finding.of(Deviation.MISSING, Resource.SCHEDULE, row.id(), expected));
    }
    return drift instanceof Drift.Differs differs
        ? Optional.of(
            Finding.of(
                Deviation.DIFFERS,
                Resource.SCHEDULE,
                row.id(),
                String.join("; ", differs.differences())))
        : Optional.empty();
  }

  /** {@inheritDoc} Every finding has the same repair: the whole tenant is reconciled. */
  @Override
  public List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation) {
    return Collections.nCopies(findings.size(), lifecycle.restore(id, invocation));
  }
}
