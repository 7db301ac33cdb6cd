package dev.tollgate.core.audit;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import java.time.Duration;
import java.util.Optional;

/**
 * Stores the audit. Every method throws {@link Unavailable} if the store fails. Reads are
 * eventually consistent.
 */
public interface AuditLog {
  /** How long entries are kept. */
  Duration KEPT = Duration.ofDays(400);

  /** Adds an entry, unless it is stored already: what is stored stays as it is. */
  void append(AuditEntry entry);

  /**
   * A page of the entries of a subject, newest first.
   *
   * @param cursor the end of the previous page
   * @param max 1 to 100
   * @throws InvalidValue if the cursor is not one of these entries
   */
  Page<AuditEntry> of(Subject subject, AuditSpan span, Optional<String> cursor, int max);

  /**
   * A page of all entries, newest first. The work for one page is limited, so a page may have fewer
   * than {@code max} entries, or none, although more pages follow.
   *
   * @param cursor the end of the previous page
   * @param max 1 to 100
   * @throws InvalidValue if the cursor is not one of these entries
   */
  Page<AuditEntry> all(AuditSpan span, Optional<String> cursor, int max);
}
