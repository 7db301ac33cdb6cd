package dev.tollgate.controlplane.tiers;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.tenants.IfMatch;
import dev.tollgate.controlplane.tiers.TierChangeResult.Applied;
import dev.tollgate.controlplane.tiers.TierChangeResult.Conflict;
import dev.tollgate.controlplane.tiers.TierChangeResult.Created;
import dev.tollgate.controlplane.tiers.TierChangeResult.Planned;
import dev.tollgate.controlplane.tiers.TierChangeResult.Removable;
import dev.tollgate.controlplane.tiers.TierChangeResult.Removed;
import dev.tollgate.controlplane.tiers.TierChangeResult.TierNotFound;
import dev.tollgate.controlplane.tiers.TierChangeResult.VersionMismatch;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Retreat;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Puts and removes tiers, and begins to roll their changes out. */
public final class TierCatalog {
  private static final int MAX_ATTEMPTS = 10;
  private static final int PAGE = 1_000;

  /** The most tenants that a refusal names because their overrides do not fit. */
  private static final int MAX_MISFITS = 5;

  /** The most tenants that are read to report the progress of a roll-out. */
  private static final int MAX_PROGRESS_TENANTS = 1_000;

  /** The most tenants whose overrides are compared with a new version before it is put. */
  private static final int MAX_COMPARED_TENANTS = 20_000;

  private final Tenants tenants;
  private final Tiers tiers;
  private final TierRollOut rollOuts;

  /** A catalog of these tiers. */
  public TierCatalog(Tenants tenants, Tiers tiers, TierRollOut rollOuts) {
    this.tenants = tenants;
    this.tiers = tiers;
    this.rollOuts = rollOuts;
  }

  /**
   * Creates or replaces a tier, and rolls it out to its first tenants.
   *
   * @param requested the requested tier; its version numbers are ignored
   * @param expected the version that may be replaced, 0 for a new tier; empty for any version
   * @param ifMatch the versions that may be replaced; checked again after a concurrent change
   * @throws Unavailable if it is not certain that the tier was written
   */
  public TierChangeResult put(
      Tier requested, Optional<Long> expected, IfMatch ifMatch, Invocation invocation) {
    return put(
        requested.name(), current -> kept(requested, current), expected, ifMatch, invocation);
  }

  /** The requested tier with the scheduled limits of the current one. */
  private static Optional<Tier> kept(Tier requested, Optional<Tier> current) {
    return Optional.of(current.map(Tier::schedules).map(requested::with).orElse(requested));
  }

  /**
   * Changes the scheduled limits of a tier, and rolls the change out to its first tenants.
   *
   * @param ifMatch the versions that may be changed; checked again after a concurrent change
   * @throws InvalidValue if the change is not possible
   * @throws Unavailable if it is not certain that the tier was written
   */
  public TierChangeResult schedule(
      TierName name, UnaryOperator<LimitSchedules> change, IfMatch ifMatch, Invocation invocation) {
    return put(
        name, current -> rescheduled(current, change), Optional.empty(), ifMatch, invocation);
  }

  private static Optional<Tier> rescheduled(
      Optional<Tier> current, UnaryOperator<LimitSchedules> change) {
    return current.map(tier -> tier.with(change.apply(tier.schedules())));
  }

