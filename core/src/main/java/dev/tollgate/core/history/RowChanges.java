package dev.tollgate.core.history;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** Reads what happened to a tenant from a change of one of its rows. */
@FunctionalInterface
public interface RowChanges {
  /**
   * What a write of a row tells; empty if nothing, or if the row cannot be read.
   *
   * @param before the texts and numbers of the row before; empty if it is new
   * @param after those of the row after; empty if it was deleted
   * @param at when it was written
   */
  Optional<Change> of(Map<String, String> before, Map<String, String> after, Instant at);
}
