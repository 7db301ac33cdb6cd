package dev.tollgate.infra;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Reads the text files that are packaged with the classes of this package. */
final class ClasspathFile {
  private ClasspathFile() {}

  /**
   * The text of a file.
   *
   * @param name the file's path relative to this package
   */
  static String read(String name) {
    try (InputStream in = ClasspathFile.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(name + ": no such file in the resources");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
