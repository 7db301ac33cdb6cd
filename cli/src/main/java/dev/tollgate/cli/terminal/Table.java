package dev.tollgate.cli.terminal;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A text table. Columns of numbers are right-aligned, other columns left-aligned. */
public final class Table {
  private final List<String> header;
  private final List<List<String>> rows = new ArrayList<>();

  public Table(String... header) {
    this.header = List.of(header);
  }

  public Table row(String... cells) {
    if (cells.length != header.size()) {
      throw new IllegalArgumentException(
          "cells: " + cells.length + " (expected: " + header.size() + ")");
    }
    rows.add(List.of(cells));
    return this;
  }

  /** The lines of the table. Blank headings are omitted. */
  public List<String> lines() {
    List<List<String>> all = new ArrayList<>();
    if (!header.stream().allMatch(String::isEmpty)) {
      all.add(header);
    }
    all.addAll(rows);
    return all.stream()
        .map(
            row ->
                IntStream.range(0, header.size())
                    .mapToObj(column -> pad(row.get(column), column, all))
                    .collect(Collectors.joining("  "))
                    .stripTrailing())
        .toList();
  }

  /** The rows as comma-separated values (RFC 4180), with the headings in the first line. */
  public List<String> csv() {
    return Stream.concat(Stream.of(header), rows.stream())
        .map(row -> row.stream().map(Table::quoted).collect(Collectors.joining(",")))
        .toList();
  }

  private static String quoted(String cell) {
    return cell.matches("[^\",\r\n]*") ? cell : '"' + cell.replace("\"", "\"\"") + '"';
  }

  private String pad(String cell, int column, List<List<String>> all) {
    int width = all.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
    String space = " ".repeat(width - cell.length());
    return isNumeric(column) ? space + cell : cell + space;
  }

  private boolean isNumeric(int column) {
    return rows.stream().map(row -> row.get(column)).allMatch(cell -> cell.matches("(-?[0-9.]+)?"));
  }
}
