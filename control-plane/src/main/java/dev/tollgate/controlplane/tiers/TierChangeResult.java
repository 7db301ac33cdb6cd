package dev.tollgate.controlplane.tiers;

import dev.tollgate.core.tenant.Tier;
import java.util.Optional;

/** What became of a tier that was to be written down or removed. */
public sealed interface TierChangeResult {
  /** It is new. */
  record Created(Tier tier) implements TierChangeResult {}

  /**
   * It says what was asked, now or already.
   *
   * @param rolledOut whether all its tenants have been brought to it; if not, the sweep goes on
   */
  record Stands(Tier tier, boolean rolledOut) implements TierChangeResult {}

  /** The request is not meant for the version that stands; nothing was changed. */
  record OtherVersion(Optional<Tier> stands) implements TierChangeResult {}

  /** It would be written down so; nothing was changed. */
  record Planned(Optional<Tier> stands, Tier next) implements TierChangeResult {
    /** Whether it says all that already. */
    public boolean changesNothing() {
      return stands.filter(next::saysTheSameAs).isPresent();
    }
  }

  /** It could be removed; nothing was changed. */
  record Removable(Tier stands) implements TierChangeResult {}

  /** It is gone. */
  record Removed() implements TierChangeResult {}

  /** Something stands against it; nothing was changed. */
  record StandsOtherwise(String reason) implements TierChangeResult {}

  /** There is no such tier. */
  record NoTier() implements TierChangeResult {}
}
