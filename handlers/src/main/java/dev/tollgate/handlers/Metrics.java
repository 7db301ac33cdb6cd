package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.LambdaLogger;
import dev.tollgate.core.MetricLine;
import dev.tollgate.core.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Publishes counts of connections, messages, undelivered frames and repairs, and times in line, as
 * CloudWatch metrics: a {@link MetricLine} for each. The outcome is a dimension. The tenant is only
 * a property, because CloudWatch bills every dimension value as a metric.
 */
public final class Metrics {
  private static final String CONNECTION_ID = "connectionId";

  private final InstantSource clock;

  /** Metrics with this clock's timestamps. */
  public Metrics(InstantSource clock) {
    this.clock = clock;
  }

  /**
   * Counts one connection with this outcome.
   *
   * @param connectionId the socket, if the handshake got as far; a property of the log line
   * @param failure why the limits could not be checked; a property, too
   */
  public void connection(
      LambdaLogger log,
      TenantId tenant,
      String outcome,
      Optional<String> connectionId,
      Optional<String> failure) {
    Map<String, String> properties = new LinkedHashMap<>();
    properties.put("tenantId", tenant.value());
    connectionId.ifPresent(id -> properties.put(CONNECTION_ID, id));
    failure.ifPresent(cause -> properties.put("failure", cause));
    countByOutcome(log, "Connections", outcome, 1, properties);
  }

  /**
   * Counts messages with this outcome.
   *
   * @param tenant the tenant of the messages; empty if the messages name no valid tenant
   * @param connectionIds the sockets that sent them, separated by spaces in a property; empty if
   *     they name none
   */
  public void messages(
      LambdaLogger log,
      Optional<TenantId> tenant,
      String outcome,
      int count,
      Set<String> connectionIds) {
    Map<String, String> properties = new LinkedHashMap<>();
    tenant.ifPresent(id -> properties.put("tenantId", id.value()));
    if (!connectionIds.isEmpty()) {
      properties.put(CONNECTION_ID, String.join(" ", connectionIds));
    }
    countByOutcome(log, "Messages", outcome, count, properties);
  }

  private void countByOutcome(
      LambdaLogger log, String metric, String outcome, int count, Map<String, String> properties) {
    properties.put("Outcome", outcome);
    log.log(
        MetricLine.of(
            clock.instant(), "Count", Map.of(metric, count), Optional.of("Outcome"), properties));
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
    log.log(
        MetricLine.of(
            clock.instant(), unit, metrics, Optional.empty(), Map.of("tenantId", tenant.value())));
  }
}
