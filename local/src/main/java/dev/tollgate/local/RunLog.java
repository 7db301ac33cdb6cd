package dev.tollgate.local;

import dev.tollgate.local.lambda.LogLine;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The log of a run: the output of functions, their failures and other errors.
 *
 * <p>An entry begins with its time at the start of a line; its further lines are indented, and
 * control characters are escaped. So a client cannot forge an entry.
 *
 * <p>A file that has grown too large is copied to a file with the suffix {@code .1}, which replaces
 * an older copy, and then emptied. It stays the same file, so {@code tail -f} continues to follow
 * it.
 */
final class RunLog implements AutoCloseable {
  private static final System.Logger LOGGER = System.getLogger("dev.tollgate.local");
  private static final long LARGEST = 10L << 20;
  private static final Pattern UNPRINTABLE =
      Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}&&[^\t\n]]");

  private final InstantSource clock;
  private final Optional<Path> file;
  private final long largest;
  private final OutputStream out;
  private long size;

  /**
   * Opens the log.
   *
   * @param file the file; without it entries go to the logger
   */
  RunLog(InstantSource clock, Optional<Path> file) throws IOException {
    this(clock, file, LARGEST);
  }

  /** A log whose file is emptied when it has this many bytes. */
  RunLog(InstantSource clock, Optional<Path> file, long largest) throws IOException {
    this.clock = clock;
    this.file = file;
    this.largest = largest;
    if (file.isPresent()) {
      PrivateFiles.create(file.get());
      this.size = Files.size(file.get());
      this.out = Files.newOutputStream(file.get(), StandardOpenOption.APPEND);
    } else {
      this.out = OutputStream.nullOutputStream();
    }
  }

  /** Writes a log line or a failure of a function. */
  void write(LogLine line) {
    write("%s %s %s %s".formatted(line.time(), line.function(), line.requestId(), line.message()));
  }

  /** Writes an event outside of functions. */
  void event(String what) {
    write(clock.instant() + " " + what);
  }

  @Override
  public synchronized void close() throws IOException {
    out.close();
  }

  private synchronized void write(String entry) {
    String text = printable(entry.stripTrailing());
    if (file.isEmpty()) {
      LOGGER.log(System.Logger.Level.INFO, text);
      return;
    }
    try {
      if (size >= largest) {
        rotate(file.get());
      }
      // Unpaired surrogates become question marks.
      byte[] bytes = (text + System.lineSeparator()).getBytes(StandardCharsets.UTF_8);
      out.write(bytes);
      size += bytes.length;
    } catch (IOException e) {
      LOGGER.log(System.Logger.Level.WARNING, text, e);
    }
  }

  private void rotate(Path full) throws IOException {
    Path old = full.resolveSibling(full.getFileName() + ".1");
    PrivateFiles.create(old);
    try (OutputStream copy = Files.newOutputStream(old)) {
      Files.copy(full, copy);
    }
    FileChannel.open(full, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING).close();
    size = 0;
  }

  private static String printable(String entry) {
    return UNPRINTABLE
        .matcher(entry.replace("\r\n", "\n"))
        .replaceAll(found -> "\\\\u%04x".formatted(found.group().codePointAt(0)))
        .replace("\n", System.lineSeparator() + "    ");
  }
}
