package dev.tollgate.controlplane;

import dev.tollgate.controlplane.TierAnswer.Created;
import dev.tollgate.controlplane.TierAnswer.NoTier;
import dev.tollgate.controlplane.TierAnswer.Removed;
import dev.tollgate.controlplane.TierAnswer.Stands;
import dev.tollgate.controlplane.TierAnswer.StandsOtherwise;
import dev.tollgate.core.Page;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.Written;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import java.time.Duration;
import java.util.Optional;

/** Writes tiers down, rolls them out to the tenants that have them, and removes them. */
final class TierCatalog {
  private static final int MOST_ATTEMPTS = 10;
  private static final int PAGE = 100;

  /** How far the listing of a tier's tenants may be behind (a DynamoDB secondary index). */
  private static final Duration INDEX_DELAY = Duration.ofSeconds(1);

  private final Tenants tenants;
  private final Tiers tiers;
  private final TenantLifecycle lifecycle;
  private final Crew crew;
  private final Pause pause;

  TierCatalog(Tenants tenants, Tiers tiers, TenantLifecycle lifecycle, Crew crew, Pause pause) {
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
   * @throws Unavailable if it could not be written down, or not surely
   */
  TierAnswer put(Tier asked, Optional<Long> expected, Invocation invocation) {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      Optional<Tier> found = tiers.find(asked.name());
      if (found.isPresent() && asked.saysTheSameAs(found.get())) {
        return new Stands(
            found.get(), isRolledOut(found.get()) || rollOut(found.get(), invocation));
      }
      long version = found.map(Tier::version).orElse(0L);
      if (expected.isPresent() && expected.get() != version) {
        return new StandsOtherwise("version " + version + " of the tier stands");
      }
      Tier next = asked.succeeding(version);
      if (tiers.put(next) == Written.DONE) {
        return found.isPresent() ? new Stands(next, rollOut(next, invocation)) : created(next);
      }
    }
    throw new Unavailable("tier " + asked.name() + ": overtaken " + MOST_ATTEMPTS + " times");
  }

  private Created created(Tier tier) {
    tiers.markRolledOut(tier.name(), tier.version());
    return new Created(tier);
  }

  static boolean isRolledOut(Tier tier) {
    return tier.rolledOut() >= tier.version();
  }

  /**
   * Brings every tenant of the tier to this version of it.
   *
   * @return whether that is done; if not, it may be repeated
   */
  boolean rollOut(Tier tier, Invocation invocation) {
    pause.of(INDEX_DELAY);
    try {
      Optional<String> cursor = Optional.empty();
      do {
        Page<Tenant> page = tenants.inTier(tier.name(), cursor, PAGE);
        long followed =
            crew.count(
                page.items(),
                tenant -> lifecycle.follow(tenant, tier, invocation).isPresent(),
                invocation);
        if (followed < page.items().size()) {
          return false;
        }
        cursor = page.next();
      } while (cursor.isPresent());
      tiers.markRolledOut(tier.name(), tier.version());
      return true;
    } catch (Unavailable unavailable) {
      invocation.log("tier " + tier.name() + ": not rolled out: " + unavailable.reason());
      return false;
    }
  }

  /**
   * Removes a tier that no tenant has.
   *
   * @throws Unavailable if that could not be written, or not surely
   */
  TierAnswer remove(TierName name) {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      Optional<Tier> found = tiers.find(name);
      if (found.isEmpty()) {
        return new NoTier();
      }
      if (!tenants.inTier(name, Optional.empty(), 1).items().isEmpty()) {
        return new StandsOtherwise("tenants have it");
      }
      if (tiers.remove(name, found.get().version()) == Written.DONE) {
        return new Removed();
      }
    }
    throw new Unavailable("tier " + name + ": overtaken " + MOST_ATTEMPTS + " times");
  }
}
