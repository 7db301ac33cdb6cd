package dev.tollgate.lawbook;

import java.time.Instant;

/**
 * The deviations that the faults injected so far explain, counted one by one as they strike. A
 * fault that a limiter must tolerate explains nothing.
 *
 * @param tokens how many tokens beyond the terms may have been admitted, such as one for each token
 *     that was delivered twice
 * @param strikes the number of faults so far
 * @param struckAt when the last fault struck that may delay a promised token
 */
public record Excuse(long tokens, long strikes, Instant struckAt) {
  /** No fault has struck. */
  public static final Excuse NONE = new Excuse(0, 0, Instant.MIN);

  /** Whether no fault has struck. */
  public boolean isNone() {
    return equals(NONE);
  }
}
