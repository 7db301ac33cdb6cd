package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import java.util.Optional;

/**
 * Selects tenants to which all criteria apply.
 *
 * @param prefix the prefix of their ids
 * @param tier their tier
 * @param pending whether to select pending tenants only
 */
public record TenantFilter(Optional<String> prefix, Optional<TierName> tier, boolean pending) {
  /** All tenants. */
  public static final TenantFilter ALL =
      new TenantFilter(Optional.empty(), Optional.empty(), false);

  /**
   * Checks the prefix.
   *
   * @throws InvalidValue if no id can have this prefix
   */
  public TenantFilter {
    prefix.ifPresent(TenantFilter::check);
  }

  /** Every non-empty prefix of a valid id is a valid id. */
  private static void check(String prefix) {
    try {
      var unused = new TenantId(prefix);
    } catch (InvalidValue invalid) {
      throw new InvalidValue(
          "prefix", prefix, "the beginning of a tenant id: " + invalid.expected());
    }
  }

  /** Whether a tenant meets all criteria. */
  public boolean matches(Tenant tenant) {
    return prefix.map(tenant.id().value()::startsWith).orElse(true)
        && tier.map(tenant.tier()::equals).orElse(true)
        && !(pending && tenant.isSettled());
  }
}
