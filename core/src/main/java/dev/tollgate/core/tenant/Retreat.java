package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;
import java.util.Optional;

/**
 * A tier's rule by which it stops enforcing its limits by itself, when they refuse too many.
 *
 * @param abovePercent it does so if more than this share of the connections of its tenants is
 *     refused, 1 to 99 percent
 * @param at when it last did so; empty if it never did
 */
public record Retreat(long abovePercent, Optional<Instant> at) {
  /**
   * Checks the share.
   *
   * @throws InvalidValue if it is out of range
   */
  public Retreat {
    InvalidValue.inRange("retreatAbovePercent", abovePercent, 1, 99);
  }
}
