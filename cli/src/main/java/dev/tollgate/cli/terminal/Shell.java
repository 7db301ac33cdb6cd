package dev.tollgate.cli.terminal;

import dev.tollgate.cli.http.Failure;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import me.tongfei.progressbar.ProgressBarConsumer;

/**
 * What a command is run in.
 *
 * @param in what is piped into the command
 * @param out for what was asked for
 * @param err for what went wrong
 * @param directory the current directory: files named by the user are relative to it
 * @param home the directory of the launcher script, if it was used
 * @param terminal where somebody sits; empty when nobody does
 * @param nanoTime elapsed time, in nanoseconds
 * @param pause waits
 */
public record Shell(
    InputStream in,
    PrintWriter out,
    PrintWriter err,
    Path directory,
    Optional<Path> home,
    Optional<Terminal> terminal,
    LongSupplier nanoTime,
    Pause pause) {

  /**
   * Somebody who can be asked and shown what goes on.
   *
   * @param confirm asks a yes-or-no question
   * @param bar makes what a progress bar is drawn on
   */
  public record Terminal(Predicate<String> confirm, Supplier<ProgressBarConsumer> bar) {}

  /** Waits, so that a test need not. */
  @FunctionalInterface
  public interface Pause {
    public void sleep(Duration time) throws InterruptedException;
  }

  /** A file that the user named. */
  public Path file(Path named) {
    return directory.resolve(named).normalize();
  }

  /** A file as it is shown: shorter when it is below the current directory. */
  public Path shown(Path file) {
    return file.startsWith(directory) ? directory.relativize(file) : file;
  }

  /** Prints lines for a person to standard output. */
  public void print(List<String> lines) {
    print(out, lines);
  }

  /** Prints lines for a person to standard error. */
  public void complain(String... lines) {
    print(err, List.of(lines));
  }

  private static void print(PrintWriter writer, List<String> lines) {
    lines.stream().map(PlainText::of).forEach(writer::println);
    writer.flush();
  }

  /** Waits; an interrupt ends the command. */
  public void sleep(Duration time) {
    try {
      pause.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    }
  }
}
