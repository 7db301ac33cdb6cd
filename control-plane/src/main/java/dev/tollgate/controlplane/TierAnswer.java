package dev.tollgate.controlplane;

import dev.tollgate.core.tenant.Tier;

/** What became of a tier that was to be written down or removed. */
sealed interface TierAnswer {
  /** It is new. */
  record Created(Tier tier) implements TierAnswer {}

  /**
   * It says what was asked, now or already.
   *
   * @param rolledOut whether all its tenants have been brought to it; if not, the sweep goes on
   */
  record Stands(Tier tier, boolean rolledOut) implements TierAnswer {}

  /** It is gone. */
  record Removed() implements TierAnswer {}

  /** Something stands against it; nothing was changed. */
  record StandsOtherwise(String reason) implements TierAnswer {}

  /** There is no such tier. */
  record NoTier() implements TierAnswer {}
}
