package dev.tollgate.core.tenant;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketSpec;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A customer of the SaaS, as it is desired to be. What its tier and its overrides come to is
 * written down with it, so that admitting a connection reads one row.
 *
 * @param id its name
 * @param tier the tier that it has
 * @param overrides limits of its own
 * @param status whether it is served
 * @param limits what tier and overrides come to
 * @param isolation whose queue and function its messages go through
 * @param buckets what buckets it has, and how they are filled
 * @param onUnavailable what happens when a bucket cannot be asked
 * @param version counts the changes of what is desired, from 1
 * @param observedVersion the version up to which it has been brought about; 0 for none
 */
public record Tenant(
    TenantId id,
    TierName tier,
    Map<Limit, Long> overrides,
    TenantStatus status,
    Limits limits,
    Isolation isolation,
    SortedMap<Action, BucketSpec> buckets,
    OnUnavailable onUnavailable,
    long version,
    long observedVersion) {
  /** Copies the maps. */
  public Tenant {
    overrides = Map.copyOf(overrides);
    buckets = Collections.unmodifiableSortedMap(new TreeMap<>(buckets));
  }

  /**
   * A new tenant.
   *
   * @throws InvalidValue if an override is out of range
   */
  public static Tenant onboarded(TenantId id, Tier tier, Map<Limit, Long> overrides) {
    return resolved(id, tier, overrides, TenantStatus.ACTIVE, 1, 0);
  }

  /**
   * This tenant under a tier, with these overrides and status, as its next version.
   *
   * @throws InvalidValue if an override is out of range
   */
  public Tenant changed(Tier tier, Map<Limit, Long> overrides, TenantStatus status) {
    return resolved(id, tier, overrides, status, version + 1, observedVersion);
  }

  /** This tenant as one that is being removed, as its next version. */
  public Tenant offboarding() {
    return succeeding(TenantStatus.OFFBOARDING);
  }

  /** This tenant to be brought about once more, as its next version. */
  public Tenant withNextVersion() {
    return succeeding(status);
  }

  private Tenant succeeding(TenantStatus next) {
    return new Tenant(
        id,
        tier,
        overrides,
        next,
        limits,
        isolation,
        buckets,
        onUnavailable,
        version + 1,
        observedVersion);
  }

  private static Tenant resolved(
      TenantId id,
      Tier tier,
      Map<Limit, Long> overrides,
      TenantStatus status,
      long version,
      long observedVersion) {
    Limits limits = tier.limits().with(overrides);
    return new Tenant(
        id,
        tier.name(),
        overrides,
        status,
        limits,
        tier.isolation(),
        tier.bucketsUnder(limits),
        tier.onUnavailable(),
        version,
        observedVersion);
  }

  /** Whether the same is desired of both, versions apart. */
  public boolean hasSameDesiredStateAs(Tenant other) {
    return id.equals(other.id)
        && tier.equals(other.tier)
        && overrides.equals(other.overrides)
        && status == other.status
        && limits.equals(other.limits)
        && isolation == other.isolation
        && buckets.equals(other.buckets)
        && onUnavailable == other.onUnavailable;
  }

  /** Whether all that is desired has been brought about. */
  public boolean isSettled() {
    return observedVersion == version;
  }
}
