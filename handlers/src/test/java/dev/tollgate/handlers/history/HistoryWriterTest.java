package dev.tollgate.handlers.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent.DynamodbStreamRecord;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.AttributeValue;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.StreamRecord;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.History;
import dev.tollgate.core.history.Hours;
import dev.tollgate.core.history.Span;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.memory.InMemoryHistory;
import dev.tollgate.handlers.LambdaEvents;
import dev.tollgate.http.testing.RecordingContext;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class HistoryWriterTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final Instant MINUTE = Samples.NOW.truncatedTo(ChronoUnit.MINUTES);

  private final InMemoryHistory history = new InMemoryHistory();
  private Instant now = Samples.NOW;
  private final HistoryWriter writer = writer(history);

  private HistoryWriter writer(History to) {
    return new HistoryWriter(to, HistoryWriterTest::change, new Hours(to, () -> now), () -> now);
  }

  /** Reads a number that a row has in addition. */
  private static Optional<Change> change(
      Map<String, String> before, Map<String, String> after, Instant at) {
    long more =
        Long.parseLong(after.getOrDefault("n", "0"))
            - Long.parseLong(before.getOrDefault("n", "0"));
    return Optional.of(new Change(ACME, at, new Counts(more, Map.of(), more, Map.of())))
        .filter(found -> more != 0);
  }

  private static DynamodbStreamRecord record(int number, String before, String after) {
    StreamRecord row =
        new StreamRecord()
            .withSequenceNumber(Integer.toString(number))
            .withApproximateCreationDateTime(Date.from(MINUTE.plusSeconds(number)));
    if (!before.isEmpty()) {
      row.setOldImage(image(before));
    }
    if (!after.isEmpty()) {
      row.setNewImage(image(after));
    }
    DynamodbStreamRecord record = new DynamodbStreamRecord();
    record.setEventID("event-" + number);
    record.setDynamodb(row);
    return record;
  }

  private static Map<String, AttributeValue> image(String number) {
    return Map.of(
        "n", new AttributeValue().withN(number),
        "line", new AttributeValue().withM(Map.of()),
        "ids", new AttributeValue().withSS("a"));
  }

  private void write(DynamodbStreamRecord... records) {
    DynamodbEvent event = new DynamodbEvent();
    event.setRecords(List.of(records));
    assertThat(writer.handleRequest(event, LambdaEvents.context()).getBatchItemFailures())
        .isEmpty();
  }

  private Map<Instant, Counts> written() {
    return history.of(ACME, new Span(MINUTE, MINUTE.plusSeconds(600)));
  }

  @Test
  void a_batch_is_written_by_the_minute() {
    write(record(1, "", "1"), record(2, "1", "4"), record(61, "4", "5"));

    assertThat(written())
        .isEqualTo(
            Map.of(
                MINUTE,
                new Counts(4, Map.of(), 3, Map.of()),
                MINUTE.plusSeconds(60),
                new Counts(1, Map.of(), 1, Map.of())));
  }

  @Test
  void a_batch_that_comes_again_counts_once() {
    write(record(1, "", "1"), record(2, "1", "2"));
    write(record(1, "", "1"), record(2, "1", "2"));
    write(record(3, "2", "3"));

    assertThat(written()).isEqualTo(Map.of(MINUTE, new Counts(3, Map.of(), 1, Map.of())));
  }

  @Test
  void the_tokens_of_a_batch_are_a_metric() {
    HistoryWriter counts =
        new HistoryWriter(
            history,
            (before, after, at) ->
                Optional.of(
                    new Change(
                        ACME,
                        at,
                        new Counts(
                            0,
                            Map.of(),
                            0,
                            Map.of(
                                Action.CONNECT, new Counts.Tokens(8, 3),
                                Action.MESSAGE, new Counts.Tokens(5, -1))))),
            new Hours(history, () -> now),
            () -> now);
    DynamodbEvent event = new DynamodbEvent();
    event.setRecords(List.of(record(1, "", "1"), record(2, "1", "2")));
    RecordingContext context = new RecordingContext(Duration.ofSeconds(50));

    counts.handleRequest(event, context);

    assertThat(context.logged())
        .singleElement()
        .asString()
        .contains("\"TokensMinted\":26,\"TokensTaken\":4}");
  }

  @Test
  void a_batch_that_tells_nothing_is_not_written() {
    write(record(1, "2", "2"));

    assertThat(written()).isEmpty();
  }

  @Test
  void the_schedules_event_writes_hours() {
    write(record(1, "", "1"), record(2, "1", "4"));
    now = MINUTE.plus(Duration.ofHours(3));

    assertThat(
            writer
                .handleRequest(new DynamodbEvent(), LambdaEvents.context())
                .getBatchItemFailures())
        .isEmpty();

    Instant hour = MINUTE.truncatedTo(ChronoUnit.HOURS);
    assertThat(history.hours(ACME, new Span(hour, hour.plusSeconds(3_600))))
        .isEqualTo(Map.of(hour, new Counts(4, Map.of(), 3, Map.of())));
  }

  @Test
  void a_batch_that_cannot_be_written_is_repeated() {
    HistoryWriter failing =
        writer(
            new InMemoryHistory() {
              @Override
              public void add(String batch, List<Change> changes) {
                throw new Unavailable("DynamoDB");
              }
            });
    DynamodbEvent event = new DynamodbEvent();
    event.setRecords(List.of(record(1, "", "1")));

    assertThatThrownBy(() -> failing.handleRequest(event, LambdaEvents.context()))
        .isInstanceOf(Unavailable.class);
  }
}
