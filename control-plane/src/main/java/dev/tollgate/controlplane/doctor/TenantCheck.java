package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.doctor.Finding.Kind;
import dev.tollgate.controlplane.doctor.Finding.Resource;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
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
 * Whether a tenant is settled and follows its tier, and whether its buckets have the rows, queues
 * and schedules that it desires. Queues and schedules are judged by their bucket's row. Of a tenant
 * that is not settled no more is told: somebody works at the rest, or is to.
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
    if (!tenant.settled()) {
      return List.of(Finding.unsettled(id, unsettled(tenant)));
    }
    List<Finding> findings = new ArrayList<>();
    otherThanItsTier(tenant).ifPresent(why -> findings.add(Finding.unsettled(id, why)));
    BucketRows all = ports.buckets().list(id);
    all.unreadable()
        .forEach(
            (action, row) ->
                findings.add(
                    Finding.of(
                        Kind.DIFFERS, Resource.BUCKET, new BucketId(id, action), row.reason())));
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
                Finding.of(Kind.ORPHANED, Resource.BUCKET, row.id(), "a bucket (expected: none)"))
        .forEach(findings::add);
    return findings;
  }

  private static String unsettled(Tenant tenant) {
    String what =
        tenant.status() == TenantStatus.OFFBOARDING
            ? "it is being removed, and some of it is left"
            : "brought about up to version " + tenant.observedVersion();
    return what + " (expected: version " + tenant.version() + " brought about)";
  }

  /** In what a tenant does not say what its tier does now, if so. */
  private Optional<String> otherThanItsTier(Tenant tenant) {
    Optional<Tier> tier = ports.tiers().find(tenant.tier());
    if (tier.isEmpty()) {
      return Optional.of(
          "its tier " + tenant.tier() + " was deleted (expected: a tier that exists)");
    }
    try {
      boolean follows =
          tenant.changed(tier.get(), tenant.overrides(), tenant.status()).desiresTheSameAs(tenant);
      return follows
          ? Optional.empty()
          : Optional.of(
              "an older state of tier "
                  + tenant.tier()
                  + " (expected: that of its version "
                  + tier.get().version()
                  + ")");
    } catch (InvalidValue misfit) {
      return Optional.of(
          "its overrides do not fit tier " + tenant.tier() + ": " + misfit.getMessage());
    }
  }

  private List<Finding> bucket(
      Tenant tenant, Action action, BucketSpec spec, Optional<Bucket> found) {
    BucketId bucket = new BucketId(id, action);
    if (found.isEmpty()) {
      return List.of(
          Finding.of(Kind.MISSING, Resource.BUCKET, bucket, "none (expected: " + said(spec) + ")"));
    }
    Bucket row = found.get();
    boolean suspended = row.upkeep().state() == FillState.State.SUSPENDED;
    if (!row.spec().equals(spec) || suspended != (tenant.status() == TenantStatus.SUSPENDED)) {
      String detail =
          "%s, %s (expected: %s, tenant %s)"
              .formatted(said(row.spec()), row.upkeep().state(), said(spec), tenant.status());
      return List.of(Finding.of(Kind.DIFFERS, Resource.BUCKET, bucket, detail));
    }
    List<Finding> findings = new ArrayList<>();
    queue(row).ifPresent(findings::add);
    schedule(row).ifPresent(findings::add);
    return findings;
  }

  private static String said(BucketSpec spec) {
    return spec.rate()
        + ", capacity "
        + spec.capacity()
        + ", "
        + spec.filling().mode()
        + ", asleep after "
        + spec.filling().hibernateAfterMinutes()
        + " min";
  }

  private Optional<Finding> queue(Bucket row) {
    Optional<Duration> lifetime = ports.queues().lifetime(row.id());
    String expected = row.lifetimeAt(clock.instant()).toSeconds() + " s";
    if (lifetime.isEmpty()) {
      return Optional.of(
          Finding.of(
              Kind.MISSING,
              Resource.QUEUE,
              row.id(),
              "no queue (expected: one that keeps tokens for " + expected + ")"));
    }
    return lifetime
        .filter(seconds -> !row.mayKeepFor(seconds))
        .map(
            seconds ->
                Finding.of(
                    Kind.DIFFERS,
                    Resource.QUEUE,
                    row.id(),
                    "it keeps tokens for %d s (expected: %s)"
                        .formatted(seconds.toSeconds(), expected)));
  }

  private Optional<Finding> schedule(Bucket row) {
    Drift conformity = ports.schedules().compare(row);
    if (conformity instanceof Drift.Missing) {
      String expected =
          "no schedule (expected: one for a bucket that is " + row.upkeep().state() + ")";
      return Optional.of(Finding.of(Kind.MISSING, Resource.SCHEDULE, row.id(), expected));
    }
    return conformity instanceof Drift.Differs differs
        ? Optional.of(
            Finding.of(
                Kind.DIFFERS,
                Resource.SCHEDULE,
                row.id(),
                String.join("; ", differs.differences())))
        : Optional.empty();
  }

  /** {@inheritDoc} The tenant is brought about once more, whatever it was that was found. */
  @Override
  public List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation) {
    return Collections.nCopies(findings.size(), lifecycle.restore(id, invocation));
  }
}
