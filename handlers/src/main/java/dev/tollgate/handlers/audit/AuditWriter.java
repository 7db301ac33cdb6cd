package dev.tollgate.handlers.audit;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent.DynamodbStreamRecord;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse.BatchItemFailure;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.StreamRecord;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.audit.RowAudit;
import dev.tollgate.handlers.FlatRow;
import dev.tollgate.handlers.Wiring;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The function that reads the streams of the Tenant and Tier tables and appends an entry to the
 * audit for each change.
 *
 * <p>The id of an entry follows from its record, so a record that Lambda repeats adds nothing.
 */
public final class AuditWriter implements RequestHandler<DynamodbEvent, StreamsEventResponse> {
  /** Sequence numbers have up to 40 digits, and those of a row increase. */
  private static final int DIGITS = 40;

  private final RowAudit changes;
  private final AuditLog audit;

  /** The function as Lambda creates it. */
  public AuditWriter() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public AuditWriter(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock));
  }

  private AuditWriter(Wiring wiring) {
    this(wiring.rowAudit(), wiring.auditLog());
  }

  /** The function with its ports. */
  AuditWriter(RowAudit changes, AuditLog audit) {
    this.changes = changes;
    this.audit = audit;
  }

  /**
   * Appends the entries of a batch, in order.
   *
   * @return the first record whose entry could not be appended. Lambda repeats it and those after
   *     it
   */
  @Override
  public StreamsEventResponse handleRequest(DynamodbEvent event, Context context) {
    for (DynamodbStreamRecord record : event.getRecords()) {
      try {
        entry(record).ifPresent(audit::append);
      } catch (Unavailable failed) {
        context.getLogger().log("the audit is written again: " + failed.getMessage() + "\n");
        return new StreamsEventResponse(
            List.of(new BatchItemFailure(record.getDynamodb().getSequenceNumber())));
      }
    }
    return new StreamsEventResponse(List.of());
  }

  private Optional<AuditEntry> entry(DynamodbStreamRecord record) {
    StreamRecord row = record.getDynamodb();
    return changes.of(
        id(row.getSequenceNumber(), record.getEventID()),
        FlatRow.of(row.getOldImage()),
        FlatRow.of(row.getNewImage()),
        row.getApproximateCreationDateTime().toInstant());
  }

  private static String id(String sequenceNumber, String eventId) {
    return "0".repeat(Math.max(0, DIGITS - sequenceNumber.length()))
        + sequenceNumber
        + "-"
        + eventId;
  }
}
