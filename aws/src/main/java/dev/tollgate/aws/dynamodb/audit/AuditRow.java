package dev.tollgate.aws.dynamodb.audit;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.audit.Subject;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Reads and writes entries of the audit as rows of the Audit table. */
final class AuditRow {
  /** The partition key: the subject. */
  static final String SUBJECT = "subject";

  /** The sort key: the instant, {@code #} and the id. No two rows have the same. */
  static final String AT = "at";

  /** The day of the change, by which the index {@link #BY_DAY} finds all subjects. */
  static final String DAY = "day";

  static final String BY_DAY = "byDay";

  /** Texts in this form sort by time. */
  private static final DateTimeFormatter INSTANT =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  static final String ID = "id";
  static final String WHAT = "what";
  static final String BY = "by";
  static final String REQUEST = "request";
  static final String FROM = "from";
  static final String TO = "to";

  private AuditRow() {}

  static Map<String, AttributeValue> write(AuditEntry entry) {
    Map<String, AttributeValue> row =
        Row.withSchema(Map.of(SUBJECT, Attribute.text(entry.subject().value())));
    row.put(AT, Attribute.text(at(entry.at()) + "#" + entry.id()));
    row.put(DAY, Attribute.text(day(entry.at()).toString()));
    row.put(ID, Attribute.text(entry.id()));
    row.put(WHAT, Attribute.text(entry.what().label()));
    row.put(BY, Attribute.text(entry.author().who()));
    row.put(REQUEST, Attribute.text(entry.author().request()));
    row.put(FROM, Attribute.map(entry.from(), Function.identity(), Attribute::text));
    row.put(TO, Attribute.map(entry.to(), Function.identity(), Attribute::text));
    row.put("expiresAt", Attribute.number(entry.at().plus(AuditLog.KEPT).getEpochSecond()));
    return row;
  }

  static AuditEntry read(Row stored) {
    return stored.read("audit entry", stored.text(AT), AuditRow::entry);
  }

  private static AuditEntry entry(Row row) {
    String at = row.text(AT);
    return new AuditEntry(
        row.text(ID),
        Instant.parse(at.substring(0, Math.max(0, at.indexOf('#')))),
        new Subject(row.text(SUBJECT)),
        ChangeType.labelled(row.text(WHAT)),
        new Author(row.text(BY), row.text(REQUEST)),
        new TreeMap<>(row.map(FROM, Function.identity(), Row::text)),
        new TreeMap<>(row.map(TO, Function.identity(), Row::text)));
  }

  static String at(Instant instant) {
    return INSTANT.format(instant);
  }

  static LocalDate day(Instant instant) {
    return LocalDate.ofInstant(instant, ZoneOffset.UTC);
  }
}
