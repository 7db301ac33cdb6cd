package dev.tollgate.bench.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** Figures as a CSV file. */
final class FiguresFile {
  private static final String HEADER =
      "delay;callers;keys;outcome;contender;decisions;admitted;failures;seconds;requests;p50_ms;"
          + "p99_ms;per_second;cpu_us;dollars_per_million;excess;slack;rounds";
  private static final int COLUMNS = HEADER.split(";").length;

  private FiguresFile() {}

  /** Replaces the file. */
  static void write(Path file, List<Figure> figures) {
    List<String> lines = new ArrayList<>(List.of(HEADER));
    figures.stream().map(FiguresFile::line).forEach(lines::add);
    try {
      Path directory = file.toAbsolutePath().getParent();
      if (directory != null) {
        Files.createDirectories(directory);
      }
      Files.write(file, lines);
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": " + e, e);
    }
  }

  private static String line(Figure figure) {
    return String.format(
        Locale.ROOT,
        "%s;%d;%d;%s;%s;%d;%d;%d;%.3f;%d;%.4f;%.4f;%.1f;%.2f;%s;%d;%d;%d",
        figure.delay().label(),
        figure.of().callers(),
        figure.of().keys(),
        figure.of().outcome().key(),
        figure.contender(),
        figure.decisions(),
        figure.admitted(),
        figure.failures(),
        figure.seconds(),
        figure.requests(),
        figure.p50Millis(),
        figure.p99Millis(),
        figure.perSecond(),
        figure.cpuMicros(),
        figure.dollars().isPresent()
            ? String.format(Locale.ROOT, "%.4f", figure.dollars().getAsDouble())
            : "",
        figure.excess(),
        figure.slack(),
        figure.rounds());
  }

  /**
   * Reads a file.
   *
   * @throws IllegalArgumentException if a line is malformed; the message has its number
   * @throws UncheckedIOException if the file cannot be read
   */
  static List<Figure> read(Path file) {
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": " + e, e);
    }
    if (lines.isEmpty() || !lines.get(0).equals(HEADER)) {
      throw new IllegalArgumentException(file + ", line 1 (expected: " + HEADER + ")");
    }
    List<Figure> figures = new ArrayList<>();
    for (int i = 1; i < lines.size(); i++) {
      try {
        figures.add(figure(lines.get(i)));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "%s, line %d: %s (%s)".formatted(file, i + 1, lines.get(i), e.getMessage()), e);
      }
    }
    return figures;
  }

  private static Figure figure(String line) {
    String[] cells = line.split(";", -1);
    if (cells.length != COLUMNS) {
      throw new IllegalArgumentException(
          "columns: %d (expected: %d)".formatted(cells.length, COLUMNS));
    }
    return new Figure(
        Delay.of(cells[0]),
        new Case(Integer.parseInt(cells[1]), Integer.parseInt(cells[2]), Case.Outcome.of(cells[3])),
        cells[4],
        Long.parseLong(cells[5]),
        Long.parseLong(cells[6]),
        Long.parseLong(cells[7]),
        Double.parseDouble(cells[8]),
        Integer.parseInt(cells[17]),
        Long.parseLong(cells[9]),
        Double.parseDouble(cells[10]),
        Double.parseDouble(cells[11]),
        Double.parseDouble(cells[12]),
        Double.parseDouble(cells[13]),
        cells[14].isEmpty()
            ? OptionalDouble.empty()
            : OptionalDouble.of(Double.parseDouble(cells[14])),
        Long.parseLong(cells[15]),
        Long.parseLong(cells[16]));
  }
}
