package dev.tollgate.league.adapters;

import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Setting;
import dev.tollgate.lawbook.Terms;
import dev.tollgate.lawbook.process.LimiterProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * A limiter in a process that starts at its first use, so that the other limiters do not need what
 * it needs. The process ends with this one.
 */
final class StartedLimiter implements Limiter.Maker {
  private final Callable<List<String>> command;
  private Optional<LimiterProcess> process = Optional.empty();

  /** A limiter whose command is known only when it starts. */
  StartedLimiter(Callable<List<String>> command) {
    this.command = command;
  }

  /** A directory of the repository, for a program that runs in its root or in a module. */
  static Path directory(String name) {
    return Stream.of(Path.of(name), Path.of("..", name))
        .filter(Files::isDirectory)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("No directory " + name + " (not built?)"));
  }

  @Override
  public Limiter make(Setting setting) {
    return started().make(setting);
  }

  @Override
  public Terms terms(Random random) {
    return started().terms(random);
  }

  private synchronized LimiterProcess started() {
    if (process.isEmpty()) {
      try {
        process = Optional.of(LimiterProcess.start(command.call()));
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      } catch (Exception failure) {
        throw new IllegalStateException(failure);
      }
    }
    return process.orElseThrow();
  }
}
