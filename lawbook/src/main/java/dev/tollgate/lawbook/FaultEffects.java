package dev.tollgate.lawbook;

import java.time.Instant;

/**
 * The effects of the faults injected so far, counted at each fault. A fault that a limiter must
 * tolerate has no effect.
 *
 * @param tokens how many tokens beyond the terms may have been admitted, such as one for each token
 *     that was delivered twice
 * @param faults the number of faults so far
 * @param lastFaultAt the time of the last fault that may delay a promised token
 */
public record FaultEffects(long tokens, long faults, Instant lastFaultAt) {
  /** No faults. */
  public static final FaultEffects NONE = new FaultEffects(0, 0, Instant.MIN);

  /** Whether no fault was injected so far. */
  public boolean isNone() {
    return equals(NONE);
  }
}
