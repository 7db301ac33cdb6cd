package dev.tollgate.lawbook;

import java.time.Instant;

/**
 * What the faults that were injected so far account for, counted one by one as they strike. A fault
 * that a limiter must bear is no excuse.
 *
 * @param tokens how many more tokens than the terms say may have been admitted: one for each that
 *     was delivered twice, and so on
 * @param strikes how many faults struck
 * @param struckAt when a fault last struck that may make a promised time wrong
 */
public record Excuse(long tokens, long strikes, Instant struckAt) {
  /** Nothing went wrong. */
  public static final Excuse NONE = new Excuse(0, 0, Instant.MIN);

  /** Whether nothing went wrong. */
  public boolean isNone() {
    return equals(NONE);
  }
}
