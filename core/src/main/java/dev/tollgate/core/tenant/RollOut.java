package dev.tollgate.core.tenant;

import dev.tollgate.core.TenantId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * How far a tier's current version has been rolled out. A walk over the tier's tenants, in the
 * order of their ids, hands out one range after another. So the roll-out continues where it
 * stopped, and repeats only ranges that were not finished.
 *
 * @param tier the tier with its current version
 * @param walkedTo the last id that the walk handed out; empty if it has not begun
 * @param walked whether the walk has reached the end
 * @param handedOut the ranges that are being worked on, with the time at which each was handed out
 * @param failed the ranges in which tenants failed, with their number
 */
public record RollOut(
    Tier tier,
    Optional<TenantId> walkedTo,
    boolean walked,
    Map<TenantRange, Instant> handedOut,
    Map<TenantRange, Long> failed) {
  /** Copies the maps. */
  public RollOut {
    handedOut = Map.copyOf(handedOut);
    failed = Map.copyOf(failed);
  }

  /** The roll-out of a version that has not begun. */
  public static RollOut of(Tier tier) {
    return new RollOut(tier, Optional.empty(), false, Map.of(), Map.of());
  }

  /** Whether every tenant follows the tier's current version. */
  public boolean isFinished() {
    return walked && handedOut.isEmpty() && failed.isEmpty();
  }
}
