package dev.tollgate.core.tenant;

import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.util.Optional;

/**
 * Where tiers are written down. {@link Tier#DEFAULTS} stand until they are replaced or removed.
 * Every method throws {@link Unavailable} if that could not be asked.
 */
public interface Tiers {
  /** The tier as it stands, read consistently. */
  Optional<Tier> find(TierName name);

  /** Every tier, by name, in one part. */
  Page<Tier> list();

  /**
   * Writes a tier down, if the version that stands is still the one before {@code next}'s; a
   * missing one has 0.
   */
  WriteResult put(Tier next);

  /**
   * Notes that every tenant has been brought to this version of the tier, unless it has changed
   * again.
   */
  void markRolledOut(TierName name, long version);

  /** Removes a tier, a default one too, if its version is still this one. */
  WriteResult remove(TierName name, long version);

  /**
   * The release that the silo of every tenant has been brought to, if any was, read consistently.
   */
  Optional<Release> rolledOutRelease();

  /** Notes that the silo of every tenant has been brought to this release. */
  void markRolledOut(Release release);
}
