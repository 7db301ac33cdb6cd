package dev.tollgate.core.tenant;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketSpec;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The desired state of a customer of the SaaS. It contains the limits and buckets that follow from
 * tier and overrides, so that an admission reads one row.
 *
 * @param id its id
 * @param tier its tier
 * @param overrides the settings that override its tier's
 * @param status whether it is active
 * @param limits the limits that follow from tier and overrides
 * @param isolation whether it has its own queue and function
 * @param buckets its buckets, by action
 * @param onUnavailable what happens to connections when a queue fails
 * @param version counts the changes of the desired state, from 1
 * @param observedVersion the version that is in effect; 0 for none
 * @param onboardedAt when it was onboarded, to the millisecond; empty if an older release did that
 */
public record Tenant(
    TenantId id,
    TierName tier,
    Overrides overrides,
    TenantStatus status,
    Limits limits,
    Isolation isolation,
    SortedMap<Action, BucketSpec> buckets,
    OnUnavailable onUnavailable,
    long version,
    long observedVersion,
    Optional<Instant> onboardedAt) {
  /** Copies the buckets. */
  public Tenant {
    buckets = Collections.unmodifiableSortedMap(new TreeMap<>(buckets));
  }

  /**
   * A new tenant, without the time of its onboarding.
   *
   * @throws InvalidValue if an override is out of range
   */
  public static Tenant onboarded(TenantId id, Tier tier, Overrides overrides) {
    return resolved(id, tier, overrides, TenantStatus.ACTIVE, 1, 0, Optional.empty());
  }

  /**
   * This tenant under a tier, with these overrides and status, as its next version.
   *
   * @throws InvalidValue if an override is out of range
   */
  public Tenant changed(Tier tier, Overrides overrides, TenantStatus status) {
    return resolved(id, tier, overrides, status, version + 1, observedVersion, onboardedAt);
  }

  /** This tenant with the time of its onboarding. */
  public Tenant withOnboardedAt(Instant at) {
    return new Tenant(
        id,
        tier,
        overrides,
        status,
        limits,
        isolation,
        buckets,
        onUnavailable,
        version,
        observedVersion,
        Optional.of(at.truncatedTo(ChronoUnit.MILLIS)));
  }

  /** This tenant with other limits, for one request. */
  public Tenant with(Limits others) {
    return new Tenant(
        id,
        tier,
        overrides,
        status,
        others,
        isolation,
        buckets,
        onUnavailable,
        version,
        observedVersion,
        onboardedAt);
  }

  /** This tenant being offboarded, as its next version. */
  public Tenant offboarding() {
    return nextVersion(TenantStatus.OFFBOARDING);
  }

  /** This tenant pending again, as its next version. */
  public Tenant withNextVersion() {
    return nextVersion(status);
  }

  /** This tenant with its version in effect. */
  public Tenant inEffect() {
    return new Tenant(
        id,
        tier,
        overrides,
        status,
        limits,
        isolation,
        buckets,
        onUnavailable,
        version,
        version,
        onboardedAt);
  }

  private Tenant nextVersion(TenantStatus next) {
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
        observedVersion,
        onboardedAt);
  }

  private static Tenant resolved(
      TenantId id,
      Tier tier,
      Overrides overrides,
      TenantStatus status,
      long version,
      long observedVersion,
      Optional<Instant> onboardedAt) {
    return new Tenant(
        id,
        tier.name(),
        overrides,
        status,
        tier.limitsUnder(overrides),
        tier.isolation(),
        tier.bucketsUnder(overrides),
        tier.onUnavailable(),
        version,
        observedVersion,
        onboardedAt);
  }

  /** Whether refused callers wait in line for any of its buckets. */
  public boolean line() {
    return buckets.values().stream().anyMatch(BucketSpec::line);
  }

  /** Whether both have the same desired state, apart from versions and times. */
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

  /** Whether the desired state is in effect; if not, the tenant is pending. */
  public boolean isSettled() {
    return observedVersion == version;
  }
}
