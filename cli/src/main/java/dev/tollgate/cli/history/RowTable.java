package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.terminal.Table;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A table of JSON objects. CSV has the members' names and values; text has headings, and durations
 * instead of numbers of seconds.
 */
final class RowTable {
  private static final String SECONDS = "Seconds";

  private final List<Map.Entry<String, String>> columns;

  /**
   * @param columns each member's name and its heading, such as {@code tenantId=TENANT}
   */
  RowTable(String... columns) {
    this.columns =
        Stream.of(columns)
            .map(column -> column.split("=", 2))
            .map(column -> Map.entry(column[0], column[1]))
            .toList();
  }

  List<String> csv(List<? extends JsonNode> rows) {
    return table(rows, Map.Entry::getKey, RowTable::value).csv();
  }

  List<String> text(List<? extends JsonNode> rows) {
    return table(
            rows,
            Map.Entry::getValue,
            (row, member) ->
                member.endsWith(SECONDS)
                    ? Span.text(Duration.ofSeconds(row.path(member).asLong()))
                    : value(row, member))
        .lines();
  }

  private interface Cell {
    String of(JsonNode row, String member);
  }

  private Table table(
      List<? extends JsonNode> rows,
      Function<Map.Entry<String, String>, String> heading,
      Cell cell) {
    Table table = new Table(columns.stream().map(heading).toArray(String[]::new));
    for (JsonNode row : rows) {
      table.row(
          columns.stream().map(column -> cell.of(row, column.getKey())).toArray(String[]::new));
    }
    return table;
  }

  private static String value(JsonNode row, String member) {
    JsonNode value = row.path(member);
    return value.isNumber() ? value.decimalValue().toPlainString() : value.asText();
  }
}
