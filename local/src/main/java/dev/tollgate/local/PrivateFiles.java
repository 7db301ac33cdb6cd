package dev.tollgate.local;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;

/**
 * Files that only their owner may read, because the files of a run hold sessions and credentials.
 * An existing file that others may read loses these permissions. On file systems without POSIX
 * permissions, files inherit the permissions of their directory.
 */
public final class PrivateFiles {
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> DIRECTORY =
      PosixFilePermissions.fromString("rwx------");

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
    var unused = createDirectory(directory);
    if (Files.notExists(file)) {
      try {
        Files.createFile(file, attributes(file, FILE));
      } catch (FileAlreadyExistsException created) {
        // Another process has created it since.
      }
    }
    close(file);
  }

  /**
   * Creates a directory unless it exists. A new directory is accessible only to its owner, and so
   * is all that is in it. An existing directory stays as it is, because its files may belong to
   * others: new files in it get the permissions that the process's umask leaves.
   *
   * @throws IOException if it cannot be created
   */
  static Path createDirectory(Path directory) throws IOException {
    // Before Java 20, createDirectories fails for a symbolic link to a directory.
    return Files.isDirectory(directory)
        ? directory
        : Files.createDirectories(directory, attributes(directory, DIRECTORY));
  }

  private static FileAttribute<?>[] attributes(Path file, Set<PosixFilePermission> permissions) {
    return file.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)}
        : new FileAttribute<?>[0];
  }

  private static void close(Path file) throws IOException {
    PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    if (view != null
        && !Files.isSymbolicLink(file)
        && !view.readAttributes().permissions().equals(FILE)) {
      view.setPermissions(FILE);
    }
  }
}
