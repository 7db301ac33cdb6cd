package dev.tollgate.bench.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A Markdown file with measured tables between two markers. */
final class Document {
  static final String BEGIN = "<!-- measured: begin -->";
  static final String END = "<!-- measured: end -->";

  private Document() {}

  /**
   * Replaces what is between the markers.
   *
   * @throws IllegalArgumentException if a marker is missing
   */
  static void replace(Path file, List<String> lines) {
    try {
      String text = Files.readString(file);
      int begin = text.indexOf(BEGIN);
      int end = text.indexOf(END);
      if (begin < 0 || end < begin) {
        throw new IllegalArgumentException(
            file + ": no markers (expected: " + BEGIN + " and " + END + ")");
      }
      Files.writeString(
          file,
          text.substring(0, begin + BEGIN.length())
              + "\n\n"
              + String.join("\n", lines)
              + "\n\n"
              + text.substring(end));
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": " + e, e);
    }
  }
}
