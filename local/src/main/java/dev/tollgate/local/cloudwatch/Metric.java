package dev.tollgate.local.cloudwatch;

import java.time.Instant;
import java.util.Map;

/**
 * A CloudWatch metric.
 *
 * @param namespace such as {@code AWS/Lambda}
 */
public record Metric(String namespace, String name, Map<String, String> dimensions) {
  public Metric {
    dimensions = Map.copyOf(dimensions);
  }

  /** Receives the samples of metrics; called by many threads. */
  @FunctionalInterface
  public interface Recorder {
    /** Records a sample in the minute of an instant. */
    void record(Metric metric, Instant at, double value);
  }
}
