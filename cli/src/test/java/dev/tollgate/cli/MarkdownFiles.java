package dev.tollgate.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The Markdown files of the repository. */
final class MarkdownFiles {
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static final Set<String> IGNORED = Set.of("target", "node_modules", "src");

  private MarkdownFiles() {}

  /** All files, without those in hidden directories, build outputs and sources. */
  static List<Path> all() throws IOException {
    try (Stream<Path> directory = Files.list(ROOT)) {
      return directory.flatMap(MarkdownFiles::in).sorted().toList();
    }
  }

  private static Stream<Path> in(Path file) {
    String name = file.getFileName().toString();
    if (!Files.isDirectory(file)) {
      return name.endsWith(".md") ? Stream.of(file) : Stream.empty();
    }
    if (name.startsWith(".") || IGNORED.contains(name)) {
      return Stream.empty();
    }
    try (Stream<Path> files = Files.list(file)) {
      return files.flatMap(MarkdownFiles::in).toList().stream();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
