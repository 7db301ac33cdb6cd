package dev.tollgate.bench;

import java.util.List;
import java.util.stream.Stream;

/**
 * One line of the report.
 *
 * @param measured what was measured
 * @param found the figures
 * @param wanted the figures that the design promises
 */
record Row(String measured, String found, String wanted) {
  private static final List<String> HEADER =
      List.of("| measured | found | wanted |", "| --- | --- | --- |");

  /** The rows as a Markdown table, with its header. */
  static List<String> table(List<Row> rows) {
    return Stream.concat(HEADER.stream(), rows.stream().map(Row::line)).toList();
  }

  private String line() {
    return "| %s | %s | %s |".formatted(cell(measured), cell(found), cell(wanted));
  }

  /** Text that cannot end its cell. */
  private static String cell(String text) {
    return text.replace("|", "\\|").replaceAll("\\s*\\R\\s*", " ");
  }
}
