package dev.tollgate.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Files that only their owner may read, because the files of a run hold sessions and credentials.
 * An existing file that others may read loses these permissions. On file systems without POSIX
 * permissions, files inherit the permissions of their directory.
 */
public final class PrivateFiles {
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> DIRECTORY =
      PosixFilePermissions.fromString("rwx------");

  private static final FileAttribute<?>[] OWNER_ONLY = {PosixFilePermissions.asFileAttribute(FILE)};

  private PrivateFiles() {}

  /**
   * Writes a file and replaces an existing one.
   *
   * @throws IOException if it cannot be written
   */
  public static void write(Path file, List<String> lines) throws IOException {
    create(file);
    Files.write(file, lines);
  }

  /**
   * Creates a file and its directory unless they exist. A new directory is accessible only to its
   * owner.
   *
   * @throws IOException if the file cannot be created or its permissions cannot be set
   */
  static void create(Path file) throws IOException {
    Path directory = file.toAbsolutePath().resolveSibling("");
    if (Files.notExists(directory)) {
      var unused = createDirectory(directory);
    }
    if (Files.notExists(file)) {
      boolean isPosix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
      Files.createFile(file, isPosix ? OWNER_ONLY : new FileAttribute<?>[0]);
    }
    close(file, FILE);
  }

  /**
   * Creates a directory unless it exists. The directory and all files in it become accessible only
   * to their owner.
   *
   * @throws IOException if it cannot be created or permissions cannot be set
   */
  static Path createDirectory(Path directory) throws IOException {
    Files.createDirectories(directory);
    close(directory, DIRECTORY);
    try (Stream<Path> kept = Files.walk(directory)) {
      for (Path file : kept.skip(1).toList()) {
        close(file, Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS) ? DIRECTORY : FILE);
      }
    }
    return directory;
  }

  private static void close(Path file, Set<PosixFilePermission> permissions) throws IOException {
    PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    if (view != null
        && !Files.isSymbolicLink(file)
        && !view.readAttributes().permissions().equals(permissions)) {
      view.setPermissions(permissions);
    }
  }
}
