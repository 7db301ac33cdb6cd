package dev.tollgate.bench.line;

import dev.tollgate.bench.line.Attempt.Result;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** A file of attempts: CSV (RFC 4180) with a header. Times are in seconds. */
final class AttemptsFile {
  private static final String HEADER = "run,client,manners,sent,answered,result,told,slot";

  private AttemptsFile() {}

  /**
   * Writes attempts.
   *
   * @throws UncheckedIOException if the file cannot be written
   */
  static void write(Path file, List<Attempt> attempts) {
    try {
      Path directory = file.toAbsolutePath().getParent();
      if (directory != null) {
        Files.createDirectories(directory);
      }
      Files.write(
          file,
          Stream.concat(Stream.of(HEADER), attempts.stream().map(AttemptsFile::line)).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": " + e, e);
    }
  }

  /**
   * Reads attempts.
   *
   * @throws UncheckedIOException if the file cannot be read
   * @throws IllegalArgumentException if it is not such a file
   */
  static List<Attempt> read(Path file) {
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": " + e, e);
    }
    if (lines.isEmpty() || !lines.get(0).equals(HEADER)) {
      throw new IllegalArgumentException(file + ", line 1 (expected: " + HEADER + ")");
    }
    List<Attempt> attempts = new ArrayList<>();
    for (int i = 1; i < lines.size(); i++) {
      try {
        attempts.add(attempt(lines.get(i).split(",", -1)));
      } catch (RuntimeException e) {
        throw new IllegalArgumentException(
            "%s, line %d: %s (expected: values of %s)".formatted(file, i + 1, lines.get(i), HEADER),
            e);
      }
    }
    return attempts;
  }

  private static String line(Attempt attempt) {
    return String.join(
        ",",
        attempt.run(),
        String.valueOf(attempt.client()),
        attempt.manners().word(),
        seconds(attempt.sent()),
        seconds(attempt.answered()),
        attempt.result().word(),
        attempt.told().map(AttemptsFile::seconds).orElse(""),
        attempt.slot().map(AttemptsFile::seconds).orElse(""));
  }

  private static Attempt attempt(String[] values) {
    if (values.length != 8) {
      throw new IllegalArgumentException("values: " + values.length + " (expected: 8)");
    }
    return new Attempt(
        values[0],
        Integer.parseInt(values[1]),
        Manners.valueOf(values[2].toUpperCase(Locale.ROOT).replace('-', '_')),
        duration(values[3]),
        duration(values[4]),
        Result.valueOf(values[5].toUpperCase(Locale.ROOT)),
        Optional.of(values[6]).filter(told -> !told.isEmpty()).map(AttemptsFile::duration),
        Optional.of(values[7]).filter(slot -> !slot.isEmpty()).map(AttemptsFile::duration));
  }

  private static String seconds(Duration duration) {
    return BigDecimal.valueOf(duration.toMillis(), 3).stripTrailingZeros().toPlainString();
  }

  private static Duration duration(String seconds) {
    return Duration.ofMillis(new BigDecimal(seconds).movePointRight(3).longValueExact());
  }
}
