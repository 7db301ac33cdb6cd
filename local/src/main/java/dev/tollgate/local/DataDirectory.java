package dev.tollgate.local;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The directory that keeps a cloud's tables, queues, schedules and functions across restarts, if
 * there is one. One cloud at a time uses it: the engines would overwrite each other's files.
 */
final class DataDirectory implements AutoCloseable {
  private final Optional<Path> directory;
  private final @Nullable FileChannel lock;

  /**
   * Takes a directory, and creates it if it does not exist.
   *
   * @param directory the directory; without it everything is kept in memory
   * @throws IllegalStateException if another cloud uses the directory
   * @throws IOException if the directory or its lock file cannot be written
   */
  DataDirectory(Optional<Path> directory) throws IOException {
    this.directory = directory;
    this.lock = directory.isEmpty() ? null : lock(directory.get());
  }

  /** A subdirectory, which is created if it does not exist. */
  Optional<Path> subdirectory(String name) throws IOException {
    return directory.isEmpty()
        ? directory
        : Optional.of(PrivateFiles.createDirectory(directory.get().resolve(name)));
  }

  @Override
  public void close() throws IOException {
    if (lock != null) {
      lock.close();
    }
  }

  private static FileChannel lock(Path directory) throws IOException {
    Path file = directory.resolve("in-use.lock");
    PrivateFiles.create(file);
    FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
    if (isLocked(channel)) {
      return channel;
    }
    channel.close();
    throw new IllegalStateException(
        directory
            + " is in use by another local cloud. Stop it, or choose another data directory.");
  }

  /** Locks a file until its channel is closed or the process ends; false if another cloud did. */
  private static boolean isLocked(FileChannel channel) throws IOException {
    try {
      @Nullable FileLock taken = channel.tryLock();
      return taken != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }
}
