package dev.tollgate.league.adapters;

import dev.tollgate.lawbook.Limiter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** {@code RateLimiterMemory} of npm's rate-limiter-flexible, in a process of Node. */
public final class RateLimiterFlexible {
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
    return new StartedLimiter(RateLimiterFlexible::command);
  }

  private static List<String> command() {
    Path directory = StartedLimiter.directory("league/src/main/node");
    if (!Files.isDirectory(directory.resolve("node_modules"))) {
      throw new IllegalStateException(
          "rate-limiter-flexible is not installed. Run `league/install`.");
    }
    return List.of("node", directory.resolve("rate-limiter-flexible.mjs").toString());
  }
}
