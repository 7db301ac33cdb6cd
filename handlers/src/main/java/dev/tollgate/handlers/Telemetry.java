package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.LambdaLogger;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.core.TenantId;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * Counts what became of connections and messages, and what had to be put right. A count is a log
 * line in CloudWatch's embedded metric format: the outcome is its dimension, if there is one; the
 * tenant is a mere property, since every dimension value is a metric that is paid for.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html">Embedded
 *     metric format</a>
 */
final class Telemetry {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final InstantSource clock;

  Telemetry(InstantSource clock) {
    this.clock = clock;
  }

  /** Counts one connection with this outcome. */
  void connection(LambdaLogger log, TenantId tenant, String outcome) {
    count(log, "Connections", outcome, 1, Optional.of(tenant));
  }

  /**
   * Counts messages with this outcome.
   *
   * @param tenant whose they are, if they are anybody's
   */
  void messages(LambdaLogger log, Optional<TenantId> tenant, String outcome, int count) {
    count(log, "Messages", outcome, count, tenant);
  }

  /** Counts frames that sockets of a tenant did not get; none is not counted. */
  void undeliveredFrames(LambdaLogger log, TenantId tenant, int frames) {
    if (frames == 0) {
      return;
    }
    ObjectNode line = JSON.createObjectNode();
    ObjectNode directive =
        line.putObject("_aws")
            .put("Timestamp", clock.millis())
            .putArray("CloudWatchMetrics")
            .addObject()
            .put("Namespace", "Tollgate");
    directive.putArray("Dimensions").addArray();
    directive.putArray("Metrics").addObject().put("Name", "UndeliveredFrames").put("Unit", "Count");
    line.put("UndeliveredFrames", frames).put("tenantId", tenant.value());
    log.log(line.toString());
  }

  private void count(
      LambdaLogger log, String metric, String outcome, int count, Optional<TenantId> tenant) {
    ObjectNode line = JSON.createObjectNode();
    ObjectNode metadata = line.putObject("_aws").put("Timestamp", clock.millis());
    ObjectNode directive =
        metadata.putArray("CloudWatchMetrics").addObject().put("Namespace", "Tollgate");
    directive.putArray("Dimensions").addArray().add("Outcome");
    directive.putArray("Metrics").addObject().put("Name", metric).put("Unit", "Count");
    line.put("Outcome", outcome).put(metric, count);
    tenant.ifPresent(id -> line.put("tenantId", id.value()));
    log.log(line.toString());
  }

  /**
   * Counts what had to be put right for a tenant.
   *
   * @param drift what its count of connections was off by: how many too many, or, below none, too
   *     few. Since one hides the other in a sum, there is a metric that knows no sign
   */
  void putRight(
      LambdaLogger log, TenantId tenant, long sessionsEnded, long connectionsDropped, long drift) {
    ObjectNode line = JSON.createObjectNode();
    ObjectNode directive =
        line.putObject("_aws")
            .put("Timestamp", clock.millis())
            .putArray("CloudWatchMetrics")
            .addObject()
            .put("Namespace", "Tollgate");
    directive.putArray("Dimensions").addArray();
    ArrayNode metrics = directive.putArray("Metrics");
    for (String name : List.of("SessionsEnded", "ConnectionsDropped", "Drift", "AbsoluteDrift")) {
      metrics.addObject().put("Name", name).put("Unit", "Count");
    }
    line.put("SessionsEnded", sessionsEnded)
        .put("ConnectionsDropped", connectionsDropped)
        .put("Drift", drift)
        .put("AbsoluteDrift", Math.abs(drift))
        .put("tenantId", tenant.value());
    log.log(line.toString());
  }
}
