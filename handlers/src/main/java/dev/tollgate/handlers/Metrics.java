package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.LambdaLogger;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.core.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
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
  private static final ObjectMapper JSON = new ObjectMapper();

  private final InstantSource clock;

  /** Metrics with this clock's timestamps. */
  public Metrics(InstantSource clock) {
    this.clock = clock;
  }

  /** Counts one connection with this outcome. */
  public void connection(LambdaLogger log, TenantId tenant, String outcome) {
    countByOutcome(log, "Connections", outcome, 1, Optional.of(tenant));
  }

  /**
   * Counts messages with this outcome.
   *
   * @param tenant the tenant of the messages; empty if the messages name no valid tenant
   */
  public void messages(LambdaLogger log, Optional<TenantId> tenant, String outcome, int count) {
    countByOutcome(log, "Messages", outcome, count, tenant);
  }

  private void countByOutcome(
      LambdaLogger log, String metric, String outcome, int count, Optional<TenantId> tenant) {
    ObjectNode line = line(List.of("Outcome"), List.of(metric));
    line.put("Outcome", outcome).put(metric, count);
    tenant.ifPresent(id -> line.put("tenantId", id.value()));
    log.log(line.toString());
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
    ObjectNode line = line(List.of(), List.of(metric), "Milliseconds");
    line.put(metric, Math.max(0, time.toMillis())).put("tenantId", tenant.value());
    log.log(line.toString());
  }

  /** Counts frames that the tenant's sockets did not receive. Zero frames publish nothing. */
  public void undeliveredFrames(LambdaLogger log, TenantId tenant, int frames) {
    if (frames == 0) {
      return;
    }
    ObjectNode line = line(List.of(), List.of("UndeliveredFrames"));
    line.put("UndeliveredFrames", frames).put("tenantId", tenant.value());
    log.log(line.toString());
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
    ObjectNode line =
        line(List.of(), List.of("SessionsEnded", "ConnectionsDropped", "Drift", "AbsoluteDrift"));
    line.put("SessionsEnded", sessionsEnded)
        .put("ConnectionsDropped", connectionsDropped)
        .put("Drift", drift)
        .put("AbsoluteDrift", Math.abs(drift))
        .put("tenantId", tenant.value());
    log.log(line.toString());
  }

  /** A log line that declares these metrics and dimensions, without their values. */
  private ObjectNode line(List<String> dimensions, List<String> metrics) {
    return line(dimensions, metrics, "Count");
  }

  private ObjectNode line(List<String> dimensions, List<String> metrics, String unit) {
    ObjectNode line = JSON.createObjectNode();
    ObjectNode directive =
        line.putObject("_aws")
            .put("Timestamp", clock.millis())
            .putArray("CloudWatchMetrics")
            .addObject()
            .put("Namespace", "Tollgate");
    ArrayNode dimensionSet = directive.putArray("Dimensions").addArray();
    dimensions.forEach(dimensionSet::add);
    ArrayNode definitions = directive.putArray("Metrics");
    metrics.forEach(name -> definitions.addObject().put("Name", name).put("Unit", unit));
    return line;
  }
}
