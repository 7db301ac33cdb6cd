package dev.tollgate.local;

import dev.tollgate.local.lambda.LogLine;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.Optional;

/** The log of a run: what functions say, how they fail, and what else goes wrong. */
final class RunLog implements AutoCloseable {
  private static final System.Logger LOGGER = System.getLogger("dev.tollgate.local");

  private final InstantSource clock;
  private final Optional<BufferedWriter> file;

  private RunLog(InstantSource clock, Optional<BufferedWriter> file) {
    this.clock = clock;
    this.file = file;
  }

  static RunLog open(InstantSource clock, Optional<Path> path) {
    return new RunLog(clock, path.map(RunLog::open));
  }

  /** Writes what a function has logged, or how it failed. */
  void write(LogLine line) {
    write("%s %s %s %s".formatted(line.time(), line.function(), line.requestId(), line.message()));
  }

  /** Writes what happened outside of functions. */
  void event(String what) {
    write(clock.instant() + " " + what);
  }

  @Override
  public synchronized void close() {
    file.ifPresent(
        writer -> {
          try {
            writer.close();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  private synchronized void write(String line) {
    file.ifPresentOrElse(
        writer -> {
          try {
            writer.write(line);
            writer.newLine();
            writer.flush();
          } catch (IOException e) {
            LOGGER.log(System.Logger.Level.WARNING, line, e);
          }
        },
        () -> LOGGER.log(System.Logger.Level.INFO, line));
  }

  private static BufferedWriter open(Path path) {
    try {
      Files.createDirectories(path.toAbsolutePath().getParent());
      // Unlike a writer of Files, this writes what is no text as a question mark, and goes on.
      return new BufferedWriter(
          new OutputStreamWriter(
              Files.newOutputStream(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND),
              StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
