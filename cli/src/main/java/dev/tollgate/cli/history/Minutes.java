package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Sender;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Reads the minutes of a tenant. */
final class Minutes {
  /** Low, because a report must not slow down a busy deployment. */
  static final double REQUESTS_PER_SECOND = 10;

  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration LONGEST = Duration.ofDays(31);

  /** The current minute, and those that may still change. */
  private static final Duration INCOMPLETE = Duration.ofMinutes(3);

  private Minutes() {}

  /** Refuses a time that is longer than minutes are kept. */
  static void check(Duration since) {
    if (since.compareTo(LONGEST) > 0) {
      throw Failure.usage("--since: %s (expected: at most 31d)".formatted(Span.text(since)));
    }
  }

  /** The last minutes that do not change any more. */
  static Span complete(Sender api, Duration since) {
    Instant to = Span.now(api).minus(INCOMPLETE);
    return new Span(to.minus(since), to);
  }

  /** The minutes of a tenant in which something happened. */
  static List<JsonNode> of(Sender api, String tenantId, Span span) {
    List<JsonNode> minutes = new ArrayList<>();
    for (Span part : span.parts()) {
      api.get(Paths.tenant(tenantId) + "/history" + Api.suffix(part.query(MINUTE)))
          .orThrow()
          .json()
          .path("steps")
          .forEach(minutes::add);
    }
    return minutes;
  }

  /** The tokens of an action that were taken in a minute. */
  static long taken(JsonNode minute, String action) {
    return minute
        .path("tokens")
        .valueStream()
        .filter(bucket -> bucket.path("action").asText().equals(action))
        .mapToLong(bucket -> bucket.path("taken").asLong())
        .sum();
  }
}
