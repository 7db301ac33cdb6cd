package dev.tollgate.handlers.audit;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent.DynamodbStreamRecord;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse.BatchItemFailure;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.ChangeEvents;
import dev.tollgate.core.audit.StoredEntries;
import dev.tollgate.handlers.FlatRow;
import dev.tollgate.handlers.Wiring;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The function that reads the Audit table's stream and publishes an event for each entry. An event
 * that Lambda repeats has the same id.
 */
public final class AuditEvents implements RequestHandler<DynamodbEvent, StreamsEventResponse> {
  private final StoredEntries entries;
  private final ChangeEvents events;

  /** The function as Lambda creates it. */
  public AuditEvents() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public AuditEvents(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock));
  }

  private AuditEvents(Wiring wiring) {
    this(wiring.storedEntries(), wiring.changeEvents());
  }

  /** The function with its ports. */
  AuditEvents(StoredEntries entries, ChangeEvents events) {
    this.entries = entries;
    this.events = events;
  }

  /**
   * Publishes the entries of a batch, which has at most {@link ChangeEvents#MAX} records.
   *
   * @return the first record whose event was not accepted. Lambda repeats it and those after it
   */
  @Override
  public StreamsEventResponse handleRequest(DynamodbEvent event, Context context) {
    Map<String, AuditEntry> read = new LinkedHashMap<>();
    for (DynamodbStreamRecord record : event.getRecords()) {
      entries
          .of(FlatRow.of(record.getDynamodb().getNewImage()))
          .ifPresent(entry -> read.put(record.getDynamodb().getSequenceNumber(), entry));
    }
    if (read.isEmpty()) {
      return new StreamsEventResponse(List.of());
    }
    Set<String> refused = publish(List.copyOf(read.values()), context);
    return new StreamsEventResponse(
        read.entrySet().stream()
            .filter(each -> refused.contains(each.getValue().id()))
            .limit(1)
            .map(each -> new BatchItemFailure(each.getKey()))
            .toList());
  }

  private Set<String> publish(List<AuditEntry> read, Context context) {
    try {
      return events.publish(read);
    } catch (Unavailable failed) {
      context.getLogger().log("events are published again: " + failed.getMessage() + "\n");
      return Set.of(read.get(0).id());
    }
  }
}
