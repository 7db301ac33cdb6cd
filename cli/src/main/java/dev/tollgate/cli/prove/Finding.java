package dev.tollgate.cli.prove;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Json;

/**
 * What a step found out about one promise.
 *
 * @param promise what should hold, in a sentence
 * @param seen what was seen instead, why nothing was seen, or a figure; may be empty
 * @param mend what to mend if it does not hold: a file, or an action; may be empty
 */
record Finding(String promise, Result result, String seen, String mend) {
  /** Whether a promise holds. */
  enum Result {
    HOLDS,
    FAILS,
    /** It could not be tried. */
    UNKNOWN
  }

  static Finding holds(String promise, String figure) {
    return new Finding(promise, Result.HOLDS, figure, "");
  }

  static Finding fails(String promise, String seen, String mend) {
    return new Finding(promise, Result.FAILS, seen, mend);
  }

  static Finding unknown(String promise, String why) {
    return new Finding(promise, Result.UNKNOWN, why, "");
  }

  /** Holds if {@code held}, else fails. */
  static Finding of(boolean held, String promise, String seen, String mend) {
    return held ? holds(promise, seen) : fails(promise, seen, mend);
  }

  ObjectNode document() {
    return Json.object()
        .put("promise", promise)
        .put("result", result.name())
        .put("seen", seen)
        .put("mend", mend);
  }

  static Finding of(JsonNode document) {
    return new Finding(
        document.path("promise").asText(),
        Result.valueOf(document.path("result").asText()),
        document.path("seen").asText(),
        document.path("mend").asText());
  }
}
