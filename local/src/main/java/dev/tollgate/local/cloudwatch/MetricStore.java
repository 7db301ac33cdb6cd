package dev.tollgate.local.cloudwatch;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.json.Json;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;

/** The samples of the watched metrics, by minute. Samples of other metrics are ignored. */
final class MetricStore implements Metric.Recorder {
  private final Map<Metric, TreeMap<Instant, List<Double>>> samples = new ConcurrentHashMap<>();
  private final Map<Metric, DoubleSupplier> quotas = new ConcurrentHashMap<>();
  private Duration longest = Duration.ZERO;

  /** Keeps the samples of a metric from now on, for at least this time. */
  synchronized void watch(Metric metric, Duration age) {
    samples.putIfAbsent(metric, new TreeMap<>());
    longest = longest.compareTo(age) < 0 ? age : longest;
  }

  /** The watched metrics. */
  Set<Metric> metrics() {
    return samples.keySet();
  }

  /** Sets the quota of the account that a metric measures. */
  void quota(Metric metric, DoubleSupplier quota) {
    quotas.put(metric, quota);
  }

  /** The quota of the account that a metric measures; empty if there is none. */
  OptionalDouble quota(Metric metric) {
    DoubleSupplier quota = quotas.get(metric);
    return quota == null ? OptionalDouble.empty() : OptionalDouble.of(quota.getAsDouble());
  }

  @Override
  public void record(Metric metric, Instant at, double value) {
    TreeMap<Instant, List<Double>> ofMetric = samples.get(metric);
    if (ofMetric != null) {
      synchronized (this) {
        ofMetric
            .computeIfAbsent(at.truncatedTo(ChronoUnit.MINUTES), minute -> new ArrayList<>())
            .add(value);
        ofMetric.headMap(ofMetric.lastKey().minus(longest)).clear();
      }
    }
  }

  /**
   * Records the metrics in a log line of a function, if it is in the embedded metric format.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html">Embedded
   *     metric format</a>
   */
  void logged(String line) {
    if (samples.isEmpty() || !line.contains("\"_aws\"")) {
      return;
    }
    JsonNode root = Json.readOrMissing(line);
    Instant at = Instant.ofEpochMilli(root.at("/_aws/Timestamp").asLong());
    for (JsonNode directive : root.at("/_aws/CloudWatchMetrics")) {
      for (JsonNode names : directive.path("Dimensions")) {
        Map<String, String> dimensions = new HashMap<>();
        names.forEach(name -> dimensions.put(name.asText(), root.path(name.asText()).asText()));
        for (JsonNode metric : directive.path("Metrics")) {
          String name = metric.path("Name").asText();
          JsonNode values = root.path(name);
          for (JsonNode value : values.isArray() ? values : List.of(values)) {
            record(
                new Metric(directive.path("Namespace").asText(), name, dimensions),
                at,
                value.asDouble());
          }
        }
      }
    }
  }

  /** The samples of a metric from one minute up to another, which is not included. */
  synchronized List<Double> samples(Metric metric, Instant from, Instant to) {
    return samples.getOrDefault(metric, new TreeMap<>()).subMap(from, to).values().stream()
        .flatMap(List::stream)
        .toList();
  }
}
