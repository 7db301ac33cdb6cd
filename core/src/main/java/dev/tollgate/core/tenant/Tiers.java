package dev.tollgate.core.tenant;

import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
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

  /** Deletes a tier, including default tiers, if its version is still this one. */
  WriteResult remove(TierName name, long version);

  /** The release that every silo runs, if it was recorded, read consistently. */
  Optional<Release> rolledOutRelease();

  /** Records that every silo runs this release. */
  void markRolledOut(Release release);
}