  private TierChangeResult put(
      TierName name,
      Function<Optional<Tier>, Optional<Tier>> change,
      Optional<Long> expected,
      IfMatch ifMatch,
      Invocation invocation) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      TierChangeResult plan = plan(name, change, expected, ifMatch);
      if (!(plan instanceof Planned planned)) {
        return plan;
      }
      Tier next = planned.planned();
      if (planned.changesNothing()) {
        return new Applied(next, TierRollOut.isRolledOut(next) || rollOuts.begin(next, invocation));
      }
      if (tiers.put(next) == WriteResult.DONE) {
        return planned.current().isPresent()
            ? new Applied(next, rollOuts.begin(next, invocation))
            : created(next);
      }
    }
    throw alwaysConcurrent(name);
  }

  /**
   * Opens and closes the windows of a tier that are due, and rolls the tier out to its first
   * tenants.
   *
   * @return the current tier; empty if it does not exist
   * @throws Unavailable if it is not certain that the tier was written
   */
  public Optional<Tier> moveWindows(TierName name, Invocation invocation) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      Instant now = invocation.clock().instant();
      Optional<Tier> found = tiers.find(name);
      if (found.filter(tier -> tier.schedules().isDue(now)).isEmpty()) {
        return found;
      }
      Tier current = found.get();
      Tier next = current.with(current.schedules().at(now)).withVersionAfter(current.version());
      if (tiers.put(next) == WriteResult.DONE) {
        rollOuts.begin(next, invocation);
        return tiers.find(name);
      }
    }
    throw alwaysConcurrent(name);
  }

  /**
   * Plans a change of a tier without making it. Only reads.
   *
   * @return {@link Planned}, with the current tier as planned if nothing changes; or why the change
   *     is refused
   */
  public TierChangeResult plan(Tier requested, Optional<Long> expected, IfMatch ifMatch) {
    return plan(requested.name(), current -> kept(requested, current), expected, ifMatch);
  }

  /**
   * Plans a change of the scheduled limits of a tier without making it. Only reads.
   *
   * @return as {@link #plan(Tier, Optional, IfMatch)}
   * @throws InvalidValue if the change is not possible
   */
  public TierChangeResult planSchedules(
      TierName name, UnaryOperator<LimitSchedules> change, IfMatch ifMatch) {
    return plan(name, current -> rescheduled(current, change), Optional.empty(), ifMatch);
  }

  private TierChangeResult plan(
      TierName name,
      Function<Optional<Tier>, Optional<Tier>> change,
      Optional<Long> expected,
      IfMatch ifMatch) {
    Optional<Tier> found = tiers.find(name);
    if (!ifMatch.holds(found.map(Tier::version))) {
      return new VersionMismatch(found);
    }
    Optional<Tier> changed = change.apply(found);
    if (changed.isEmpty()) {
      return new TierNotFound();
    }
    Tier requested = changed.get();
    Optional<Tier> same = found.filter(requested::hasSameDefinitionAs);
    if (same.isPresent()) {
      return new Planned(found, same.get());
    }
    long version = found.map(Tier::version).orElse(0L);
    if (expected.isPresent() && expected.get() != version) {
      return new Conflict(
          "Tier `"
              + requested.name()
              + "` has version "
              + version
              + ", the request expects "
              + expected.get()
              + ". Read the tier again and repeat the change.");
    }
    requested.checkSchedules(Overrides.NONE);
    List<String> misfits = mayMisfit(requested, found) ? misfits(requested) : List.of();
    if (!misfits.isEmpty()) {
      return new Conflict(
          "Overrides of tenants do not fit the new version of tier `"
              + requested.name()
              + "`. Change them first: "
              + String.join("; ", misfits));
    }
    return new Planned(
        found,
        found.map(current -> next(requested, current)).orElse(requested.withVersionAfter(0)));
  }

  /**
   * Whether the overrides of a tenant may not fit the new version of its tier. Three cases are
   * possible: fill mode {@code DIRECT} does not support every rate, {@code sessionTTL} must not
   * exceed {@code sessionLifetime} if a tenant overrides one of the two, and scheduled limits may
   * exceed what a request may set.
   */
  private static boolean mayMisfit(Tier requested, Optional<Tier> current) {
    if (current.filter(before -> hasSameRates(requested, before)).isPresent()) {
      return false;
    }
    return requested.fillPolicy().mode() == FillMode.DIRECT
        || !requested.schedules().all().isEmpty()
        || current
            .map(Tier::limits)
            .filter(
                limits ->
                    requested.limits().get(Limit.SESSION_TTL) > limits.get(Limit.SESSION_TTL)
                        || requested.limits().get(Limit.SESSION_LIFETIME)
                            < limits.get(Limit.SESSION_LIFETIME))
            .isPresent();
  }

  /** Whether only modes and switches differ, or windows are cancelled. */
  private static boolean hasSameRates(Tier requested, Tier before) {
    return requested.limits().values().equals(before.limits().values())
        && requested.buckets().equals(before.buckets())
        && before.schedules().all().containsAll(requested.schedules().all())
        && requested.fillPolicy().equals(before.fillPolicy());
  }

  /**
   * The tenants whose overrides do not fit, with the reasons, among the tier's first tenants. A
   * tenant beyond them that does not fit keeps the tier's previous version, and its tier is not
   * rolled out until the tenant's overrides are changed; the doctor reports it.
   */
  private List<String> misfits(Tier requested) {
    List<String> misfits = new ArrayList<>();
    int compared = 0;
    Optional<String> cursor = Optional.empty();
    do {
      Page<Tenant> page = tenants.inTier(requested.name(), cursor, PAGE);
      for (Tenant tenant : page.items()) {
        try {
          requested.bucketsUnder(tenant.overrides());
          requested.checkSchedules(tenant.overrides());
        } catch (InvalidValue misfit) {
          misfits.add(tenant.id() + ": " + misfit.getMessage());
        }
      }
      page.unreadable().forEach(newer -> misfits.add(newer.reason()));
      compared += page.items().size() + page.unreadable().size();
      cursor = page.next();
    } while (cursor.isPresent() && misfits.size() < MAX_MISFITS && compared < MAX_COMPARED_TENANTS);
    return misfits.subList(0, Math.min(misfits.size(), MAX_MISFITS));
  }

  /** The requested tier as the successor of the current version. */
  private static Tier next(Tier requested, Tier current) {
    return new Tier(
            requested.name(),
            requested.isolation(),
            requested.limits(),
            requested.buckets(),
            requested.fillPolicy(),
            requested.onUnavailable(),
            requested.line(),
            requested.retreat().map(rule -> rule.at().isPresent() ? rule : since(rule, current)),
            requested.schedules(),
            current.version(),
            current.rolledOut())
        .withVersionAfter(current.version());
  }

  private static Retreat since(Retreat rule, Tier current) {
    return new Retreat(rule.abovePercent(), current.retreat().flatMap(Retreat::at));
  }

  private static Unavailable alwaysConcurrent(TierName name) {
    return new Unavailable(
        "tier "
            + name
            + ": each of "
            + MAX_ATTEMPTS
            + " writes conflicted with a concurrent change");
  }

  private Created created(Tier tier) {
    tiers.markRolledOut(tier.name(), tier.version());
    return new Created(tier);
  }

  /**
   * The progress of a tier's roll-out among its first thousand tenants by id.
   *
   * @param tenants the number of these tenants, without those that are being offboarded
   * @param unsettled those of them that do not follow the tier yet, or are not settled
   * @param more whether the tier has more tenants
   */
  public record RollOutProgress(long tenants, long unsettled, boolean more) {}

  /** The progress of a tier's roll-out. It may be a second out of date. */
  public RollOutProgress progress(Tier tier) {
    long seen = 0;
    long unsettled = 0;
    int left = MAX_PROGRESS_TENANTS;
    Optional<String> cursor = Optional.empty();
    do {
      Page<Tenant> page = tenants.inTier(tier.name(), cursor, Math.min(left, PAGE));
      for (Tenant tenant : page.items()) {
        if (tenant.status() != TenantStatus.OFFBOARDING) {
          seen++;
          unsettled += tenant.isSettled() && follows(tenant, tier) ? 0 : 1;
        }
      }
      seen += page.unreadable().size();
      unsettled += page.unreadable().size();
      left -= page.items().size() + page.unreadable().size();
      cursor = page.next();
    } while (cursor.isPresent() && left > 0);
    return new RollOutProgress(seen, unsettled, cursor.isPresent());
  }

  private static boolean follows(Tenant tenant, Tier tier) {
    return tenant.changed(tier, tenant.overrides(), tenant.status()).hasSameDesiredStateAs(tenant);
  }

  /**
   * Removes a tier that has no tenants.
   *
   * @param ifMatch the versions that may be removed; checked again after a concurrent change
   * @throws Unavailable if it is not certain that the tier was removed
   */
  public TierChangeResult remove(TierName name, IfMatch ifMatch) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      TierChangeResult plan = planRemoval(name, ifMatch);
      if (!(plan instanceof Removable removable)) {
        return plan;
      }
      if (tiers.remove(name, removable.current().version()) == WriteResult.DONE) {
        return new Removed();
      }
    }
    throw alwaysConcurrent(name);
  }

  /**
   * Plans the removal of a tier without making it. Only reads.
   *
   * @return {@link Removable}, or why the removal is refused
   */
  public TierChangeResult planRemoval(TierName name, IfMatch ifMatch) {
    Optional<Tier> found = tiers.find(name);
    if (found.isEmpty()) {
      return new TierNotFound();
    }
    if (!ifMatch.holds(found.map(Tier::version))) {
      return new VersionMismatch(found);
    }
    Page<Tenant> first = tenants.inTier(name, Optional.empty(), 1);
    return first.items().isEmpty() && first.unreadable().isEmpty()
        ? new Removable(found.get())
        : new Conflict(
            "Tier `"
                + name
                + "` still has tenants. List them with `tollgate tenants list --tier "
                + name
                + "`, and move them to another tier first.");
  }
}
