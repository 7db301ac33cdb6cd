package dev.tollgate.bench.line;

import java.time.Duration;
import java.util.Optional;

/** What clients try to pass. */
@FunctionalInterface
interface Gate {
  /**
   * Tries once to connect, and if that is refused, asks when to come back.
   *
   * @param client the number of the client
   */
  Answer attempt(int client);

  /** The answer to an attempt. */
  sealed interface Answer {
    /** The client is connected. */
    record Admitted() implements Answer {}

    /**
     * The client is not connected.
     *
     * @param retryAfter how long the client was told to wait
     * @param slot the time that the client was told, since the start of the run
     */
    record Refused(Duration retryAfter, Optional<Duration> slot) implements Answer {}

    /**
     * The gate did not work.
     *
     * @param reason the reason, for a person
     */
    record Failed(String reason) implements Answer {}
  }
}
