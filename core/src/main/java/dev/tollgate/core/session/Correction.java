package dev.tollgate.core.session;

import java.util.Map;

/**
 * What is to be added to a tenant's count.
 *
 * @param open what to add to the number of open connections, up or down
 * @param parts what to add to single parts, by their number
 */
public record Correction(long open, Map<Integer, Long> parts) {
  /** Copies the map. */
  public Correction {
    parts = Map.copyOf(parts);
  }
}
