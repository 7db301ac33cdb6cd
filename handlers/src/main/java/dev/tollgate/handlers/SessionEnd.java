package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent.DynamodbStreamRecord;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse.BatchItemFailure;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.AttributeValue;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.LogText;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.housekeeping.Recount;
import dev.tollgate.core.session.Sockets;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Follows the Session table's stream: when a row goes while connections stand in it, because its
 * time to live is up or a hand deleted it, their sockets are closed and the tenant's count is put
 * right. A record that comes again changes nothing again.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html">Configuring
 *     partial batch response with DynamoDB and Lambda</a>
 */
public final class SessionEnd implements RequestHandler<DynamodbEvent, StreamsEventResponse> {
  private static final String REMOVE = "REMOVE";
  private static final String CONNECTION_IDS = "connectionIds";

  private final Sockets sockets;
  private final AdmissionFactsReader facts;
  private final Recount recount;
  private final Telemetry telemetry;

  /** The function as Lambda makes it. */
  public SessionEnd() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with this environment and clock. */
  public SessionEnd(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock), clock);
  }

  private SessionEnd(Wiring wiring, InstantSource clock) {
    this(wiring.sockets(), wiring.facts(), wiring.recount(), new Telemetry(clock));
  }

  SessionEnd(Sockets sockets, AdmissionFactsReader facts, Recount recount, Telemetry telemetry) {
    this.sockets = sockets;
    this.facts = facts;
    this.recount = recount;
    this.telemetry = telemetry;
  }

  /**
   * Follows a part of the stream.
   *
   * @return the first record that could not be dealt with, if any: Lambda goes on from there
   */
  @Override
  public StreamsEventResponse handleRequest(DynamodbEvent event, Context context) {
    List<DynamodbStreamRecord> records = event.getRecords();
    int dealtWith = 0;
    Map<TenantId, Gone> goneByTenant = new LinkedHashMap<>();
    try {
      for (; dealtWith < records.size(); dealtWith++) {
        close(records.get(dealtWith), dealtWith, goneByTenant);
      }
    } catch (Unavailable unavailable) {
      context.getLogger().log("sockets stay open: " + LogText.lines(unavailable.reason()));
    }
    for (Map.Entry<TenantId, Gone> gone : goneByTenant.entrySet()) {
      try {
        recount(gone.getKey(), gone.getValue(), context);
      } catch (Unavailable unavailable) {
        context.getLogger().log("not recounted: " + LogText.lines(unavailable.reason()));
        dealtWith = Math.min(dealtWith, gone.getValue().first());
      } catch (UnreadableRow unreadable) {
        // The same record would fail again, and hold up the other tenants behind it.
        context.getLogger().log("not recounted: " + LogText.lines(unreadable.reason()));
      }
    }
    return new StreamsEventResponse(
        dealtWith == records.size()
            ? List.of()
            : List.of(
                new BatchItemFailure(records.get(dealtWith).getDynamodb().getSequenceNumber())));
  }

  private void close(DynamodbStreamRecord record, int index, Map<TenantId, Gone> goneByTenant) {
    List<String> connectionIds = connectionsUnder(record);
    if (connectionIds.isEmpty()) {
      return;
    }
    connectionIds.forEach(sockets::close);
    tenant(record)
        .ifPresent(
            id -> goneByTenant.merge(id, new Gone(index, 1, connectionIds.size()), Gone::and));
  }

  /** One recount for all the sessions of a tenant. What is said of strangers is not acted on. */
  private void recount(TenantId tenant, Gone gone, Context context) {
    long drift = facts.tenantExists(tenant) ? recount.repair(tenant) : 0;
    telemetry.putRight(context.getLogger(), tenant, gone.sessions(), gone.connections(), drift);
  }

  /** The connections that stood in a row when it went. */
  private static List<String> connectionsUnder(DynamodbStreamRecord record) {
    return REMOVE.equals(record.getEventName())
        ? old(record, CONNECTION_IDS)
            .flatMap(ids -> Optional.ofNullable(ids.getSS()))
            .orElse(List.of())
        : List.of();
  }

  /** Whose the row was; empty if a hand had written it with a name that no tenant can have. */
  private static Optional<TenantId> tenant(DynamodbStreamRecord record) {
    try {
      return old(record, TicketContext.TENANT)
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
   * What went from under one tenant.
   *
   * @param first the first record that tells of it
   */
  private record Gone(int first, int sessions, int connections) {
    private Gone and(Gone later) {
      return new Gone(first, sessions + later.sessions, connections + later.connections);
    }
  }
}
