package dev.tollgate.core.audit;

import dev.tollgate.core.Unavailable;
import java.util.List;
import java.util.Set;

/** Tells other programs of changes, at least once each. */
public interface ChangeEvents {
  /** The most entries of one call. */
  int MAX = 10;

  /**
   * Publishes an event for each entry, with the entry's id.
   *
   * @param entries 1 to {@value #MAX}
   * @return the ids of the entries that were not accepted and must be published again
   * @throws Unavailable if none is known to be accepted
   */
  Set<String> publish(List<AuditEntry> entries);
}
