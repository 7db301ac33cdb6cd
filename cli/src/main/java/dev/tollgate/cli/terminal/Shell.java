package dev.tollgate.cli.terminal;

import dev.tollgate.cli.http.Failure;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import me.tongfei.progressbar.ProgressBarConsumer;

/**
 * The environment that a shell gives to a command.
 *
 * @param in standard input
 * @param out standard output, for results
 * @param err standard error, for errors and progress
 * @param directory the current directory, which file names on the command line are relative to
 * @param home the directory of the launcher script; empty without the launcher
 * @param environment the environment variables
 * @param terminal the terminal; empty if the command does not run in one
 * @param nanoTime elapsed time, in nanoseconds
 * @param pause waits for a duration
 */
public record Shell(
    InputStream in,
    PrintWriter out,
    PrintWriter err,
    Path directory,
    Optional<Path> home,
    Map<String, String> environment,
    Optional<Terminal> terminal,
    LongSupplier nanoTime,
    Pause pause) {

  /**
   * A terminal with a person in front of it.
   *
   * @param ask prints a prompt and reads the reply; empty at the end of the input
   * @param bar creates the consumer that draws a progress bar
   */
  public record Terminal(UnaryOperator<String> ask, Supplier<ProgressBarConsumer> bar) {}

  /** Waits for a duration. Tests replace it. */
  @FunctionalInterface
  public interface Pause {
    void sleep(Duration time) throws InterruptedException;
  }

  public Shell {
    environment = Map.copyOf(environment);
  }

  /**
   * The directory of the user's settings for this command, as the XDG Base Directory Specification
   * defines it.
   */
  public Path configuration() {
    return Optional.ofNullable(environment.get("XDG_CONFIG_HOME"))
        .map(Path::of)
        .filter(Path::isAbsolute)
        .orElseGet(
            () ->
                Path.of(
                    environment.getOrDefault("HOME", System.getProperty("user.home")), ".config"))
        .resolve("tollgate");
  }

  /** Resolves a file name from the command line. */
  public Path file(Path named) {
    return directory.resolve(named).normalize();
  }

  /** A file name for messages: relative if the file is below the current directory. */
  public Path shown(Path file) {
    return file.startsWith(directory) ? directory.relativize(file) : file;
  }

  /** Prints lines for a person to standard output. */
  public void print(List<String> lines) {
    print(out, lines);
  }

  /** Prints lines for a person to standard error. */
  public void printError(String... lines) {
    print(err, List.of(lines));
  }

  private static void print(PrintWriter writer, List<String> lines) {
    lines.stream().map(PlainText::of).forEach(writer::println);
    writer.flush();
  }

  /** Waits. An interrupt ends the command. */
  public void sleep(Duration time) {
    try {
      pause.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    }
  }
}
