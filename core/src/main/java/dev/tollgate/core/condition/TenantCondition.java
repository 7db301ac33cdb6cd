package dev.tollgate.core.condition;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.tenant.Limit;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The state of a tenant.
 *
 * @param throttled its refusals when it began to be throttled; empty if it is not
 * @param near the limits that it is near, with what it used of them when that began
 */
public record TenantCondition(
    TenantId tenant, Optional<Throttling> throttled, SortedMap<Limit, Long> near) {
  /** Copies the limits. */
  public TenantCondition {
    near = Collections.unmodifiableSortedMap(new TreeMap<>(near));
  }

  /** A tenant that is not throttled and near no limit. */
  public static TenantCondition ordinary(TenantId tenant) {
    return new TenantCondition(tenant, Optional.empty(), Collections.emptySortedMap());
  }

  /** Whether it is not throttled and near no limit. */
  public boolean isOrdinary() {
    return throttled.isEmpty() && near.isEmpty();
  }

  /** This condition with another throttling. */
  public TenantCondition with(Optional<Throttling> next) {
    return new TenantCondition(tenant, next, near);
  }

  /** This condition near other limits. */
  TenantCondition with(Map<Limit, Long> limits) {
    return new TenantCondition(tenant, throttled, new TreeMap<>(limits));
  }

  /**
   * The connections of the minutes that a decision was made by.
   *
   * @param refused those that limits refused
   */
  public record Throttling(long admitted, long refused) {}
}
