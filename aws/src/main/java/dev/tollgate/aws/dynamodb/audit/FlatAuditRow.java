package dev.tollgate.aws.dynamodb.audit;

import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.audit.StoredEntries;
import dev.tollgate.core.audit.Subject;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Rows of the Audit table as its stream gives them. */
public final class FlatAuditRow implements StoredEntries {
  @Override
  public Optional<AuditEntry> of(Map<String, String> row) {
    try {
      String at = text(row, AuditRow.AT);
      return Optional.of(
          new AuditEntry(
              text(row, AuditRow.ID),
              Instant.parse(at.substring(0, Math.max(0, at.indexOf('#')))),
              new Subject(text(row, AuditRow.SUBJECT)),
              ChangeType.labelled(text(row, AuditRow.WHAT)),
              new Author(text(row, AuditRow.BY), text(row, AuditRow.REQUEST)),
              fields(row, AuditRow.FROM),
              fields(row, AuditRow.TO)));
    } catch (IllegalArgumentException | DateTimeException handmade) {
      return Optional.empty();
    }
  }

  private static String text(Map<String, String> row, String name) {
    return row.getOrDefault(name, "");
  }

  private static SortedMap<String, String> fields(Map<String, String> row, String map) {
    SortedMap<String, String> fields = new TreeMap<>();
    row.forEach(
        (name, value) -> {
          if (name.startsWith(map + ".")) {
            fields.put(name.substring(map.length() + 1), value);
          }
        });
    return fields;
  }
}
