package dev.tollgate.cli.verify;

import java.time.Duration;

/**
 * The longest waits of the checks.
 *
 * @param frame until a frame arrives, including the cold start of a function
 * @param firstSiloFrame until the first message through a new queue arrives. Lambda needs about a
 *     minute to enable an event source mapping
 * @param change until a change that is recorded is in force everywhere
 * @param removal until an offboarded tenant is gone
 */
public record Bounds(Duration frame, Duration firstSiloFrame, Duration change, Duration removal) {
  /** The bounds for a deployment whose time cannot be moved. */
  public static final Bounds REAL =
      new Bounds(
          Duration.ofSeconds(30),
          Duration.ofMinutes(3),
          Duration.ofMinutes(3),
          Duration.ofMinutes(5));
}
