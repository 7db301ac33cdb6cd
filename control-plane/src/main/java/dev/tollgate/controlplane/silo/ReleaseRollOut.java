package dev.tollgate.controlplane.silo;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.provisioning.Silo;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import java.util.Optional;

/**
 * Rolls the deployed release out to the silos of all tenants: reopens each tenant whose silo runs
 * another release, so that the sweep reconciles it.
 *
 * <p>The release counts as rolled out when a pass over all tenants finds every one of them settled
 * and its silo at this release. If a pass ends early, the next one continues it. The next pass also
 * checks the tenants that this pass reopened, and those that a process of the previous release has
 * changed.
 */
public final class ReleaseRollOut {
  private static final int PAGE = 1_000;

  private final Ports ports;
  private final Release release;
  private final ParallelTasks parallel;

  /**
   * A roll-out of this release.
   *
   * @param parallel checks the tenants
   */
  public ReleaseRollOut(Ports ports, Release release, ParallelTasks parallel) {
    this.ports = ports;
    this.release = release;
    this.parallel = parallel;
  }

  /**
   * Continues the roll-out.
   *
   * @return the number of silos that are not known to be at the release: 0 only if the release is
   *     rolled out, and at least 1 if the time ran out or a row cannot be read
   */
  public long resume(Invocation invocation) {
    long outdated = 0;
    try {
      if (ports.tiers().rolledOutRelease().equals(Optional.of(release))) {
        return 0;
      }
      Page<Tier> tiers = ports.tiers().list();
      outdated += unreadable(tiers, invocation);
      for (Tier tier : tiers.items()) {
        if (tier.isolation() == Isolation.SILO) {
          outdated += outdated(tier, invocation);
        }
      }
      if (outdated == 0 && !invocation.isOver()) {
        ports.tiers().markRolledOut(release);
        return 0;
      }
    } catch (Unavailable unavailable) {
      invocation.log("release " + release + ": not rolled out: " + unavailable.reason());
    } catch (UnreadableRow unreadable) {
      invocation.log("release " + release + ": not rolled out: " + unreadable.reason());
    }
    return Math.max(1, outdated);
  }

  /** Logs the unreadable rows of a page; returns their number. */
  private static long unreadable(Page<?> page, Invocation invocation) {
    page.unreadable().forEach(newer -> invocation.log(newer.reason()));
    return page.unreadable().size();
  }

  private long outdated(Tier tier, Invocation invocation) {
    long outdated = 0;
    Optional<String> cursor = Optional.empty();
    do {
      Page<Tenant> page = ports.tenants().inTier(tier.name(), cursor, PAGE);
      outdated += unreadable(page, invocation);
      outdated += page.items().size() - parallel.count(page.items(), this::isUpToDate, invocation);
      cursor = page.next();
    } while (cursor.isPresent() && !invocation.isOver());
    return outdated;
  }

  /** Whether a tenant's silo is at the release. A settled tenant whose silo is not is reopened. */
  private boolean isUpToDate(Tenant tenant) {
    if (tenant.isolation() == Isolation.POOL || tenant.status() == TenantStatus.OFFBOARDING) {
      return true;
    }
    if (!tenant.isSettled()) {
      return false;
    }
    TenantId id = tenant.id();
    if (ports.silos().find(id).filter(silo -> isCurrent(silo)).isPresent()) {
      return true;
    }
    ports.tenants().replace(tenant.withNextVersion());
    return false;
  }

  private boolean isCurrent(Silo silo) {
    return silo.isOpenAt(release);
  }
}
