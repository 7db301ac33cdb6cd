package dev.tollgate.local.lambda.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/** Deployment packages: archives of files. */
public final class Packages {
  private static final Map<Path, Path> UNPACKED = new HashMap<>();

  private Packages() {}

  /** A package of the files in a directory, as {@code cdk deploy} makes it: in a temporary file. */
  public static Path of(Path directory) throws IOException {
    Path file = Files.createTempFile("tollgate-function", ".zip");
    file.toFile().deleteOnExit();
    try (OutputStream out = Files.newOutputStream(file);
        ZipOutputStream zip = new ZipOutputStream(out);
        Stream<Path> files = Files.walk(directory, FileVisitOption.FOLLOW_LINKS)) {
      for (Path each : files.filter(Files::isRegularFile).sorted().toList()) {
        add(zip, directory.relativize(each).toString(), Files.readAllBytes(each));
      }
    }
    return file;
  }

  /** A package with one file, for code that is in the template. */
  public static Path of(String name, String text) throws IOException {
    Path file = Files.createTempFile("tollgate-function", ".zip");
    file.toFile().deleteOnExit();
    try (OutputStream out = Files.newOutputStream(file);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      add(zip, name, text.getBytes(UTF_8));
    }
    return file;
  }

  private static void add(ZipOutputStream zip, String name, byte[] content) throws IOException {
    ZipEntry entry = new ZipEntry(name.replace('\\', '/'));
    entry.setTime(0);
    zip.putNextEntry(entry);
    zip.write(content);
  }

  /**
   * A temporary directory with the files of a package. Later calls return the same one.
   *
   * @throws IOException if the package cannot be read, or has a file outside of its root
   */
  static synchronized Path unpacked(Path code) throws IOException {
    Path known = UNPACKED.get(code);
    if (known != null) {
      return known;
    }
    Path root = Files.createTempDirectory("tollgate-function");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(root)));
    try (InputStream in = Files.newInputStream(code);
        ZipInputStream zip = new ZipInputStream(in)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Path file = root.resolve(entry.getName()).normalize();
        if (!file.startsWith(root)) {
          throw new IOException(code + " has a file outside of its root: " + entry.getName());
        }
        if (!entry.isDirectory()) {
          Files.createDirectories(file.getParent());
          Files.copy(zip, file);
        }
      }
    }
    UNPACKED.put(code, root);
    return root;
  }

  private static void delete(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
      for (Path each : deepestFirst) {
        Files.delete(each);
      }
    } catch (IOException e) {
      // The operating system clears its temporary directory.
    }
  }
}
