package dev.tollgate.bench;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One line of the report.
 *
 * @param measured what was measured
 * @param before the figures that an earlier build was found to have; empty for none
 * @param found the figures
 * @param wanted the figures that the design promises
 */
public record Row(String measured, String before, String found, String wanted) {
  /** A line without figures of an earlier build. */
  public Row(String measured, String found, String wanted) {
    this(measured, "", found, wanted);
  }

  /**
   * The rows as a Markdown table, with its header. It has a column for earlier figures if a row has
   * any.
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

  /** Text that cannot end its cell. */
  private static String cell(String text) {
    return text.replace("|", "\\|").replaceAll("\\s*\\R\\s*", " ");
  }
}
