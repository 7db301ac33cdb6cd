package dev.tollgate.core.audit;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** Reads what an operator or a part of Tollgate changed from a change of a row. */
@FunctionalInterface
public interface RowAudit {
  /**
   * The entry of a write; empty if it changed nothing that an operator sets.
   *
   * @param id the id of the entry
   * @param before the fields of the row before, those within a map as {@code map.field}; empty if
   *     it is new
   * @param after those of the row after; empty if it was deleted
   * @param at when it was written
   */
  Optional<AuditEntry> of(
      String id, Map<String, String> before, Map<String, String> after, Instant at);
}
