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
 * Brings the silo of every tenant to the release that was deployed: has those tenants brought about
 * once more that were last brought to another.
 *
 * <p>The release counts as rolled out when a walk through all tenants finds every one of them
 * settled and of it. So a walk that ends early is gone on with by the next, and one that opened
 * tenants again is followed by one that sees what became of them, and of those whom a process of
 * the release before was at.
 */
public final class ReleaseRollOut {
  private static final int PAGE = 100;

  private final Ports ports;
  private final Release release;
  private final ParallelTasks crew;

  public ReleaseRollOut(Ports ports, Release release, ParallelTasks crew) {
    this.ports = ports;
    this.release = release;
    this.crew = crew;
  }

  /** Goes on with the release, if need be; returns how many silos are not known to be of it. */
  public long goOn(Invocation invocation) {
    try {
      if (ports.tiers().rolledOutRelease().equals(Optional.of(release))) {
        return 0;
      }
      long outdated = 0;
      Page<Tier> tiers = ports.tiers().list();
      outdated += unreadable(tiers, invocation);
      for (Tier tier : tiers.items()) {
        if (tier.isolation() == Isolation.SILO) {
          outdated += outdated(tier, invocation);
        }
      }
      if (outdated == 0 && !invocation.isOver()) {
        ports.tiers().markRolledOut(release);
      }
      return outdated;
    } catch (Unavailable unavailable) {
      invocation.log("release " + release + ": not rolled out: " + unavailable.reason());
      return 0;
    } catch (UnreadableRow unreadable) {
      invocation.log("release " + release + ": not rolled out: " + unreadable.reason());
      return 0;
    }
  }

  /** Logs the rows that cannot be read; returns how many there are. */
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
      outdated += page.items().size() - crew.count(page.items(), this::isUpToDate, invocation);
      cursor = page.next();
    } while (cursor.isPresent());
    return outdated;
  }

  /** Whether a tenant needs nothing more; opens it again if nobody is at it. */
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
