package dev.tollgate.cli.terminal;

import dev.tollgate.cli.http.Failure;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

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
   */
  public record Terminal(UnaryOperator<String> ask) {}

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
   * defines it. It never depends on the current directory.
   *
   * @throws Failure if the home directory is not an absolute path
   */
  public Path configuration() {
    return Optional.ofNullable(environment.get("XDG_CONFIG_HOME"))
        .map(Path::of)
        .filter(Path::isAbsolute)
        .orElseGet(() -> userHome().resolve(".config"))
        .resolve("tollgate");
  }

  private Path userHome() {
    Path home =
        Optional.ofNullable(environment.get("HOME"))
            .filter(value -> !value.isEmpty())
            .map(Path::of)
            .orElseGet(() -> Path.of(System.getProperty("user.home")));
    if (!home.isAbsolute()) {
      throw Failure.usage("HOME: " + home + " (expected: an absolute path)");
    }
    return home;
  }

  /**
   * Resolves a file name from the command line as the operating system does: {@code ..} after a
   * symbolic link is the parent of the directory that the link leads to.
   */
  public Path file(Path named) {
    Path file = directory.resolve(named);
    Path parents = file;
    while (parents != null && !parents.endsWith("..")) {
      parents = parents.getParent();
    }
    if (parents == null) {
      return file.normalize();
    }
    try {
      return parents.toRealPath().resolve(parents.relativize(file)).normalize();
    } catch (IOException e) {
      // Opening the file will fail for the same reason, with the name that the user knows.
      return file;
    }
  }

  /** A file name for messages: relative if the file is below the current directory. */
  public Path shown(Path file) {
    // Path.relativize would normalize the name, and so name another file.
    return file.startsWith(directory) && file.getNameCount() > directory.getNameCount()
        ? file.subpath(directory.getNameCount(), file.getNameCount())
        : file;
  }

  /** Prints lines for a person to standard output. */
  public void print(List<String> lines) {
    print(out, lines);
  }

  /** Prints lines for a person to standard error. */
  public void printError(String... lines) {
    print(err, List.of(lines));
  }

  /** Empties the screen of a terminal; without one, prints nothing. */
  public void clearScreen() {
    // ECMA-48: cursor to the upper left corner (CUP), erase the display (ED).
    terminal.ifPresent(person -> out.print("\u001b[H\u001b[2J"));
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
