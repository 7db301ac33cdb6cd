package dev.tollgate.core.audit;

import java.util.Map;
import java.util.Optional;

/** Reads entries from the rows of the audit that a stream gives. */
@FunctionalInterface
public interface StoredEntries {
  /**
   * The entry in a row; empty if the row cannot be read.
   *
   * @param row the fields of the row, those within a map as {@code map.field}
   */
  Optional<AuditEntry> of(Map<String, String> row);
}
