package dev.tollgate.controlplane.tiers;

import dev.tollgate.core.tenant.Tier;
import java.util.Optional;

/** The result of a request to put or remove a tier. */
public sealed interface TierChangeResult {
  /** The tier is new. */
  record Created(Tier tier) implements TierChangeResult {}

  /**
   * The tier is as requested, since this request or since before.
   *
   * @param rolledOut whether all its tenants follow it; if not, the sweep continues
   */
  record Applied(Tier tier, boolean rolledOut) implements TierChangeResult {}

  /**
   * The request does not name the tier's current version; nothing was changed.
   *
   * @param current the current tier; empty if there is none
   */
  record VersionMismatch(Optional<Tier> current) implements TierChangeResult {}

  /**
   * The change is possible; nothing was changed.
   *
   * @param current the current tier; empty if there is none
   * @param planned the tier after the change
   */
  record Planned(Optional<Tier> current, Tier planned) implements TierChangeResult {
    /** Whether the current tier is already as requested. */
    public boolean changesNothing() {
      return current.filter(planned::hasSameDefinitionAs).isPresent();
    }
  }

  /** The tier can be removed; nothing was changed. */
  record Removable(Tier current) implements TierChangeResult {}

  /** The tier was removed. */
  record Removed() implements TierChangeResult {}

  /**
   * The current state conflicts with the request; nothing was changed.
   *
   * @param reason the conflict and what the caller can do, in sentences
   */
  record Conflict(String reason) implements TierChangeResult {}

  /** The tier does not exist. */
  record TierNotFound() implements TierChangeResult {}
}
