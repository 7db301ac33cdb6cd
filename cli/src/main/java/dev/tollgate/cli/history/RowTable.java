package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.terminal.Table;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A table of JSON objects. CSV has the members' names and values; text has headings, and durations
 * instead of numbers of seconds.
 */
final class RowTable {
  /** The headings, by member. */
  private final Map<String, String> columns = new LinkedHashMap<>();

  /**
   * @param columns each member's name and its heading, such as {@code tenantId=TENANT}
   */
  RowTable(String... columns) {
    for (String column : columns) {
      String[] parts = column.split("=", 2);
      this.columns.put(parts[0], parts[1]);
    }
  }

  List<String> csv(List<? extends JsonNode> rows) {
    return table(rows, false).csv();
  }

  List<String> text(List<? extends JsonNode> rows) {
    return table(rows, true).lines();
  }

  private Table table(List<? extends JsonNode> rows, boolean isForPeople) {
    Table table =
        new Table((isForPeople ? columns.values() : columns.keySet()).toArray(String[]::new));
    for (JsonNode row : rows) {
      table.row(
          columns.keySet().stream()
              .map(member -> cell(row.path(member), isForPeople && member.endsWith("Seconds")))
              .toArray(String[]::new));
    }
    return table;
  }

  private static String cell(JsonNode value, boolean isDuration) {
    if (isDuration) {
      return Span.text(Duration.ofSeconds(value.asLong()));
    }
    return value.isNumber() ? value.decimalValue().toPlainString() : value.asText();
  }
}
