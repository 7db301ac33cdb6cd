package dev.tollgate.core.tenant;

import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Stores tenants. Every method throws {@link Unavailable} if the store fails. */
public interface Tenants {
  /** A tenant, read consistently. */
  Optional<Tenant> find(TenantId id);

  /** Creates a tenant, unless it exists. */
  WriteResult create(Tenant tenant);

  /** Replaces a tenant, if the stored version is still the one before {@code next}'s. */
  WriteResult replace(Tenant next);

  /** Records that this version is in effect, unless the desired state has changed again. */
  void markObserved(TenantId id, long version);

  /** Deletes the tenant, if its version is still this one. Does nothing if it does not exist. */
  WriteResult remove(TenantId id, long version);

  /** A page of all tenants, unordered, read consistently. */
  Page<Tenant> list(Optional<String> cursor, int max);

  /**
   * A page of the tenants that match, unordered. The work for one page is limited, so a page may
   * have fewer than {@code max} tenants, or none, although more pages follow. Searches by tier and
   * by {@code pending} are eventually consistent.
   *
   * @param max 1 to 100
   */
  Page<Tenant> search(TenantFilter filter, Optional<String> cursor, int max);

  /** A page of the tenants of a tier, by id, eventually consistent. */
  Page<Tenant> inTier(TierName tier, Optional<String> cursor, int max);

  /**
   * The first ids of pending tenants after {@code after}, or the first of all, in order, eventually
   * consistent. There are fewer than {@code max} only if no more follow.
   */
  List<TenantId> listPending(Optional<TenantId> after, int max);

  /**
   * The first ids of tenants for which a window of their own scheduled limits opens or closes at
   * this instant or before, those that are late most first, eventually consistent. Tenants that are
   * being offboarded are not listed.
   */
  List<TenantId> listDue(Instant now, int max);
}
