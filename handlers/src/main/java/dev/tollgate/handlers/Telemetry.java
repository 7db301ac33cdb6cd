package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.LambdaLogger;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.core.TenantId;
import java.time.InstantSource;

/**
 * Counts what became of connections. A count is a log line in CloudWatch's embedded metric format:
 * the outcome is its dimension; the tenant is a mere property, since every dimension value is a
 * metric that is paid for.
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
    ObjectNode line = JSON.createObjectNode();
    ObjectNode metadata = line.putObject("_aws").put("Timestamp", clock.millis());
    ObjectNode directive =
        metadata.putArray("CloudWatchMetrics").addObject().put("Namespace", "Tollgate");
    directive.putArray("Dimensions").addArray().add("Outcome");
    directive.putArray("Metrics").addObject().put("Name", "Connections").put("Unit", "Count");
    line.put("Outcome", outcome).put("Connections", 1).put("tenantId", tenant.value());
    log.log(line.toString());
  }
}
