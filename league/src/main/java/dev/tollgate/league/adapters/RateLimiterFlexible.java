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
import java.util.stream.Stream;

/** {@code RateLimiterMemory} of npm's rate-limiter-flexible, in a process of Node. */
public final class RateLimiterFlexible implements Limiter.Maker {
  private Optional<LimiterProcess> process = Optional.empty();

  private RateLimiterFlexible() {}

  /**
   * Promises points per duration. README: "points: Maximum number of points that can be consumed
   * over duration", "duration: Number of seconds before consumed points are reset", and "The
   * Flexible Fixed Window algorithm starts counting from the moment a request is received". Two
   * durations' points may be admitted around the end of a duration (slack), and a request may wait
   * for the next one (lateness). "msBeforeNext: Number of milliseconds before next action can be
   * done" is the retry time. The author in pull request 69: "All limiters consume point(s), even if
   * there is no points." So all or none is not promised for several points.
   */
  public static Limiter.Maker maker() {
    return new RateLimiterFlexible();
  }

  @Override
  public Limiter make(Setting setting) {
    return started().make(setting);
  }

  @Override
  public Terms terms(Random random) {
    return started().terms(random);
  }

  /**
   * Starts the process at its first use, so that the other limiters need no Node. It ends with this
   * one.
   */
  private synchronized LimiterProcess started() {
    if (process.isEmpty()) {
      Path directory =
          Stream.of(Path.of("league/src/main/node"), Path.of("src/main/node"))
              .filter(Files::isDirectory)
              .findFirst()
              .orElseThrow();
      if (!Files.isDirectory(directory.resolve("node_modules"))) {
        throw new IllegalStateException(
            "rate-limiter-flexible is not installed. Run `league/install`.");
      }
      try {
        process =
            Optional.of(
                LimiterProcess.start(
                    List.of("node", directory.resolve("rate-limiter-flexible.mjs").toString())));
      } catch (IOException missing) {
        throw new UncheckedIOException(missing);
      }
    }
    return process.orElseThrow();
  }
}
