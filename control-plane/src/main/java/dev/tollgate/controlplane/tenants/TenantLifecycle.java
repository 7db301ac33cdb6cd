package dev.tollgate.controlplane.tenants;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.reconcile.Reconciler;
import dev.tollgate.controlplane.tenants.TenantChangeResult.Leaving;
import dev.tollgate.controlplane.tenants.TenantChangeResult.NoTenant;
import dev.tollgate.controlplane.tenants.TenantChangeResult.NoTier;
import dev.tollgate.controlplane.tenants.TenantChangeResult.Onboarded;
import dev.tollgate.controlplane.tenants.TenantChangeResult.OtherVersion;
import dev.tollgate.controlplane.tenants.TenantChangeResult.Planned;
import dev.tollgate.controlplane.tenants.TenantChangeResult.Stands;
import dev.tollgate.controlplane.tenants.TenantChangeResult.StandsOtherwise;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Onboards, changes and offboards tenants: writes down what is desired, unless somebody else did in
 * the meantime, and has it brought about at once.
 *
 * <p>A tenant's limits are written down with it, so a tenant and its tier may change at the same
 * time without knowing of each other. Whoever changes a tenant therefore reads the tier again after
 * the write, and whoever changes a tier goes through its tenants after the write: one of them sees
 * the other. For the same reason a tier is always read after the tenant that it is applied to, so
 * that an older tier never replaces a newer one.
 *
 * <p>Every method throws {@link Unavailable} if the desired state could not be written down, or not
 * surely.
 */
public final class TenantLifecycle {
  private static final int MOST_ATTEMPTS = 10;

  private final Tenants tenants;
  private final Tiers tiers;
  private final Reconciler reconciler;

  public TenantLifecycle(Tenants tenants, Tiers tiers, Reconciler reconciler) {
    this.tenants = tenants;
    this.tiers = tiers;
    this.reconciler = reconciler;
  }

