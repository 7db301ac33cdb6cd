package dev.tollgate.local.cloudwatch;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * A statistic of a metric over periods.
 *
 * @param statistic {@code Sum}, {@code Maximum} or a percentile such as {@code p99}
 * @param period whole minutes, up to a day
 */
record MetricStat(Metric metric, String statistic, Duration period) {
  private static final Duration MAX_PERIOD = Duration.ofDays(1);

  MetricStat {
    if (!statistic.matches("Sum|Maximum|p\\d\\d?(\\.\\d+)?")) {
      throw new IllegalArgumentException(
          "Stat: " + statistic + " (expected: Sum, Maximum or a percentile)");
    }
    if (period.isZero()
        || period.isNegative()
        || period.compareTo(MAX_PERIOD) > 0
        || period.toSeconds() % 60 != 0) {
      throw new IllegalArgumentException(
          "Period: " + period.toSeconds() + " (expected: whole minutes, up to a day)");
    }
  }

  /**
   * Reads a {@code MetricStat} of the API.
   *
   * @throws IllegalArgumentException if a member is not supported here
   */
  static MetricStat of(JsonNode json) {
    only(json, "Metric", "Period", "Stat");
    JsonNode metric = json.path("Metric");
    only(metric, "Dimensions", "MetricName", "Namespace");
    Map<String, String> dimensions = new HashMap<>();
    for (JsonNode each : metric.path("Dimensions")) {
      dimensions.put(each.path("Name").asText(), each.path("Value").asText());
    }
    return new MetricStat(
        new Metric(
            metric.path("Namespace").asText(), metric.path("MetricName").asText(), dimensions),
        json.path("Stat").asText(),
        Duration.ofSeconds(json.path("Period").asLong()));
  }

  /**
   * Checks the members of an object.
   *
   * @throws IllegalArgumentException if there is another member than these
   */
  static void only(JsonNode object, String... names) {
    object
        .fieldNames()
        .forEachRemaining(
            name -> {
              if (!List.of(names).contains(name)) {
                throw new IllegalArgumentException(name + ": unknown property");
              }
            });
  }

  /** Whether a statistic is a percentile. */
  static boolean isPercentile(String statistic) {
    return statistic.startsWith("p");
  }

  /** The statistic of the samples of a period; of no samples, there is none. */
  OptionalDouble of(Samples samples) {
    if (samples.count() == 0) {
      return OptionalDouble.empty();
    }
    return OptionalDouble.of(
        switch (statistic) {
          case "Sum" -> samples.sum();
          case "Maximum" -> samples.maximum();
          default -> samples.percentile(Double.parseDouble(statistic.substring(1)) / 100);
        });
  }
}
