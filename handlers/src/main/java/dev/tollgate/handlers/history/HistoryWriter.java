package dev.tollgate.handlers.history;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent.DynamodbStreamRecord;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.StreamRecord;
import dev.tollgate.core.MetricLine;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.History;
import dev.tollgate.core.history.Hours;
import dev.tollgate.core.history.RowChanges;
import dev.tollgate.handlers.FlatRow;
import dev.tollgate.handlers.Wiring;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The function that reads the Limit table's stream and writes the minutes of the tenants' history.
 * Once an hour a schedule invokes it to write hours.
 *
 * <p>The stream gives each write of a row once and in order, and Lambda repeats a batch that
 * failed, from the same record on. The first record names the batch, so a repeated batch counts
 * once.
 */
public final class HistoryWriter implements RequestHandler<DynamodbEvent, StreamsEventResponse> {
  private final History history;
  private final RowChanges changes;
  private final Hours hours;
  private final InstantSource clock;

  /** The function as Lambda creates it. */
  public HistoryWriter() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public HistoryWriter(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock), clock);
  }

  private HistoryWriter(Wiring wiring, InstantSource clock) {
    this(wiring.history(), wiring.rowChanges(), wiring.hours(), clock);
  }

  /** The function with its ports. */
  HistoryWriter(History history, RowChanges changes, Hours hours, InstantSource clock) {
    this.history = history;
    this.changes = changes;
    this.hours = hours;
    this.clock = clock;
  }

  /**
   * Writes the history of a batch of the stream, or hours.
   *
   * @param event a batch, or the schedule's event, which has no records
   * @return no failure
   * @throws Unavailable if DynamoDB fails. Lambda repeats the batch; the next hour's event writes
   *     the hours
   */
  @Override
  public StreamsEventResponse handleRequest(DynamodbEvent event, Context context) {
    List<DynamodbStreamRecord> records = event.getRecords();
    if (records == null) {
      // No hour is begun in the second half of the time, so each has at least half of it.
      hours.write(clock.instant().plusMillis(context.getRemainingTimeInMillis() / 2));
      return new StreamsEventResponse(List.of());
    }
    List<Change> read = records.stream().map(this::change).flatMap(Optional::stream).toList();
    if (!read.isEmpty()) {
      history.add(records.get(0).getEventID(), read);
      context.getLogger().log(tokens(read) + "\n");
    }
    return new StreamsEventResponse(List.of());
  }

  private String tokens(List<Change> read) {
    Counts.Tokens all =
        read.stream()
            .flatMap(change -> change.counts().tokens().values().stream())
            .reduce(new Counts.Tokens(0, 0), Counts.Tokens::plus);
    return MetricLine.tokens(clock.instant(), all.minted(), all.taken());
  }

  private Optional<Change> change(DynamodbStreamRecord record) {
    StreamRecord row = record.getDynamodb();
    return changes.of(
        FlatRow.of(row.getOldImage()),
        FlatRow.of(row.getNewImage()),
        row.getApproximateCreationDateTime().toInstant());
  }
}
