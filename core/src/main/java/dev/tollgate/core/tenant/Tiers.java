package dev.tollgate.core.tenant;

import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Stores tiers. {@link Tier#DEFAULTS} exist until they are replaced or removed. Every method throws
 * {@link Unavailable} if the store fails.
 */
public interface Tiers {
  /** A tier, read consistently. */
  Optional<Tier> find(TierName name);

  /** All tiers, by name, in one page. */
  Page<Tier> list();

  /**
   * Stores a tier, if the stored version is still the one before {@code next}'s; a tier that is not
   * stored has version 0.
   */
  WriteResult put(Tier next);

  /**
   * Records that this version is in effect for every tenant of the tier, unless the tier has
   * changed again.
   */
  void markRolledOut(TierName name, long version);

  /** The roll-out of a tier's current version, read consistently. */
  Optional<RollOut> rollOut(TierName name);

  /**
   * Moves the walk of a roll-out on, unless another process has moved it or the tier has changed.
   *
   * @param read the roll-out as read
   * @param walkedTo the last id that is handed out now; at least one id after {@code read}'s, or
   *     the same at the end of the walk
   * @param walked whether the walk has reached the end
   * @param handedOut the range that is handed out now; empty if the caller has worked on it
   * @param failed the ranges in which the caller failed, with the number of failed tenants
   */
  WriteResult moveOn(
      RollOut read,
      Optional<TenantId> walkedTo,
      boolean walked,
      Optional<TenantRange> handedOut,
      Map<TenantRange, Long> failed,
      Instant now);

  /**
   * Records that a range in which tenants failed, or whose worker may have crashed, is handed out
   * again, unless it is finished or the tier has changed.
   */
  WriteResult handOutAgain(Tier tier, TenantRange range, Instant now);

  /**
   * Records that the work on a range that was handed out has ended, unless it is recorded already
   * or the tier has changed.
   *
   * @param failed the parts of the range in which tenants failed, with their number
   */
  WriteResult close(Tier tier, TenantRange range, Map<TenantRange, Long> failed);

  /** Deletes a tier, including default tiers, if its version is still this one. */
  WriteResult remove(TierName name, long version);

  /** The release that every silo runs, if it was recorded, read consistently. */
  Optional<Release> rolledOutRelease();

  /** Records that every silo runs this release. */
  void markRolledOut(Release release);
}
