package dev.tollgate.handlers.housekeeping;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.LambdaLogger;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent.DynamodbStreamRecord;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse.BatchItemFailure;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.AttributeValue;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.LogText;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Threads;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.housekeeping.Recount;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.handlers.Wiring;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * The function that reads the Session table's stream. A row that still lists connections may be
 * deleted: its time to live ends, or an operator deletes it. The function then closes the sockets
 * of these connections and repairs the tenant's count. Repeated records have no further effect.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html">Configuring
 *     partial batch response with DynamoDB and Lambda</a>
 */
public final class SessionEnd implements RequestHandler<DynamodbEvent, StreamsEventResponse> {
  private static final String REMOVE = "REMOVE";
  private static final String TENANT_ID = "tenantId";
  private static final String CONNECTION_IDS = "connectionIds";

  private final Sockets sockets;
  private final AdmissionFactsReader facts;
  private final Recount recount;
  private final Executor executor;
  private final Metrics metrics;

  /** The function as Lambda creates it. */
  public SessionEnd() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public SessionEnd(Map<String, String> environment, InstantSource clock) {
    this(Wiring.withOwnRole(environment, clock), clock);
  }

  private SessionEnd(Wiring wiring, InstantSource clock) {
    this(
        wiring.sockets(),
        wiring.facts(),
        wiring.recount(),
        Threads.unbounded("recounts"),
        new Metrics(clock));
  }

  /**
   * The function with its use cases.
   *
   * @param executor runs the recounts of a batch
   */
  SessionEnd(
      Sockets sockets,
      AdmissionFactsReader facts,
      Recount recount,
      Executor executor,
      Metrics metrics) {
    this.sockets = sockets;
    this.facts = facts;
    this.recount = recount;
    this.executor = executor;
    this.metrics = metrics;
  }

  /**
   * Processes a batch of the stream.
   *
   * @return the first record that failed, if any; Lambda retries from there
   */
  @Override
  public StreamsEventResponse handleRequest(DynamodbEvent event, Context context) {
    List<DynamodbStreamRecord> records = event.getRecords();
    int processed = 0;
    Map<TenantId, Deleted> deletedByTenant = new LinkedHashMap<>();
    try {
      for (; processed < records.size(); processed++) {
        close(records.get(processed), processed, deletedByTenant);
      }
    } catch (Unavailable unavailable) {
      context.getLogger().log("sockets stay open: " + LogText.lines(unavailable.reason()));
    }
    Map<TenantId, Recount.Repair> repairs =
        recount.repair(deletedByTenant.keySet(), facts::tenantExists, executor);
    for (Map.Entry<TenantId, Deleted> deleted : deletedByTenant.entrySet()) {
      Recount.Repair repair = Objects.requireNonNull(repairs.get(deleted.getKey()));
      report(deleted.getKey(), deleted.getValue(), repair, context);
      // A retry of an unreadable row would fail again and block the records behind this one.
      if (repair.failure().filter(failed -> !(failed instanceof UnreadableRow)).isPresent()) {
        processed = Math.min(processed, deleted.getValue().first());
      }
    }
    return new StreamsEventResponse(
        processed == records.size()
            ? List.of()
            : List.of(
                new BatchItemFailure(records.get(processed).getDynamodb().getSequenceNumber())));
  }

  private void close(
      DynamodbStreamRecord record, int index, Map<TenantId, Deleted> deletedByTenant) {
    List<String> connectionIds = connections(record);
    if (connectionIds.isEmpty()) {
      return;
    }
    connectionIds.forEach(sockets::close);
    tenant(record)
        .ifPresent(
            id ->
                deletedByTenant.merge(
                    id, new Deleted(index, 1, connectionIds.size()), Deleted::and));
  }

  /** Reports the recount for all deleted sessions of a tenant. */
  private void report(TenantId tenant, Deleted deleted, Recount.Repair repair, Context context) {
    LambdaLogger log = context.getLogger();
    repair
        .reason()
        .ifPresentOrElse(
            reason -> log.log("not recounted: " + LogText.lines(reason)),
            () ->
                metrics.repaired(
                    log, tenant, deleted.sessions(), deleted.connections(), repair.drift()));
  }

  /** The connections that a row listed when it was deleted. */
  private static List<String> connections(DynamodbStreamRecord record) {
    return REMOVE.equals(record.getEventName())
        ? old(record, CONNECTION_IDS)
            .flatMap(ids -> Optional.ofNullable(ids.getSS()))
            .orElse(List.of())
        : List.of();
  }

  /** The tenant of a row; empty if the row was written by hand with an invalid tenant id. */
  private static Optional<TenantId> tenant(DynamodbStreamRecord record) {
    try {
      return old(record, TENANT_ID)
          .flatMap(id -> Optional.ofNullable(id.getS()))
          .map(TenantId::new);
    } catch (InvalidValue invalid) {
      return Optional.empty();
    }
  }

  private static Optional<AttributeValue> old(DynamodbStreamRecord record, String attribute) {
    return Optional.ofNullable(record.getDynamodb().getOldImage())
        .flatMap(image -> Optional.ofNullable(image.get(attribute)));
  }

  /**
   * The deleted rows of one tenant.
   *
   * @param first the index of the first record of the tenant
   */
  private record Deleted(int first, int sessions, int connections) {
    private Deleted and(Deleted later) {
      return new Deleted(first, sessions + later.sessions, connections + later.connections);
    }
  }
}
