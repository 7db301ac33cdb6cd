package dev.tollgate.cli.history;

import java.util.ArrayList;
import java.util.List;

/** A chart of admitted and refused connections in text, with a line for each step. */
final class Chart {
  /** The most lines. Of more steps, several share a line. */
  static final int MAX_ROWS = 72;

  private static final int EIGHTHS = 8;

  /**
   * A step.
   *
   * @param label the time
   */
  record Bar(String label, long admitted, long refused) {
    private Bar plus(Bar later) {
      return new Bar(label, admitted + later.admitted, refused + later.refused);
    }
  }

  private Chart() {}

  /**
   * The lines of the chart. Both bars have the same scale.
   *
   * @param columns the width of the terminal
   */
  static List<String> lines(List<Bar> steps, int columns) {
    List<Bar> rows = rows(steps);
    long most = 1;
    int number = 1;
    int label = 0;
    for (Bar row : rows) {
      most = Math.max(most, Math.max(row.admitted, row.refused));
      number = Math.max(number, Math.max(digits(row.admitted), digits(row.refused)));
      label = Math.max(label, row.label.length());
    }
    // Label, two spaces, bar, space, number, two spaces, bar, space, number.
    int width = Math.max(1, (columns - label - 6 - 2 * number) / 2);
    String line = "%-" + label + "s  %-" + (width + 1 + number) + "s  %s";
    List<String> lines = new ArrayList<>(List.of(line.formatted("", "ADMITTED", "REFUSED")));
    for (Bar row : rows) {
      String admitted = bar(row.admitted, most, width);
      String refused = bar(row.refused, most, width);
      lines.add(line.formatted(row.label, admitted, refused).stripTrailing());
    }
    return lines;
  }

  private static List<Bar> rows(List<Bar> steps) {
    int together = Math.max(1, (steps.size() + MAX_ROWS - 1) / MAX_ROWS);
    List<Bar> rows = new ArrayList<>();
    for (int i = 0; i < steps.size(); i++) {
      Bar step = steps.get(i);
      if (i % together == 0) {
        rows.add(step);
      } else {
        rows.set(rows.size() - 1, rows.get(rows.size() - 1).plus(step));
      }
    }
    return rows;
  }

  private static int digits(long value) {
    return Long.toString(value).length();
  }

  /** A bar of eighths of a column, and its value. Any value above 0 shows. */
  private static String bar(long value, long most, int width) {
    if (value <= 0) {
      return Long.toString(value);
    }
    long eighths = Math.max(1, Math.multiplyExact(value, (long) width * EIGHTHS) / most);
    int part = (int) (eighths % EIGHTHS);
    // U+2588 is a full block, U+2589 to U+258F are seven eighths down to one.
    return "\u2588".repeat((int) (eighths / EIGHTHS))
        + (part == 0 ? "" : Character.toString(0x2590 - part))
        + " "
        + value;
  }
}
