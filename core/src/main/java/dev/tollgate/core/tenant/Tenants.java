package dev.tollgate.core.tenant;

import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.util.List;
import java.util.Optional;

/**
 * Where tenants are written down. Every method throws {@link Unavailable} if that could not be
 * asked.
 */
public interface Tenants {
  /** The tenant as it stands, read consistently. */
  Optional<Tenant> find(TenantId id);

  /** Writes a new tenant down, unless there is one of that name. */
  WriteResult create(Tenant tenant);

  /** Replaces a tenant, if its version is still the one before {@code next}'s. */
  WriteResult replace(Tenant next);

  /** Notes that this version has been brought about, unless what is desired has changed again. */
  void markObserved(TenantId id, long version);

  /** Forgets the tenant, if its version is still this one; harmless if there is none. */
  WriteResult remove(TenantId id, long version);

  /** Tenants, in no order, read consistently; the part after {@code cursor}, or the first. */
  Page<Tenant> list(Optional<String> cursor, int most);

  /**
   * Tenants that are looked for, in no order; the part after {@code cursor}, or the first. A part
   * may have fewer than {@code most}, even none, and others follow if it says so: how much is
   * looked through for one part is bounded. What a tier or {@code pending} is looked for by is a
   * second behind.
   *
   * @param most 1 to 100
   */
  Page<Tenant> search(TenantFilter filter, Optional<String> cursor, int most);

  /** Tenants of a tier, by name; the part after {@code cursor}, or the first. A second behind. */
  Page<Tenant> inTier(TierName tier, Optional<String> cursor, int most);

  /** Names of tenants whose desired state has not been brought about. A second behind. */
  List<TenantId> listPending(int most);
}
