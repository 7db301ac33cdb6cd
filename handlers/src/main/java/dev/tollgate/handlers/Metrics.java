package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.LambdaLogger;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.tollgate.core.TenantId;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Publishes counts of connections, messages, undelivered frames and repairs, and times in line, as
 * CloudWatch metrics. Each is a log line in CloudWatch's embedded metric format. The outcome is a
 * dimension. The tenant is only a property, because CloudWatch bills every dimension value as a
 * metric.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html">Embedded
 *     metric format</a>
 */
public final class Metrics {
  /** Not a mapper: it would load 400 classes in functions that need it for nothing else. */
  private static final JsonFactory JSON = new JsonFactory();

  private final InstantSource clock;

  /** Metrics with this clock's timestamps. */
  public Metrics(InstantSource clock) {
    this.clock = clock;
  }

  /**
   * Counts one connection with this outcome.
   *
   * @param failure why the limits could not be checked; a property of the log line
   */
  public void connection(
      LambdaLogger log, TenantId tenant, String outcome, Optional<String> failure) {
    Map<String, Object> properties = new LinkedHashMap<>();
    properties.put("tenantId", tenant.value());
    failure.ifPresent(cause -> properties.put("failure", cause));
    countByOutcome(log, "Connections", outcome, 1, properties);
  }

  /**
   * Counts messages with this outcome.
   *
   * @param tenant the tenant of the messages; empty if the messages name no valid tenant
   */
  public void messages(LambdaLogger log, Optional<TenantId> tenant, String outcome, int count) {
    Map<String, Object> properties = new LinkedHashMap<>();
    tenant.ifPresent(id -> properties.put("tenantId", id.value()));
    countByOutcome(log, "Messages", outcome, count, properties);
  }

  private void countByOutcome(
      LambdaLogger log, String metric, String outcome, int count, Map<String, Object> properties) {
    properties.put("Outcome", outcome);
    publish(log, List.of("Outcome"), "Count", Map.of(metric, count), properties);
  }

  /**
   * Publishes how long a session that has taken a place in line waits for its slot. The number of
   * samples is the number of places taken.
   */
  public void placeTaken(LambdaLogger log, TenantId tenant, Instant slot) {
    timeInLine(log, tenant, "SlotWait", Duration.between(clock.instant(), slot));
  }

  /**
   * Publishes how long after its slot a session claimed its token. A client that comes back when it
   * was told is one to two seconds late, because {@code Retry-After} has whole seconds. The number
   * of samples is the number of slots used.
   */
  public void slotUsed(LambdaLogger log, TenantId tenant, Instant slot) {
    timeInLine(log, tenant, "SlotDelay", Duration.between(slot, clock.instant()));
  }

  private void timeInLine(LambdaLogger log, TenantId tenant, String metric, Duration time) {
    publish(log, tenant, "Milliseconds", Map.of(metric, Math.max(0, time.toMillis())));
  }

  /** Counts frames that the tenant's sockets did not receive. Zero frames publish nothing. */
  public void undeliveredFrames(LambdaLogger log, TenantId tenant, int frames) {
    if (frames == 0) {
      return;
    }
    publish(log, tenant, "Count", Map.of("UndeliveredFrames", frames));
  }

  /**
   * Counts the repairs of one visit to a tenant.
   *
   * @param drift the error of the tenant's connection count: positive if it was too high, negative
   *     if too low. Errors of opposite sign cancel out in a sum, so the absolute value is a
   *     separate metric.
   */
  public void repaired(
      LambdaLogger log, TenantId tenant, long sessionsEnded, long connectionsDropped, long drift) {
    Map<String, Number> repairs = new LinkedHashMap<>();
    repairs.put("SessionsEnded", sessionsEnded);
    repairs.put("ConnectionsDropped", connectionsDropped);
    repairs.put("Drift", drift);
    repairs.put("AbsoluteDrift", Math.abs(drift));
    publish(log, tenant, "Count", repairs);
  }

  private void publish(
      LambdaLogger log, TenantId tenant, String unit, Map<String, ? extends Number> metrics) {
    publish(log, List.of(), unit, metrics, Map.of("tenantId", tenant.value()));
  }

  /**
   * Writes a log line that declares metrics with their values.
   *
   * @param dimensions those of {@code properties} that are dimensions
   */
  private void publish(
      LambdaLogger log,
      List<String> dimensions,
      String unit,
      Map<String, ? extends Number> metrics,
      Map<String, ?> properties) {
    StringWriter line = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(line)) {
      json.writeStartObject();
      json.writeObjectFieldStart("_aws");
      json.writeNumberField("Timestamp", clock.millis());
      json.writeArrayFieldStart("CloudWatchMetrics");
      json.writeStartObject();
      json.writeStringField("Namespace", "Tollgate");
      json.writeArrayFieldStart("Dimensions");
      json.writeArray(dimensions.toArray(String[]::new), 0, dimensions.size());
      json.writeEndArray();
      json.writeArrayFieldStart("Metrics");
      for (String name : metrics.keySet()) {
        json.writeStartObject();
        json.writeStringField("Name", name);
        json.writeStringField("Unit", unit);
        json.writeEndObject();
      }
      json.writeEndArray();
      json.writeEndObject();
      json.writeEndArray();
      json.writeEndObject();
      for (Map<String, ?> values : List.of(metrics, properties)) {
        for (Map.Entry<String, ?> value : values.entrySet()) {
          json.writeObjectField(value.getKey(), value.getValue());
        }
      }
      json.writeEndObject();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    log.log(line.toString());
  }
}
