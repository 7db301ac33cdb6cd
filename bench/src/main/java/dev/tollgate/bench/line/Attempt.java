package dev.tollgate.bench.line;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * An attempt of a client to connect. All times are since the start of the run.
 *
 * @param run the name of the scenario
 * @param client the number of the client, in the order of arrival, from 0
 * @param sent when the client tried
 * @param answered when it had the answer
 * @param told how long it was told to wait, if it was refused
 * @param slot the time that it was told, if it was refused and told one
 */
record Attempt(
    String run,
    int client,
    Manners manners,
    Duration sent,
    Duration answered,
    Result result,
    Optional<Duration> told,
    Optional<Duration> slot) {
  /** How an attempt ended. */
  enum Result {
    /** The client is connected. */
    ADMITTED,
    /** The client was told when to come back. */
    REFUSED,
    /** There was no answer, or an unexpected one. */
    FAILED;

    /** The name in files. */
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  static Attempt of(
      String run,
      int client,
      Manners manners,
      Duration sent,
      Duration answered,
      Gate.Answer answer) {
    if (answer instanceof Gate.Answer.Refused refused) {
      return new Attempt(
          run,
          client,
          manners,
          sent,
          answered,
          Result.REFUSED,
          Optional.of(refused.retryAfter()),
          refused.slot());
    }
    Result result = answer instanceof Gate.Answer.Admitted ? Result.ADMITTED : Result.FAILED;
    return new Attempt(
        run, client, manners, sent, answered, result, Optional.empty(), Optional.empty());
  }

  boolean isAdmitted() {
    return result == Result.ADMITTED;
  }

  boolean isRefused() {
    return result == Result.REFUSED;
  }
}
