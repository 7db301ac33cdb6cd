package dev.tollgate.core.testing.memory;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.audit.AuditSpan;
import dev.tollgate.core.audit.Subject;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The audit in memory. */
public class InMemoryAuditLog implements AuditLog {
  private final TreeMap<String, AuditEntry> entries = new TreeMap<>();

  private static String position(AuditEntry entry) {
    return "%015d#%s".formatted(entry.at().toEpochMilli(), entry.id());
  }

  @Override
  public synchronized void append(AuditEntry entry) {
    entries.putIfAbsent(position(entry), entry);
  }

  @Override
  public Page<AuditEntry> of(Subject subject, AuditSpan span, Optional<String> cursor, int max) {
    return page(entry -> entry.subject().equals(subject), span, cursor, max);
  }

  @Override
  public Page<AuditEntry> all(AuditSpan span, Optional<String> cursor, int max) {
    return page(entry -> true, span, cursor, max);
  }

  private synchronized Page<AuditEntry> page(
      Predicate<AuditEntry> wanted, AuditSpan span, Optional<String> cursor, int max) {
    cursor.ifPresent(
        text ->
            InvalidValue.unless(
                entries.containsKey(text), "cursor", text, "the cursor of the previous page"));
    List<AuditEntry> found =
        entries.headMap(cursor.orElse("~"), false).descendingMap().values().stream()
            .filter(wanted)
            .filter(entry -> !entry.at().isBefore(span.from()) && entry.at().isBefore(span.to()))
            .limit(max + 1L)
            .toList();
    return found.size() <= max
        ? new Page<>(found, Optional.empty())
        : new Page<>(found.subList(0, max), Optional.of(position(found.get(max - 1))));
  }
}