  /**
   * Onboards a tenant, unless there is one.
   *
   * @throws InvalidValue if an override is out of range
   */
  public TenantChangeResult onboard(
      TenantId id, TierName tierName, Map<Limit, Long> overrides, Invocation invocation) {
    Optional<Tier> tier = tiers.find(tierName);
    if (tier.isEmpty()) {
      return new NoTier(tierName);
    }
    Tenant wanted = Tenant.onboarded(id, tier.get(), overrides);
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      if (tenants.create(wanted) == WriteResult.DONE) {
        Settling settling = settle(wanted, Optional.empty(), tier.get(), invocation);
        return new Onboarded(settling.tenant(), settling.outcome());
      }
      Optional<Tenant> stands = tenants.find(id);
      if (stands.isPresent()) {
        return compare(stands.get(), wanted, invocation);
      }
    }
    throw overtaken(id);
  }

  private TenantChangeResult compare(Tenant stands, Tenant wanted, Invocation invocation) {
    if (stands.status() == TenantStatus.OFFBOARDING) {
      return new StandsOtherwise(stands, "it is being offboarded");
    }
    if (!stands.tier().equals(wanted.tier()) || !stands.overrides().equals(wanted.overrides())) {
      return new StandsOtherwise(
          stands,
          "it exists with another tier or other overrides; PATCH /tenants/"
              + stands.id()
              + " changes them (`tollgate tenants set-tier` and `override`)");
    }
    return new Stands(stands, reconcileUnlessSettled(stands, invocation));
  }

  /**
   * Changes what is said of a tenant; what is not said stays as it is.
   *
   * @param ifMatch which versions may be changed; one that somebody else writes meanwhile is looked
   *     at anew
   * @throws InvalidValue if an override is out of range
   */
  public TenantChangeResult change(TenantId id, Change change, IfMatch ifMatch, Invocation invocation) {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      TenantChangeResult answer = plan(id, change, ifMatch);
      if (!(answer instanceof Planned planned)) {
        return answer;
      }
      Tenant stands = planned.stands();
      Tenant next = planned.next();
      if (next.desiresTheSameAs(stands)) {
        return new Stands(stands, reconcileUnlessSettled(stands, invocation));
      }
      if (tenants.replace(next) == WriteResult.DONE) {
        Settling settling = settle(next, Optional.of(stands), planned.tier(), invocation);
        return new Stands(settling.tenant(), settling.outcome());
      }
    }
    throw overtaken(id);
  }

  /**
   * What a change would come to: {@link Planned}, or why it would be refused. Only reads.
   *
   * @throws InvalidValue if an override is out of range
   */
  public TenantChangeResult plan(TenantId id, Change change, IfMatch ifMatch) {
    Optional<Tenant> found = tenants.find(id);
    if (found.isEmpty()) {
      return new NoTenant();
    }
    Tenant stands = found.get();
    if (!ifMatch.holds(Optional.of(stands.version()))) {
      return new OtherVersion(found);
    }
    if (stands.status() == TenantStatus.OFFBOARDING) {
      return new StandsOtherwise(stands, "it is being offboarded");
    }
    TierName tierName = change.tier().orElse(stands.tier());
    Optional<Tier> tier = tiers.find(tierName);
    if (tier.isEmpty()) {
      return change.tier().isPresent()
          ? new NoTier(tierName)
          : new StandsOtherwise(stands, "its tier was deleted; it needs another");
    }
    return new Planned(stands, change.applied(stands, tier.get()), tier.get());
  }

  /**
   * Offboards a tenant, if there is one.
   *
   * @param ifMatch which versions may be offboarded
   */
  public TenantChangeResult offboard(TenantId id, IfMatch ifMatch, Invocation invocation) {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      Optional<Tenant> found = tenants.find(id);
      if (!ifMatch.holds(found.map(Tenant::version))) {
        return new OtherVersion(found);
      }
      if (found.isEmpty()) {
        return new NoTenant();
      }
      boolean leaving = found.get().status() == TenantStatus.OFFBOARDING;
      Tenant next = leaving ? found.get() : found.get().offboarding();
      if (leaving || tenants.replace(next) == WriteResult.DONE) {
        ReconcileOutcome outcome = reconciler.reconcile(next, Optional.empty(), invocation);
        return outcome instanceof ReconcileOutcome.Pending pending
            ? new Leaving(next, pending)
            : new NoTenant();
      }
    }
    throw overtaken(id);
  }

  /**
   * Brings a tenant to what its tier says now, and then about.
   *
   * @param listed the tenant as it was when {@code tier} stood
   * @return empty if this version of the tier does not stand any more
   */
  public Optional<ReconcileOutcome> follow(Tenant listed, Tier tier, Invocation invocation) {
    Tenant stands = listed;
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      boolean concerned =
          stands.tier().equals(tier.name()) && stands.status() != TenantStatus.OFFBOARDING;
      Tenant next = stands.changed(tier, stands.overrides(), stands.status());
      if (!concerned || next.desiresTheSameAs(stands)) {
        return Optional.of(new ReconcileOutcome.Settled());
      }
      if (tenants.replace(next) == WriteResult.DONE) {
        return Optional.of(reconciler.reconcile(next, Optional.of(stands), invocation));
      }
      Optional<Tenant> found = tenants.find(stands.id());
      if (found.isEmpty()) {
        return Optional.of(new ReconcileOutcome.Settled());
      }
      stands = found.get();
      if (!isCurrent(tier)) {
        return Optional.empty();
      }
    }
    throw overtaken(listed.id());
  }

  /**
   * Has a tenant, if there is one, brought about once more, as its tier says now and with nothing
   * taken for granted of what there is.
   */
  public ReconcileOutcome restore(TenantId id, Invocation invocation) {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      Optional<Tenant> found = tenants.find(id);
      if (found.isEmpty()) {
        return new ReconcileOutcome.Settled();
      }
      Tenant stands = found.get();
      if (stands.status() == TenantStatus.OFFBOARDING) {
        return reconciler.reconcile(stands, Optional.empty(), invocation);
      }
      Optional<Tier> tier = tiers.find(stands.tier());
      Tenant next = stands.reopened();
      Optional<String> unable = Optional.empty();
      try {
        next =
            tier.map(now -> stands.changed(now, stands.overrides(), stands.status())).orElse(next);
      } catch (InvalidValue misfit) {
        unable = Optional.of("its overrides do not fit its tier: " + misfit.getMessage());
      }
      if (tenants.replace(next) == WriteResult.DONE) {
        ReconcileOutcome outcome =
            tier.isPresent()
                ? settle(next, Optional.empty(), tier.get(), invocation).outcome()
                : reconciler.reconcile(next, Optional.empty(), invocation);
        return tier.isPresent()
            ? unable
                .<ReconcileOutcome>map(why -> new ReconcileOutcome.Pending(List.of(why)))
                .orElse(outcome)
            : new ReconcileOutcome.Pending(List.of("its tier was deleted; it needs another"));
      }
    }
    throw overtaken(id);
  }

  private boolean isCurrent(Tier tier) {
    return tiers.find(tier.name()).filter(now -> now.version() == tier.version()).isPresent();
  }

  /** A tenant that was written down, and how far it has been brought about. */
  private record Settling(Tenant tenant, ReconcileOutcome outcome) {}

  private Settling settle(
      Tenant written, Optional<Tenant> before, Tier tier, Invocation invocation) {
    Optional<Tier> newer = tiers.find(tier.name()).filter(now -> now.version() != tier.version());
    Tenant tenant = newer.flatMap(now -> updated(written, now)).orElse(written);
    return new Settling(tenant, reconciler.reconcile(tenant, before, invocation));
  }

  /**
   * The tenant under a tier that changed while it was written, unless somebody else did that, or
   * its overrides do not fit the tier any more; then the roll-out of the tier tells of it.
   */
  private Optional<Tenant> updated(Tenant written, Tier newer) {
    try {
      Tenant next = written.changed(newer, written.overrides(), written.status());
      boolean done = !next.desiresTheSameAs(written) && tenants.replace(next) == WriteResult.DONE;
      return done ? Optional.of(next) : Optional.empty();
    } catch (InvalidValue misfit) {
      return Optional.empty();
    }
  }

  private ReconcileOutcome reconcileUnlessSettled(Tenant tenant, Invocation invocation) {
    return tenant.settled()
        ? new ReconcileOutcome.Settled()
        : reconciler.reconcile(tenant, Optional.empty(), invocation);
  }

  private static Unavailable overtaken(TenantId id) {
    return new Unavailable("tenant " + id + ": overtaken " + MOST_ATTEMPTS + " times");
  }

  /**
   * What is to change of a tenant.
   *
   * @param tier another tier
   * @param overrides all its overrides
   * @param status whether it is served
   */
  public record Change(
      Optional<TierName> tier,
      Optional<Map<Limit, Long>> overrides,
      Optional<TenantStatus> status) {
    private Tenant applied(Tenant stands, Tier tier) {
      return stands.changed(
          tier, overrides.orElse(stands.overrides()), status.orElse(stands.status()));
    }
  }
}
