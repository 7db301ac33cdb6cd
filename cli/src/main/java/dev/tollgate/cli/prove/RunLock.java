package dev.tollgate.cli.prove;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.tollgate.cli.http.Failure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Lets one process at a time work on a run. The operating system ends the lock with the process, so
 * that no file must be removed by hand.
 */
final class RunLock implements AutoCloseable {
  private final FileChannel channel;

  private RunLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * @param directory the run's
   * @throws Failure if another process works on the run, or the file cannot be written
   */
  static RunLock of(Path directory) {
    Path file = directory.resolve("lock");
    try {
      Files.createDirectories(directory);
      FileChannel channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      if (!isLocked(channel)) {
        channel.close();
        // The other process may have locked the file and not written its id yet.
        String holder = Files.readString(file).strip();
        throw Failure.of(
            "%s works on the run in %s. Wait until it ends, stop it with Ctrl-C in its terminal, or"
                    .formatted(
                        holder.isEmpty() ? "Another process" : "Process " + holder, directory)
                + " use another --prefix.");
      }
      channel.truncate(0);
      channel.write(ByteBuffer.wrap((ProcessHandle.current().pid() + "\n").getBytes(UTF_8)));
      return new RunLock(channel);
    } catch (IOException e) {
      throw Failure.of("Cannot write " + file + ": " + e, e);
    }
  }

  private static boolean isLocked(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException ofThisProcess) {
      return false;
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw Failure.of("Cannot close the lock: " + e, e);
    }
  }
}
