package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Sender;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A time in whole minutes, and durations as the API writes them.
 *
 * @param from the beginning
 * @param to the end
 */
public record Span(Instant from, Instant to) {
  /** The most steps of one request. */
  static final long MAX_STEPS = 1_500;

  private static final int MAX_DEFAULT_STEPS = 60;
  private static final Pattern DURATION = Pattern.compile("[1-9][0-9]{0,4}[mhd]");
  private static final List<Duration> STEPS =
      List.of(
          Duration.ofMinutes(1),
          Duration.ofMinutes(5),
          Duration.ofMinutes(15),
          Duration.ofHours(1),
          Duration.ofHours(6),
          Duration.ofDays(1));

  /**
   * Parses a duration such as {@code 5m}, {@code 1h} or {@code 7d}.
   *
   * @throws IllegalArgumentException if it is malformed
   */
  public static Duration duration(String text) {
    if (!DURATION.matcher(text).matches()) {
      throw new IllegalArgumentException(text + " (expected: minutes, hours or days: 5m, 1h, 7d)");
    }
    return Duration.parse(text.endsWith("d") ? "P" + text : "PT" + text.toUpperCase(Locale.ROOT));
  }

  /** A duration in its largest whole unit, such as {@code 5m}. */
  static String text(Duration duration) {
    long minutes = duration.toMinutes();
    if (minutes % 1440 == 0) {
      return minutes / 1440 + "d";
    }
    return minutes % 60 == 0 ? minutes / 60 + "h" : minutes + "m";
  }

  /** The end of the current minute by the clock of the deployment. */
  static Instant now(Sender api) {
    return Json.text(api.get("/fleet/tenants?window=1m&limit=1").orThrow().json(), "to")
        .map(Instant::parse)
        .orElseThrow();
  }

  /** The shortest of the usual steps of which there are at most 60. */
  Duration step() {
    return STEPS.stream()
        .filter(step -> steps(step).size() <= MAX_DEFAULT_STEPS)
        .findFirst()
        .orElse(Duration.ofDays(1));
  }

  /** The beginnings of all steps. They are multiples of the step since 1970. */
  List<Instant> steps(Duration step) {
    long seconds = step.toSeconds();
    Instant first = Instant.ofEpochSecond(Math.floorDiv(from.getEpochSecond(), seconds) * seconds);
    return Stream.iterate(first, at -> at.isBefore(to), at -> at.plus(step)).toList();
  }

  /** The same time in parts of at most {@value #MAX_STEPS} minutes. */
  List<Span> parts() {
    Duration longest = Duration.ofMinutes(MAX_STEPS);
    return Stream.iterate(from, at -> at.isBefore(to), at -> at.plus(longest))
        .map(at -> new Span(at, at.plus(longest).isBefore(to) ? at.plus(longest) : to))
        .toList();
  }

  /** The number of minutes. */
  long minutes() {
    return Duration.between(from, to).toMinutes();
  }

  /** The query of a request for the history in steps. */
  Map<String, String> query(Duration step) {
    Map<String, String> query = new LinkedHashMap<>();
    query.put("from", from.toString());
    query.put("to", to.toString());
    query.put("step", text(step));
    return query;
  }

  /** A document that begins with both ends. */
  ObjectNode document() {
    return Json.object().put("from", from.toString()).put("to", to.toString());
  }

  @Override
  public String toString() {
    return from + " to " + to;
  }
}
