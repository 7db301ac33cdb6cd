package dev.tollgate.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * What a command is run in.
 *
 * @param out for what was asked for
 * @param err for what went wrong
 * @param directory the current directory: files named by the user are relative to it
 * @param home the directory of the launcher script, if it was used
 * @param confirm asks a yes-or-no question; empty when nobody is at the terminal
 * @param nanoTime elapsed time, in nanoseconds
 * @param pause waits
 */
record Shell(
    PrintWriter out,
    PrintWriter err,
    Path directory,
    Optional<Path> home,
    Optional<Predicate<String>> confirm,
    LongSupplier nanoTime,
    Pause pause) {

  /** Waits, so that a test need not. */
  @FunctionalInterface
  interface Pause {
    void sleep(Duration time) throws InterruptedException;
  }

  /** A file that the user named. */
  Path file(Path named) {
    return directory.resolve(named).normalize();
  }

  /** A file as it is shown: shorter when it is below the current directory. */
  Path shown(Path file) {
    return file.startsWith(directory) ? directory.relativize(file) : file;
  }

  /** Waits; an interrupt ends the command. */
  void sleep(Duration time) {
    try {
      pause.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    }
  }
}
