package dev.tollgate.controlplane.tenants;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A requested change of a tenant. Empty members stay as they are.
 *
 * @param tier the new tier
 * @param overrides all overrides after the change, except scheduled limits
 * @param status the new status
 * @param schedules the change of its scheduled limits
 */
public record TenantPatch(
    Optional<TierName> tier,
    Optional<Overrides> overrides,
    Optional<TenantStatus> status,
    Optional<UnaryOperator<LimitSchedules>> schedules) {
  /** A change that leaves scheduled limits as they are. */
  public TenantPatch(
      Optional<TierName> tier, Optional<Overrides> overrides, Optional<TenantStatus> status) {
    this(tier, overrides, status, Optional.empty());
  }

  /** A change of scheduled limits alone. */
  public static TenantPatch of(UnaryOperator<LimitSchedules> schedules) {
    return new TenantPatch(
        Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(schedules));
  }

  /** Whether scheduled limits may exceed what a request may set: not if windows are cancelled. */
  boolean mayExceed(Tenant current, Tenant planned) {
    List<LimitSchedule> before = current.overrides().schedules().all();
    return tier.isPresent()
        || overrides.isPresent()
        || !before.containsAll(planned.overrides().schedules().all());
  }

  /**
   * The tenant after the change.
   *
   * @param tier the tenant's tier after the change
   * @throws InvalidValue if an override is out of range
   */
  Tenant applied(Tenant current, Tier tier) {
    LimitSchedules before = current.overrides().schedules();
    return current.changed(
        tier,
        overrides
            .orElse(current.overrides())
            .with(schedules.map(change -> change.apply(before)).orElse(before)),
        status.orElse(current.status()));
  }
}
