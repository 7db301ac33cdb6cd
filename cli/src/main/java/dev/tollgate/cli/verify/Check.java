package dev.tollgate.cli.verify;

import java.time.Duration;

/**
 * A check of one promise.
 *
 * @param name a short name, which is part of the ids of the check's tenants
 * @param promise what the deployment promises, in a sentence
 * @param usual how long the check usually takes on AWS
 */
public record Check(String name, String promise, Duration usual, Procedure procedure) {
  private static final int MAX_NAME = 12;

  public Check {
    if (!name.matches("[a-z0-9-]{1," + MAX_NAME + "}")) {
      throw new IllegalArgumentException(
          "name: " + name + " (expected: up to " + MAX_NAME + " of a-z, 0-9, -)");
    }
  }

  /** The steps of a check. */
  @FunctionalInterface
  public interface Procedure {
    /**
     * Runs the check.
     *
     * @throws Broken if the deployment breaks the promise
     */
    void run(Trial trial);
  }
}
