package dev.tollgate.core.session;

import java.util.Map;

/**
 * A correction of a tenant's count.
 *
 * @param open what to add to the count; may be negative
 * @param parts what to add to each part, by the part's number
 */
public record Correction(long open, Map<Integer, Long> parts) {
  /** Copies the map. */
  public Correction {
    parts = Map.copyOf(parts);
  }
}
