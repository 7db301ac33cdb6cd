package dev.tollgate.controlplane.tiers;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.controlplane.tenants.IfMatch;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.controlplane.tiers.TierChangeResult.Created;
import dev.tollgate.controlplane.tiers.TierChangeResult.NoTier;
import dev.tollgate.controlplane.tiers.TierChangeResult.OtherVersion;
import dev.tollgate.controlplane.tiers.TierChangeResult.Planned;
import dev.tollgate.controlplane.tiers.TierChangeResult.Removable;
import dev.tollgate.controlplane.tiers.TierChangeResult.Removed;
import dev.tollgate.controlplane.tiers.TierChangeResult.Stands;
import dev.tollgate.controlplane.tiers.TierChangeResult.StandsOtherwise;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Writes tiers down, rolls them out to the tenants that have them, and removes them. */
public final class TierCatalog {
  private static final int MOST_ATTEMPTS = 10;
  private static final int PAGE = 100;

  /** Tenants that are named when a tier is refused for their sake. */
  private static final int MOST_MISFITS = 5;

  /** Tenants that are looked at to tell how far a change has come. */
  private static final int MOST_LOOKED_AT = 1_000;

  /** How far the listing of a tier's tenants may be behind (a DynamoDB secondary index). */
  private static final Duration INDEX_DELAY = Duration.ofSeconds(1);

  private final Tenants tenants;
  private final Tiers tiers;
  private final TenantLifecycle lifecycle;
  private final ParallelTasks crew;
  private final Pause pause;

  public TierCatalog(
      Tenants tenants, Tiers tiers, TenantLifecycle lifecycle, ParallelTasks crew, Pause pause) {
    this.tenants = tenants;
    this.tiers = tiers;
    this.lifecycle = lifecycle;
    this.crew = crew;
    this.pause = pause;
  }

