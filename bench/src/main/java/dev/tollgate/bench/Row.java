package dev.tollgate.bench;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A row of the report.
 *
 * @param measured what was measured
 * @param before the figures of an earlier build; may be empty
 * @param found the measured figures
 * @param wanted the figures that the design promises
 */
public record Row(String measured, String before, String found, String wanted) {
  /** A row without figures of an earlier build. */
  public Row(String measured, String found, String wanted) {
    this(measured, "", found, wanted);
  }

  /**
   * The rows as a Markdown table with a header. The table has a column for earlier figures if any
   * row has them.
   */
  public static List<String> table(List<Row> rows) {
    boolean comparing = rows.stream().anyMatch(row -> !row.before.isEmpty());
    List<String> header =
        comparing
            ? List.of("| attack | found before | found | wanted |", "| --- | --- | --- | --- |")
            : List.of("| measured | found | wanted |", "| --- | --- | --- |");
    return Stream.concat(header.stream(), rows.stream().map(row -> row.line(comparing))).toList();
  }

  private String line(boolean comparing) {
    return (comparing
            ? Stream.of(measured, before, found, wanted)
            : Stream.of(measured, found, wanted))
        .map(Row::cell)
        .collect(Collectors.joining(" | ", "| ", " |"));
  }

  /** Escapes text that would end its cell. */
  private static String cell(String text) {
    return text.replace("|", "\\|").replaceAll("\\s*\\R\\s*", " ");
  }
}
