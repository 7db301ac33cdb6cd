package dev.tollgate.local.cloudwatch;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.json.Json;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
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
  /**
   * Samples farther ahead of the clock are ignored.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDatum.html">MetricDatum</a>
   */
  private static final Duration AHEAD = Duration.ofHours(2);

  private final Map<Metric, Watched> watched = new ConcurrentHashMap<>();
  private final Map<Metric, DoubleSupplier> quotas = new ConcurrentHashMap<>();
  private final InstantSource clock;

  /** A metric whose samples are kept. Guarded by itself. */
  private static final class Watched {
    private final TreeMap<Instant, Samples> minutes = new TreeMap<>();
    private Duration range = Duration.ZERO;
    private boolean hasPercentiles;
  }

  /** A store without metrics. */
  MetricStore(InstantSource clock) {
    this.clock = clock;
  }

  /**
   * Keeps the samples of a metric from now on, for at least this time.
   *
   * @param statistic what they are kept for: percentiles need more memory than others
   */
  void watch(Metric metric, String statistic, Duration range) {
    Watched kept = watched.computeIfAbsent(metric, any -> new Watched());
    synchronized (kept) {
      kept.range = kept.range.compareTo(range) < 0 ? range : kept.range;
      kept.hasPercentiles |= MetricStat.isPercentile(statistic);
    }
  }

  /** The watched metrics. */
  Set<Metric> metrics() {
    return watched.keySet();
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
    Watched kept = watched.get(metric);
    Instant now = clock.instant();
    if (kept == null || at.isAfter(now.plus(AHEAD)) || !Double.isFinite(value)) {
      return;
    }
    synchronized (kept) {
      kept.minutes
          .computeIfAbsent(at.truncatedTo(ChronoUnit.MINUTES), minute -> new Samples())
          .add(value, kept.hasPercentiles);
      kept.minutes.headMap(now.truncatedTo(ChronoUnit.MINUTES).minus(kept.range)).clear();
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
    if (watched.isEmpty() || !line.contains("\"_aws\"")) {
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

  /** The minutes of a metric that have samples. */
  Set<Instant> minutes(Metric metric) {
    Watched kept = watched.getOrDefault(metric, new Watched());
    synchronized (kept) {
      return Set.copyOf(kept.minutes.keySet());
    }
  }

  /** The samples of a metric from one minute up to another, which is not included. */
  Samples samples(Metric metric, Instant from, Instant to) {
    Watched kept = watched.getOrDefault(metric, new Watched());
    Samples all = new Samples();
    synchronized (kept) {
      kept.minutes.subMap(from, to).values().forEach(all::add);
    }
    return all;
  }

  /** Whether percentiles of a metric are known. */
  boolean hasPercentiles(Metric metric) {
    Watched kept = watched.getOrDefault(metric, new Watched());
    synchronized (kept) {
      return kept.hasPercentiles;
    }
  }
}