  /**
   * Writes a tier down, and rolls it out as far as there is time.
   *
   * @param asked what it is to say; its versions do not matter
   * @param expected the version that is to be replaced, if that matters; 0 for none
   * @param ifMatch which versions may be replaced; one that somebody else writes meanwhile is
   *     looked at anew
   * @throws Unavailable if it could not be written down, or not surely
   */
  public TierChangeResult put(
      Tier asked, Optional<Long> expected, IfMatch ifMatch, Invocation invocation) {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      TierChangeResult answer = plan(asked, expected, ifMatch);
      if (!(answer instanceof Planned planned)) {
        return answer;
      }
      Tier next = planned.next();
      if (planned.changesNothing()) {
        return new Stands(next, isRolledOut(next) || rollOut(next, invocation));
      }
      if (tiers.put(next) == WriteResult.DONE) {
        return planned.stands().isPresent()
            ? new Stands(next, rollOut(next, invocation))
            : created(next);
      }
    }
    throw overtaken(asked.name());
  }

  /**
   * What would be written down: {@link Planned}, which holds the tier that stands if that says all
   * that is asked, or why nothing would. Only reads.
   */
  public TierChangeResult plan(Tier asked, Optional<Long> expected, IfMatch ifMatch) {
    Optional<Tier> found = tiers.find(asked.name());
    if (!ifMatch.holds(found.map(Tier::version))) {
      return new OtherVersion(found);
    }
    Optional<Tier> same = found.filter(asked::saysTheSameAs);
    if (same.isPresent()) {
      return new Planned(found, same.get());
    }
    long version = found.map(Tier::version).orElse(0L);
    if (expected.isPresent() && expected.get() != version) {
      return new StandsOtherwise("version " + version + " of the tier stands");
    }
    List<String> misfits = mayMisfit(asked, found) ? misfits(asked) : List.of();
    if (!misfits.isEmpty()) {
      return new StandsOtherwise(
          "overrides of tenants do not fit it: " + String.join("; ", misfits));
    }
    return new Planned(found, found.map(stands -> next(asked, stands)).orElse(asked.succeeding(0)));
  }

  /**
   * Whether the overrides of some tenant could stop fitting a tier: only buckets in mode {@code
   * DIRECT} cannot be filled at every rate, and an overridden {@code sessionTTL} or {@code
   * sessionLifetime} must fit the tier's value of the other.
   */
  private static boolean mayMisfit(Tier asked, Optional<Tier> stands) {
    return asked.filling().mode() == FillMode.DIRECT
        || stands
            .map(Tier::limits)
            .filter(
                limits ->
                    asked.limits().get(Limit.SESSION_TTL) > limits.get(Limit.SESSION_TTL)
                        || asked.limits().get(Limit.SESSION_LIFETIME)
                            < limits.get(Limit.SESSION_LIFETIME))
            .isPresent();
  }

  /** Tenants whose overrides the tier cannot have, and why. */
  private List<String> misfits(Tier asked) {
    List<String> misfits = new ArrayList<>();
    Optional<String> cursor = Optional.empty();
    do {
      Page<Tenant> page = tenants.inTier(asked.name(), cursor, PAGE);
      for (Tenant tenant : page.items()) {
        try {
          asked.bucketsUnder(asked.limits().with(tenant.overrides()));
        } catch (InvalidValue misfit) {
          misfits.add(tenant.id() + ": " + misfit.getMessage());
        }
      }
      page.unreadable().forEach(newer -> misfits.add(newer.reason()));
      cursor = page.next();
    } while (cursor.isPresent() && misfits.size() < MOST_MISFITS);
    return misfits.subList(0, Math.min(misfits.size(), MOST_MISFITS));
  }

  /** What is asked as the version after the one that stands, rolled out as far as that is. */
  private static Tier next(Tier asked, Tier stands) {
    return new Tier(
            asked.name(),
            asked.isolation(),
            asked.limits(),
            asked.buckets(),
            asked.filling(),
            asked.onUnavailable(),
            stands.version(),
            stands.rolledOut())
        .succeeding(stands.version());
  }

  private static Unavailable overtaken(TierName name) {
    return new Unavailable("tier " + name + ": overtaken " + MOST_ATTEMPTS + " times");
  }

  private Created created(Tier tier) {
    tiers.markRolledOut(tier.name(), tier.version());
    return new Created(tier);
  }

  public static boolean isRolledOut(Tier tier) {
    return tier.rolledOut() >= tier.version();
  }

  /**
   * Brings every tenant of the tier to this version of it. A tenant that fails, or whose row a
   * newer release wrote, does not stop the others.
   *
   * @return whether that is done; if not, it may be repeated
   */
  public boolean rollOut(Tier tier, Invocation invocation) {
    pause.of(INDEX_DELAY);
    try {
      boolean all = true;
      Optional<String> cursor = Optional.empty();
      do {
        Page<Tenant> page = tenants.inTier(tier.name(), cursor, PAGE);
        page.unreadable().forEach(newer -> invocation.log(newer.reason()));
        long followed =
            crew.count(
                page.items(),
                tenant -> lifecycle.follow(tenant, tier, invocation).isPresent(),
                invocation);
        all &= followed == page.items().size() && page.unreadable().isEmpty();
        cursor = page.next();
      } while (cursor.isPresent() && !invocation.isOver());
      if (!all || cursor.isPresent()) {
        return false;
      }
      tiers.markRolledOut(tier.name(), tier.version());
      return true;
    } catch (Unavailable unavailable) {
      invocation.log("tier " + tier.name() + ": not rolled out: " + unavailable.reason());
      return false;
    } catch (UnreadableRow unreadable) {
      invocation.log("tier " + tier.name() + ": not rolled out: " + unreadable.reason());
      return false;
    }
  }

  /**
   * How far a tier has been brought to those who have it: of the tenants that were looked at, which
   * are the first thousand by name.
   *
   * @param tenants those that were looked at, but for those that are leaving
   * @param unsettled those of them that do not say what the tier says yet, or have not been brought
   *     to what they say
   * @param more whether there are others
   */
  public record Reach(long tenants, long unsettled, boolean more) {}

  /** How far a tier has been brought to those who have it. A second behind. */
  public Reach reach(Tier tier) {
    long seen = 0;
    long unsettled = 0;
    int left = MOST_LOOKED_AT;
    Optional<String> cursor = Optional.empty();
    do {
      Page<Tenant> page = tenants.inTier(tier.name(), cursor, Math.min(left, PAGE));
      for (Tenant tenant : page.items()) {
        if (tenant.status() != TenantStatus.OFFBOARDING) {
          seen++;
          unsettled += tenant.settled() && follows(tenant, tier) ? 0 : 1;
        }
      }
      seen += page.unreadable().size();
      unsettled += page.unreadable().size();
      left -= page.items().size() + page.unreadable().size();
      cursor = page.next();
    } while (cursor.isPresent() && left > 0);
    return new Reach(seen, unsettled, cursor.isPresent());
  }

  private static boolean follows(Tenant tenant, Tier tier) {
    return tenant.changed(tier, tenant.overrides(), tenant.status()).desiresTheSameAs(tenant);
  }

  /**
   * Removes a tier that no tenant has.
   *
   * @param ifMatch which versions may be removed
   * @throws Unavailable if that could not be written, or not surely
   */
  public TierChangeResult remove(TierName name, IfMatch ifMatch) {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      TierChangeResult answer = planRemoval(name, ifMatch);
      if (!(answer instanceof Removable removable)) {
        return answer;
      }
      if (tiers.remove(name, removable.stands().version()) == WriteResult.DONE) {
        return new Removed();
      }
    }
    throw overtaken(name);
  }

  /** Whether a tier could be removed: {@link Removable}, or why not. Only reads. */
  public TierChangeResult planRemoval(TierName name, IfMatch ifMatch) {
    Optional<Tier> found = tiers.find(name);
    if (found.isEmpty()) {
      return new NoTier();
    }
    if (!ifMatch.holds(found.map(Tier::version))) {
      return new OtherVersion(found);
    }
    Page<Tenant> first = tenants.inTier(name, Optional.empty(), 1);
    return first.items().isEmpty() && first.unreadable().isEmpty()
        ? new Removable(found.get())
        : new StandsOtherwise("tenants have it");
  }
}
