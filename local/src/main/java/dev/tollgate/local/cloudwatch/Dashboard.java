package dev.tollgate.local.cloudwatch;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.json.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A dashboard whose widgets are graphs of metrics.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html">Dashboard
 *     body structure</a>
 */
final class Dashboard {
  /** For how long samples are kept for a dashboard. */
  static final Duration RANGE = Duration.ofHours(1);

  private final String body;
  private final List<Line> lines = new ArrayList<>();

  /** A statistic of a metric in a graph. */
  record Line(Metric metric, String statistic) {}

  /**
   * Reads a {@code DashboardBody}.
   *
   * @throws IllegalArgumentException if a widget is no graph of metrics
   */
  Dashboard(String body) {
    this.body = body;
    for (JsonNode widget : Json.readObject(body).path("widgets")) {
      if (!widget.path("type").asText().equals("metric")) {
        throw new IllegalArgumentException(
            "type: %s (expected: metric)".formatted(widget.path("type").asText()));
      }
      String statistic = widget.at("/properties/stat").asText();
      for (JsonNode line : widget.at("/properties/metrics")) {
        String own = line.path(line.size() - 1).path("stat").asText(statistic);
        lines.add(new Line(metric(line), own));
      }
    }
  }

  /** Reads {@code [namespace, name, dimension, value, ..., {options}]}. */
  private static Metric metric(JsonNode line) {
    Map<String, String> dimensions = new HashMap<>();
    for (int i = 2; i + 1 < line.size() && line.get(i).isTextual(); i += 2) {
      dimensions.put(line.get(i).asText(), line.get(i + 1).asText());
    }
    return new Metric(line.path(0).asText(), line.path(1).asText(), dimensions);
  }

  String body() {
    return body;
  }

  /** The lines of all graphs. */
  List<Line> lines() {
    return List.copyOf(lines);
  }
}
