package dev.tollgate.controlplane.tenants;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.reconcile.Reconciler;
import dev.tollgate.controlplane.reconcile.Retuning;
import dev.tollgate.controlplane.tenants.TenantChangeResult.Applied;
import dev.tollgate.controlplane.tenants.TenantChangeResult.Conflict;
import dev.tollgate.controlplane.tenants.TenantChangeResult.LineCleared;
import dev.tollgate.controlplane.tenants.TenantChangeResult.Offboarding;
import dev.tollgate.controlplane.tenants.TenantChangeResult.Onboarded;
import dev.tollgate.controlplane.tenants.TenantChangeResult.Planned;
import dev.tollgate.controlplane.tenants.TenantChangeResult.Removable;
import dev.tollgate.controlplane.tenants.TenantChangeResult.TenantNotFound;
import dev.tollgate.controlplane.tenants.TenantChangeResult.TierNotFound;
import dev.tollgate.controlplane.tenants.TenantChangeResult.VersionMismatch;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketRows;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Onboards, changes and offboards tenants: writes the desired state of a tenant and then reconciles
 * the tenant. A write fails if the tenant has changed since it was read; the change is then planned
 * again.
 *
 * <p>A tenant's row contains the limits that follow from its tier, so a tenant and its tier may
 * change at the same time without seeing each other. Therefore a change of a tenant reads the tier
 * again after the write, and a change of a tier visits its tenants after the write: at least one of
 * the two sees the other. For the same reason the tier is always read after the tenant that it is
 * applied to, so that an older tier never replaces a newer one.
 *
 * <p>Every method throws {@link Unavailable} if it is not certain that the desired state was
 * written.
 */
public final class TenantLifecycle {
  private static final int MAX_ATTEMPTS = 10;

  private final Tenants tenants;
  private final Tiers tiers;
  private final Buckets buckets;
  private final Reconciler reconciler;
  private final Retuning retuning;
  private final InstantSource clock;

  /** A lifecycle over these ports. */
  public TenantLifecycle(Ports ports, Reconciler reconciler, InstantSource clock) {
    this.tenants = ports.tenants();
    this.tiers = ports.tiers();
    this.buckets = ports.buckets();
    this.reconciler = reconciler;
    this.retuning = new Retuning(ports, reconciler, clock);
    this.clock = clock;
  }

