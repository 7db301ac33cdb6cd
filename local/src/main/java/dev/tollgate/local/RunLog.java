package dev.tollgate.local;

import dev.tollgate.local.lambda.LogLine;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.Optional;

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
  private static final String INDENT = "    ";

  private final InstantSource clock;
  private final Optional<LogFile> file;

  private RunLog(InstantSource clock, Optional<LogFile> file) {
    this.clock = clock;
    this.file = file;
  }

  static RunLog open(InstantSource clock, Optional<Path> path) {
    return open(clock, path, LARGEST);
  }

  /** A log whose file is emptied when it has this many bytes. */
  static RunLog open(InstantSource clock, Optional<Path> path, long largest) {
    return new RunLog(clock, path.map(file -> new LogFile(file, largest)));
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
  public synchronized void close() {
    file.ifPresent(LogFile::close);
  }

  private synchronized void write(String entry) {
    String text = printable(entry.stripTrailing());
    file.ifPresentOrElse(
        opened -> {
          try {
            opened.append(text + System.lineSeparator());
          } catch (IOException e) {
            LOGGER.log(System.Logger.Level.WARNING, text, e);
          }
        },
        () -> LOGGER.log(System.Logger.Level.INFO, text));
  }

  private static String printable(String entry) {
    StringBuilder text = new StringBuilder(entry.length());
    entry
        .replace("\r\n", "\n")
        .codePoints()
        .forEach(
            character -> {
              if (character == '\n') {
                text.append(System.lineSeparator()).append(INDENT);
              } else if (character == '\t' || isPrintable(character)) {
                text.appendCodePoint(character);
              } else {
                text.append("\\u%04x".formatted(character));
              }
            });
    return text.toString();
  }

  private static boolean isPrintable(int character) {
    return switch (Character.getType(character)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }

  /** The file, with its size. */
  private static final class LogFile {
    private final Path path;
    private final long largest;
    private final OutputStream out;
    private long size;

    LogFile(Path path, long largest) {
      this.path = path;
      this.largest = largest;
      try {
        PrivateFiles.create(path);
        this.size = Files.size(path);
        this.out = Files.newOutputStream(path, StandardOpenOption.APPEND);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void append(String text) throws IOException {
      if (size >= largest) {
        rotate();
      }
      // Unpaired surrogates become question marks.
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      out.write(bytes);
      size += bytes.length;
    }

    private void rotate() throws IOException {
      Path old = path.resolveSibling(path.getFileName() + ".1");
      PrivateFiles.create(old);
      try (OutputStream copy = Files.newOutputStream(old)) {
        Files.copy(path, copy);
      }
      FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)
          .close();
      size = 0;
    }

    void close() {
      try {
        out.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
