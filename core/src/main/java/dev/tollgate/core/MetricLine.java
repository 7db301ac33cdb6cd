package dev.tollgate.core;

import static dev.tollgate.core.JsonText.quoted;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Log lines that CloudWatch reads as metrics: JSON in its embedded metric format. They are written
 * without a JSON library, because a function would load its classes for nothing else.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html">Embedded
 *     metric format</a>
 */
public final class MetricLine {
  private MetricLine() {}

  /**
   * The delay between the minute for which a schedule fired and the end of its fill.
   *
   * @param minute an input by hand may have any; the delay is at most a day
   * @param tenant the bucket's tenant; empty for a shard
   * @param fill the request and its result; a property of the line
   */
  public static String fillDelay(
      Instant now, Instant minute, Optional<TenantId> tenant, String fill) {
    Map<String, String> properties = new LinkedHashMap<>();
    tenant.ifPresent(id -> properties.put("tenantId", id.value()));
    properties.put("fill", fill);
    Instant earliest = now.minus(Duration.ofDays(1));
    Instant fired = minute.isBefore(earliest) ? earliest : minute;
    long millis = fired.isAfter(now) ? 0 : Duration.between(fired, now).toMillis();
    return of(now, "Milliseconds", Map.of("FillDelay", millis), Optional.empty(), properties);
  }

  /**
   * A number of failed requests for a tenant's credentials.
   *
   * @param source what was asked; the dimension
   * @param reason why the last request failed; a property of the line
   */
  public static String credentialFailures(Instant now, String source, int count, String reason) {
    Map<String, String> properties = new LinkedHashMap<>();
    properties.put("Source", source);
    properties.put("reason", reason);
    return of(now, "Count", Map.of("CredentialFailures", count), Optional.of("Source"), properties);
  }

  /**
   * One tier that stopped enforcing its limits by itself.
   *
   * @param tier its name; a property of the line
   * @param refused how many connections were refused; a property, too
   * @param connections of so many
   */
  public static String retreat(Instant now, String tier, long refused, long connections) {
    Map<String, String> properties = new LinkedHashMap<>();
    properties.put("tier", tier);
    properties.put("refused", Long.toString(refused));
    properties.put("connections", Long.toString(connections));
    return of(now, "Count", Map.of("Retreats", 1), Optional.empty(), properties);
  }

  /**
   * One tenant with more connections than tokens.
   *
   * @param detail the numbers; a property of the line
   */
  public static String overAdmitted(Instant now, TenantId tenant, String detail) {
    Map<String, String> properties = new LinkedHashMap<>();
    properties.put("tenantId", tenant.value());
    properties.put("detail", detail);
    return of(now, "Count", Map.of("OverAdmitted", 1), Optional.empty(), properties);
  }

  /** Changes of tenants, tiers and silos that a sweep did not finish. */
  public static String sweepBacklog(Instant now, long unfinished) {
    return of(now, "Count", Map.of("SweepBacklog", unfinished), Optional.empty(), Map.of());
  }

  /**
   * Tokens of all buckets.
   *
   * @param minted how many were added
   * @param taken how many left their buckets; negative if more came back
   */
  public static String tokens(Instant now, long minted, long taken) {
    Map<String, Long> metrics = new TreeMap<>();
    metrics.put("TokensMinted", minted);
    metrics.put("TokensTaken", taken);
    return of(now, "Count", metrics, Optional.empty(), Map.of());
  }

  /**
   * A line that declares metrics with their values.
   *
   * @param dimension the property that is a dimension, if there is one
   */
  public static String of(
      Instant now,
      String unit,
      Map<String, ? extends Number> metrics,
      Optional<String> dimension,
      Map<String, String> properties) {
    StringBuilder line = new StringBuilder("{\"_aws\":{\"Timestamp\":");
    line.append(now.toEpochMilli())
        .append(",\"CloudWatchMetrics\":[{\"Namespace\":\"Tollgate\",\"Dimensions\":[[")
        .append(dimension.map(JsonText::quoted).orElse(""))
        .append("]],\"Metrics\":[")
        .append(
            metrics.keySet().stream()
                .map(name -> "{\"Name\":" + quoted(name) + ",\"Unit\":" + quoted(unit) + "}")
                .collect(Collectors.joining(",")))
        .append("]}]}");
    metrics.forEach(
        (name, value) -> line.append(',').append(quoted(name)).append(':').append(value));
    properties.forEach(
        (name, value) -> line.append(',').append(quoted(name)).append(':').append(quoted(value)));
    return line.append('}').toString();
  }
}
