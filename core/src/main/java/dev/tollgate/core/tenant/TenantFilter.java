package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import java.util.Optional;

/**
 * Which tenants are looked for: those to whom all of this applies.
 *
 * @param prefix what their ids begin with; such as an id could begin with
 * @param tier the tier that they have
 * @param pending whether only those are meant whose desired state has not been brought about
 */
public record TenantFilter(Optional<String> prefix, Optional<TierName> tier, boolean pending) {
  /** All tenants. */
  public static final TenantFilter ALL =
      new TenantFilter(Optional.empty(), Optional.empty(), false);

  /**
   * Checks the prefix.
   *
   * @throws InvalidValue if no id could begin so
   */
  public TenantFilter {
    prefix.ifPresent(TenantFilter::check);
  }

  /** Whatever an id begins with could be an id itself, but for nothing at all. */
  private static void check(String prefix) {
    try {
      var unused = new TenantId(prefix);
    } catch (InvalidValue invalid) {
      throw new InvalidValue("prefix", prefix, "the beginning of " + invalid.expected());
    }
  }

  /** Whether a tenant is looked for. */
  public boolean matches(Tenant tenant) {
    return prefix.map(tenant.id().value()::startsWith).orElse(true)
        && tier.map(tenant.tier()::equals).orElse(true)
        && !(pending && tenant.isSettled());
  }
}
