package dev.tollgate.aws.dynamodb.audit;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.Table;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.audit.AuditSpan;
import dev.tollgate.core.audit.Subject;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/**
 * The audit in a table, with the function's own role. A cursor is the sort key of a page's last
 * row, or the beginning of the first day that is not read yet.
 */
public final class DynamoDbAuditLog implements AuditLog {
  /** The most days that are read for one page. */
  private static final int MAX_DAYS = 40;

  private static final Pattern CURSOR =
      Pattern.compile(
          "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z(#[A-Za-z0-9-]{1,128})?");

  private final Table table;

  /** The audit in this table. */
  public DynamoDbAuditLog(DynamoDbClient dynamoDb, String table) {
    this.table = new Table(dynamoDb, table);
  }

  @Override
  public void append(AuditEntry entry) {
    table.put(
        "the audit of " + entry.subject(),
        request ->
            request
                .item(AuditRow.write(entry))
                .conditionExpression("attribute_not_exists(#subject)")
                .expressionAttributeNames(Map.of("#subject", AuditRow.SUBJECT)));
  }

  @Override
  public Page<AuditEntry> of(Subject subject, AuditSpan span, Optional<String> cursor, int max) {
    String from = AuditRow.at(span.from());
    String to = end(span, cursor);
    if (to.compareTo(from) <= 0) {
      return new Page<>(List.of(), Optional.empty());
    }
    Found found = new Found(max);
    found.read(
        request -> request.tableName(table.name()), AuditRow.SUBJECT, subject.value(), from, to);
    return found.page(Optional.empty());
  }

  @Override
  public Page<AuditEntry> all(AuditSpan span, Optional<String> cursor, int max) {
    String from = AuditRow.at(span.from());
    String to = end(span, cursor);
    LocalDate first = AuditRow.day(span.from());
    LocalDate day = day(to);
    if (to.compareTo(from) <= 0) {
      return new Page<>(List.of(), Optional.empty());
    }
    Found found = new Found(max);
    for (int days = 0; days < MAX_DAYS && !day.isBefore(first) && !found.isFull(); days++) {
      found.read(
          request -> request.tableName(table.name()).indexName(AuditRow.BY_DAY),
          AuditRow.DAY,
          day.toString(),
          from,
          to);
      day = day.minusDays(1);
    }
    // The beginning of the day after the one that is read next.
    return found.page(
        day.isBefore(first)
            ? Optional.empty()
            : Optional.of(AuditRow.at(day.plusDays(1).atStartOfDay().toInstant(ZoneOffset.UTC))));
  }

  private static LocalDate day(String to) {
    try {
      return LocalDate.parse(to.substring(0, 10));
    } catch (DateTimeException forged) {
      throw new InvalidValue("cursor", to, "the cursor of the previous page");
    }
  }

  /** The sort key before which a page ends. */
  private static String end(AuditSpan span, Optional<String> cursor) {
    String to = AuditRow.at(span.to());
    return cursor
        .map(
            text -> {
              InvalidValue.unless(
                  CURSOR.matcher(text).matches() && text.compareTo(to) <= 0,
                  "cursor",
                  text,
                  "the cursor of the previous page");
              return text;
            })
        .orElse(to);
  }

  /** The rows of a page so far. */
  private final class Found {
    private final int max;
    private final List<AuditEntry> entries = new ArrayList<>();
    private final List<UnreadableRow> unreadable = new ArrayList<>();
    private String last = "";
    private int rows;
    private boolean hasMore;

    private Found(int max) {
      this.max = max;
    }

    private boolean isFull() {
      return hasMore;
    }

    private void read(
        UnaryOperator<QueryRequest.Builder> where,
        String key,
        String value,
        String from,
        String to) {
      // One more than fits says that more follow; another may be the end itself.
      QueryRequest request =
          where
              .apply(QueryRequest.builder())
              .keyConditionExpression("#key = :key AND #at BETWEEN :from AND :to")
              .expressionAttributeNames(Map.of("#key", key, "#at", AuditRow.AT))
              .expressionAttributeValues(
                  Map.of(
                      ":key", Attribute.text(value),
                      ":from", Attribute.text(from),
                      ":to", Attribute.text(to)))
              .scanIndexForward(false)
              .limit(max - rows + 2)
              .build();
      ask(
              "DynamoDB Query of the audit",
              () ->
                  table.dynamoDb().queryPaginator(request).items().stream()
                      .limit(request.limit())
                      .toList())
          .stream()
          .map(Row::new)
          .filter(row -> !row.text(AuditRow.AT).equals(to))
          .forEach(this::add);
    }

    private void add(Row row) {
      if (rows == max) {
        hasMore = true;
        return;
      }
      rows++;
      last = row.text(AuditRow.AT);
      try {
        entries.add(AuditRow.read(row));
      } catch (UnreadableRow found) {
        unreadable.add(found);
      }
    }

    private Page<AuditEntry> page(Optional<String> rest) {
      return new Page<>(entries, hasMore ? Optional.of(last) : rest, unreadable);
    }
  }
}