  /**
   * Onboards a tenant.
   *
   * @return {@link Conflict} if a tenant of this id exists with other settings
   * @throws InvalidValue if an override is out of range
   */
  public TenantChangeResult onboard(
      TenantId id, TierName tierName, Overrides overrides, Invocation invocation) {
    Optional<Tier> tier = tiers.find(tierName);
    if (tier.isEmpty()) {
      return new TierNotFound(tierName);
    }
    tier.get().checkSchedules(overrides);
    Tenant wanted =
        Tenant.onboarded(id, tier.get(), overrides).withOnboardedAt(invocation.clock().instant());
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (tenants.create(wanted) == WriteResult.DONE) {
        Settling settling = settle(wanted, Optional.empty(), tier.get(), invocation);
        return new Onboarded(settling.tenant(), settling.outcome());
      }
      Optional<Tenant> current = tenants.find(id);
      if (current.isPresent()) {
        return compare(current.get(), wanted, invocation);
      }
    }
    throw alwaysConcurrent(id);
  }

  private TenantChangeResult compare(Tenant current, Tenant wanted, Invocation invocation) {
    if (current.status() == TenantStatus.OFFBOARDING) {
      return new Conflict(
          current,
          "Tenant `" + current.id() + "` is being offboarded. Onboard it again after its removal.");
    }
    if (!current.tier().equals(wanted.tier()) || !hasSameOverrides(current, wanted)) {
      return new Conflict(current, difference(current, wanted));
    }
    return new Applied(current, reconcileUnlessSettled(current, invocation));
  }

  /** Whether only scheduled limits may differ, which no onboarding sets. */
  private static boolean hasSameOverrides(Tenant current, Tenant wanted) {
    return current.overrides().with(LimitSchedules.NONE).equals(wanted.overrides());
  }

  private static String difference(Tenant current, Tenant wanted) {
    List<String> differences = new ArrayList<>();
    if (!current.tier().equals(wanted.tier())) {
      differences.add(
          "in tier `%s`, not `%s` (change it with `tollgate tenants set-tier` or PATCH)"
              .formatted(current.tier(), wanted.tier()));
    }
    if (!hasSameOverrides(current, wanted)) {
      differences.add(
          "with overrides %s, not %s (change them with `tollgate tenants override` or PATCH)"
              .formatted(current.overrides(), wanted.overrides()));
    }
    return "Tenant `%s` already exists %s."
        .formatted(current.id(), String.join(", and ", differences));
  }

  /**
   * Changes a tenant.
   *
   * @param ifMatch the versions that may be changed; checked again after a concurrent change
   * @throws InvalidValue if an override is out of range
   */
  public TenantChangeResult change(
      TenantId id, TenantPatch patch, IfMatch ifMatch, Invocation invocation) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      TenantChangeResult plan = plan(id, patch, ifMatch);
      if (!(plan instanceof Planned planned)) {
        return plan;
      }
      Tenant current = planned.current();
      Tenant next = planned.planned();
      if (next.hasSameDesiredStateAs(current)) {
        return new Applied(current, reconcileUnlessSettled(current, invocation));
      }
      if (tenants.replace(next) == WriteResult.DONE) {
        Settling settling = settle(next, Optional.of(current), planned.tier(), invocation);
        return new Applied(settling.tenant(), settling.outcome());
      }
    }
    throw alwaysConcurrent(id);
  }

  /**
   * Plans a change of a tenant without making it. Only reads.
   *
   * @return {@link Planned}, or why the change is refused
   * @throws InvalidValue if an override is out of range
   */
  public TenantChangeResult plan(TenantId id, TenantPatch patch, IfMatch ifMatch) {
    Optional<Tenant> found = tenants.find(id);
    if (found.isEmpty()) {
      return new TenantNotFound();
    }
    Tenant current = found.get();
    if (!ifMatch.holds(Optional.of(current.version()))) {
      return new VersionMismatch(found);
    }
    if (current.status() == TenantStatus.OFFBOARDING) {
      return new Conflict(
          current, "Tenant `" + id + "` is being offboarded and cannot be changed.");
    }
    TierName tierName = patch.tier().orElse(current.tier());
    Optional<Tier> tier = tiers.find(tierName);
    if (tier.isEmpty()) {
      return patch.tier().isPresent()
          ? new TierNotFound(tierName)
          : new Conflict(current, deletedTier(current));
    }
    Tenant planned = patch.applied(current, tier.get());
    if (patch.mayExceed(current, planned)) {
      tier.get().checkSchedules(planned.overrides());
    }
    return new Planned(current, planned, tier.get());
  }

  private static String deletedTier(Tenant tenant) {
    return "Tier `"
        + tenant.tier()
        + "` of tenant `"
        + tenant.id()
        + "` was deleted. Assign another tier.";
  }

  /**
   * Offboards a tenant.
   *
   * @param ifMatch the versions that may be offboarded; checked again after a concurrent change
   */
  public TenantChangeResult offboard(TenantId id, IfMatch ifMatch, Invocation invocation) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      TenantChangeResult plan = planOffboarding(id, ifMatch);
      if (!(plan instanceof Removable removable)) {
        return plan;
      }
      Tenant current = removable.current();
      boolean leaving = current.status() == TenantStatus.OFFBOARDING;
      Tenant next = leaving ? current : current.offboarding();
      if (leaving || tenants.replace(next) == WriteResult.DONE) {
        ReconcileOutcome outcome = reconciler.reconcile(next, Optional.empty(), invocation);
        return outcome instanceof ReconcileOutcome.Pending pending
            ? new Offboarding(next, pending)
            : new TenantNotFound();
      }
    }
    throw alwaysConcurrent(id);
  }

  /**
   * Plans the offboarding of a tenant without making it. Only reads.
   *
   * @return {@link Removable}, or why the tenant would not be offboarded
   */
  public TenantChangeResult planOffboarding(TenantId id, IfMatch ifMatch) {
    Optional<Tenant> found = tenants.find(id);
    if (!ifMatch.holds(found.map(Tenant::version))) {
      return new VersionMismatch(found);
    }
    return found.<TenantChangeResult>map(Removable::new).orElseGet(TenantNotFound::new);
  }

  /**
   * Makes all places in a tenant's lines void. A caller that waits claims, or takes a new place,
   * when it comes back. Buckets with unreadable rows are skipped and logged.
   *
   * @return {@link LineCleared}, {@link TenantNotFound} or {@link VersionMismatch}
   */
  public TenantChangeResult clearLine(TenantId id, IfMatch ifMatch, Invocation invocation) {
    Optional<Tenant> found = tenants.find(id);
    if (found.isEmpty()) {
      return new TenantNotFound();
    }
    Tenant tenant = found.get();
    if (!ifMatch.holds(Optional.of(tenant.version()))) {
      return new VersionMismatch(found);
    }
    BucketRows rows = buckets.list(id);
    rows.unreadable().values().forEach(row -> invocation.log(row.reason()));
    rows.buckets().forEach(this::clearLine);
    return new LineCleared(tenant);
  }

  /** A conflict means that another request has cleared the line. */
  private void clearLine(Bucket bucket) {
    bucket
        .line()
        .filter(line -> line.issued() > 0)
        .ifPresent(line -> buckets.clearLine(bucket.id(), line, clock.instant()));
  }

  /**
   * Opens and closes the windows of a tenant's own scheduled limits that are due, and reconciles
   * the tenant. Does nothing if the tenant does not exist or is being offboarded.
   *
   * @throws InvalidValue if the tenant's overrides do not fit its tier
   */
  public void moveWindows(TenantId id, Invocation invocation) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      Instant now = clock.instant();
      Optional<Tenant> found =
          tenants
              .find(id)
              .filter(tenant -> tenant.status() != TenantStatus.OFFBOARDING)
              .filter(tenant -> tenant.overrides().schedules().isDue(now));
      if (found.isEmpty()) {
        return;
      }
      Tenant current = found.get();
      Optional<Tier> tier = tiers.find(current.tier());
      if (tier.isEmpty()) {
        invocation.log(deletedTier(current));
        return;
      }
      Overrides overrides = current.overrides().with(current.overrides().schedules().at(now));
      Tenant next = current.changed(tier.get(), overrides, current.status());
      if (tenants.replace(next) == WriteResult.DONE) {
        settle(next, Optional.of(current), tier.get(), invocation);
        return;
      }
    }
    throw alwaysConcurrent(id);
  }

  /**
   * Applies a tier to one of its tenants, and reconciles the tenant.
   *
   * @param listed the tenant; after it was read, {@code tier} was still the current version
   * @return empty if {@code tier} is no longer the current version
   * @throws InvalidValue if the tenant's overrides do not fit the tier
   */
  public Optional<ReconcileOutcome> follow(Tenant listed, Tier tier, Invocation invocation) {
    Tenant current = listed;
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      boolean affected =
          current.tier().equals(tier.name()) && current.status() != TenantStatus.OFFBOARDING;
      if (!affected) {
        return Optional.of(new ReconcileOutcome.Settled());
      }
      Tenant next = current.changed(tier, current.overrides(), current.status());
      Optional<ReconcileOutcome> outcome =
          next.hasSameDesiredStateAs(current)
              ? retuning.verify(current, invocation)
              : retuning.replace(current, next, invocation);
      if (outcome.isPresent()) {
        return outcome;
      }
      Optional<Tenant> found = tenants.find(current.id());
      if (found.isEmpty()) {
        return Optional.of(new ReconcileOutcome.Settled());
      }
      current = found.get();
      if (!isCurrent(tier)) {
        return Optional.empty();
      }
    }
    throw alwaysConcurrent(listed.id());
  }

  /**
   * Applies the current tier to a tenant and reconciles all of the tenant, including what a
   * previous run has already provided. Does nothing if the tenant does not exist.
   */
  public ReconcileOutcome restore(TenantId id, Invocation invocation) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      Optional<Tenant> found = tenants.find(id);
      if (found.isEmpty()) {
        return new ReconcileOutcome.Settled();
      }
      Tenant current = found.get();
      if (current.status() == TenantStatus.OFFBOARDING) {
        return reconciler.reconcile(current, Optional.empty(), invocation);
      }
      Optional<Tier> tier = tiers.find(current.tier());
      Tenant next = current.withNextVersion();
      Optional<String> misfit = Optional.empty();
      try {
        next =
            tier.map(
                    definition ->
                        current.changed(definition, current.overrides(), current.status()))
                .orElse(next);
      } catch (InvalidValue invalid) {
        misfit = Optional.of("The overrides do not fit the tier: " + invalid.getMessage());
      }
      if (tenants.replace(next) == WriteResult.DONE) {
        ReconcileOutcome outcome =
            tier.isPresent()
                ? settle(next, Optional.empty(), tier.get(), invocation).outcome()
                : reconciler.reconcile(next, Optional.empty(), invocation);
        return tier.isPresent()
            ? misfit
                .<ReconcileOutcome>map(why -> new ReconcileOutcome.Pending(List.of(why)))
                .orElse(outcome)
            : new ReconcileOutcome.Pending(List.of(deletedTier(current)));
      }
    }
    throw alwaysConcurrent(id);
  }

  /** Whether this is still the current version of the tier. */
  public boolean isCurrent(Tier tier) {
    return tiers.find(tier.name()).filter(now -> now.version() == tier.version()).isPresent();
  }

  /** A tenant that was written, and the outcome of its reconciliation. */
  private record Settling(Tenant tenant, ReconcileOutcome outcome) {}

  private Settling settle(
      Tenant written, Optional<Tenant> before, Tier tier, Invocation invocation) {
    Optional<Tier> newer = tiers.find(tier.name()).filter(now -> now.version() != tier.version());
    Tenant tenant = newer.flatMap(now -> updated(written, now)).orElse(written);
    return new Settling(tenant, reconciler.reconcile(tenant, before, invocation));
  }

  /**
   * Applies a tier that changed while the tenant was written. Empty if another process has done so,
   * or if the overrides do not fit the new tier; the roll-out of the tier then logs the misfit.
   */
  private Optional<Tenant> updated(Tenant written, Tier newer) {
    try {
      Tenant next = written.changed(newer, written.overrides(), written.status());
      boolean done =
          !next.hasSameDesiredStateAs(written) && tenants.replace(next) == WriteResult.DONE;
      return done ? Optional.of(next) : Optional.empty();
    } catch (InvalidValue misfit) {
      return Optional.empty();
    }
  }

  private ReconcileOutcome reconcileUnlessSettled(Tenant tenant, Invocation invocation) {
    return tenant.isSettled()
        ? new ReconcileOutcome.Settled()
        : reconciler.reconcile(tenant, Optional.empty(), invocation);
  }

  private static Unavailable alwaysConcurrent(TenantId id) {
    return new Unavailable(
        "tenant "
            + id
            + ": each of "
            + MAX_ATTEMPTS
            + " writes conflicted with a concurrent change");
  }
}
