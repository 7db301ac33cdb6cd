package dev.tollgate.aws.dynamodb.history;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.BatchWrite;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.Table;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.History;
import dev.tollgate.core.history.HistoryBatch;
import dev.tollgate.core.history.Hours;
import dev.tollgate.core.history.Span;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * History in a table, with the function's own role. A batch writes one row of each of its tenants,
 * usually, and few of all together. It replaces the rows of an earlier attempt.
 */
public final class DynamoDbHistory implements History {
  /**
   * The most tenants of a row: with an id of 36 characters and twenty buckets each, they have some
   * 200 KB, and a row may have 400 KB.
   */
  private static final int TENANTS = 250;

  /** How long the tenants of a minute are kept: their hour may be summed a day late. */
  private static final Duration RANKING_KEPT = Duration.ofHours(28);

  /** The most rows in memory at once. */
  private static final int ROWS = 1_000;

  private static final int ATTEMPTS = 8;
  private static final int MAX_NAME = 64;

  private final Table table;

  /** History in this table. */
  public DynamoDbHistory(DynamoDbClient dynamoDb, String table) {
    this.table = new Table(dynamoDb, table);
  }

  @Override
  public void add(String batch, List<Change> changes) {
    InvalidValue.unless(
        !batch.isEmpty() && batch.length() <= MAX_NAME, "batch", batch, "1 to 64 characters");
    List<Map<String, AttributeValue>> rows = new ArrayList<>();
    HistoryBatch added = HistoryBatch.of(changes);
    added.byTenant().forEach((tenant, minutes) -> addRows(rows, batch, tenant, minutes));
    added.minutes().forEach((minute, tenants) -> addRows(rows, batch, minute, tenants));
    write(rows);
  }

  private void write(List<Map<String, AttributeValue>> rows) {
    BatchWrite.write(
        table.dynamoDb(), "the history", table.name(), rows, ATTEMPTS, Pause.real(), request -> {});
  }

  @Override
  public void putHour(Instant hour, Map<TenantId, Counts> tenants, Counts all) {
    List<Map<String, AttributeValue>> rows = new ArrayList<>();
    tenants.forEach(
        (tenant, counts) -> {
          rows.add(hour(HistoryRow.hoursKey(tenant), hour, counts));
          if (rows.size() == ROWS) {
            write(rows);
            rows.clear();
          }
        });
    write(rows);
    // Marks the hour as written.
    write(List.of(hour(HistoryRow.HOURS, hour, all)));
  }

  private static Map<String, AttributeValue> hour(String key, Instant hour, Counts counts) {
    String at = HistoryRow.at(hour);
    return HistoryRow.write(key, at, Map.of(at, HistoryRow.write(counts)), hour.plus(Hours.KEPT));
  }

  private void addRows(
      List<Map<String, AttributeValue>> rows,
      String batch,
      TenantId tenant,
      SortedMap<Instant, Counts> minutes) {
    Map<Instant, Map<String, AttributeValue>> parts = new TreeMap<>();
    minutes.forEach(
        (minute, counts) ->
            parts
                .computeIfAbsent(rowBegin(minute), begin -> new HashMap<>())
                .put(HistoryRow.at(minute), HistoryRow.write(counts)));
    parts.forEach(
        (begin, counts) ->
            rows.add(
                HistoryRow.write(
                    HistoryRow.key(tenant),
                    HistoryRow.at(begin) + "/" + batch,
                    counts,
                    begin.plus(Hours.MINUTES_KEPT))));
  }

  private void addRows(
      List<Map<String, AttributeValue>> rows,
      String batch,
      Instant minute,
      Map<TenantId, Counts> tenants) {
    String at = HistoryRow.at(minute);
    rows.add(
        HistoryRow.write(
            HistoryRow.ALL,
            at + "/" + batch,
            Map.of(at, HistoryRow.write(HistoryBatch.total(tenants))),
            minute.plus(Hours.MINUTES_KEPT)));
    List<String> lines =
        tenants.entrySet().stream()
            .map(each -> HistoryRow.line(each.getKey(), each.getValue()))
            .toList();
    for (int begin = 0; begin < lines.size(); begin += TENANTS) {
      rows.add(
          HistoryRow.writeRanking(
              at + "/" + batch + "/" + begin,
              lines.subList(begin, Math.min(lines.size(), begin + TENANTS)),
              minute.plus(RANKING_KEPT)));
    }
  }

  private static Instant rowBegin(Instant minute) {
    long seconds = HistoryRow.LENGTH.toSeconds();
    return Instant.ofEpochSecond(minute.getEpochSecond() / seconds * seconds);
  }

  @Override
  public SortedMap<Instant, Counts> of(TenantId tenant, Span span) {
    return minutes(HistoryRow.key(tenant), rowBegin(span.from()), span, Counts::plus);
  }

  @Override
  public SortedMap<Instant, Counts> ofAll(Span span) {
    return minutes(HistoryRow.ALL, span.from(), span, Counts::plus);
  }

  @Override
  public SortedMap<Instant, Counts> hours(TenantId tenant, Span span) {
    return minutes(HistoryRow.hoursKey(tenant), span.from(), span, Counts::plus);
  }

  @Override
  public SortedMap<Instant, Counts> hoursOfAll(Span span) {
    return minutes(HistoryRow.HOURS, span.from(), span, Counts::plus);
  }

  private SortedMap<Instant, Counts> minutes(
      String key, Instant first, Span span, BinaryOperator<Counts> plus) {
    SortedMap<Instant, Counts> minutes = new TreeMap<>();
    forEach(
        key,
        first,
        span.to(),
        row ->
            HistoryRow.minutes(row)
                .forEach((minute, counts) -> minutes.merge(minute, counts, plus)));
    return minutes.subMap(span.from(), span.to());
  }

  @Override
  public Map<TenantId, Counts> active(Span span) {
    Map<TenantId, Counts> tenants = new HashMap<>();
    forEach(
        HistoryRow.RANKING,
        span.from(),
        span.to(),
        row ->
            HistoryRow.tenants(row)
                .forEach((tenant, counts) -> tenants.merge(tenant, counts, Counts::plus)));
    return tenants;
  }

  /**
   * The rows that begin from one instant up to another, which is not included. One that cannot be
   * read is left out: it must not hide the others.
   */
  private void forEach(String key, Instant from, Instant to, Consumer<Row> row) {
    table.forEach(
        "the history",
        false,
        request ->
            request
                .keyConditionExpression("#key = :key AND #at BETWEEN :from AND :to")
                .expressionAttributeNames(Map.of("#key", HistoryRow.KEY, "#at", HistoryRow.AT))
                .expressionAttributeValues(
                    Map.of(
                        ":key", Attribute.text(key),
                        ":from", Attribute.text(HistoryRow.at(from)),
                        ":to", Attribute.text(HistoryRow.at(to)))),
        found -> {
          try {
            row.accept(found);
          } catch (UnreadableRow damaged) {
            // Nobody but the writer of the history may write here.
          }
        });
  }
}
