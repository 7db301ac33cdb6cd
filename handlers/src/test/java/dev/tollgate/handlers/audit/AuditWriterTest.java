package dev.tollgate.handlers.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent.DynamodbStreamRecord;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse.BatchItemFailure;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.AttributeValue;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.StreamRecord;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.audit.AuditSpan;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.memory.InMemoryAuditLog;
import dev.tollgate.handlers.LambdaEvents;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class AuditWriterTest {
  private static final Instant SECOND = Samples.NOW.truncatedTo(ChronoUnit.SECONDS);

  private final InMemoryAuditLog log = new InMemoryAuditLog();

  /** An entry of each row that has a field {@code n}. */
  private static Optional<AuditEntry> entry(
      String id, Map<String, String> before, Map<String, String> after, Instant at) {
    return after.containsKey("n")
        ? Optional.of(
            AuditEntry.of(
                id,
                at,
                Subject.DEPLOYMENT,
                ChangeType.ADMIT_ALL_TURNED_ON,
                Author.UNKNOWN,
                before,
                after))
        : Optional.empty();
  }

  private static DynamodbStreamRecord record(int number, Map<String, AttributeValue> after) {
    DynamodbStreamRecord record = new DynamodbStreamRecord();
    record.setEventID("event-" + number);
    record.setDynamodb(
        new StreamRecord()
            .withSequenceNumber(Integer.toString(number))
            .withApproximateCreationDateTime(Date.from(SECOND))
            .withNewImage(after));
    return record;
  }

  private static DynamodbStreamRecord record(int number) {
    return record(number, Map.of("n", new AttributeValue().withN(Integer.toString(number))));
  }

  private static List<String> write(AuditLog to, DynamodbStreamRecord... records) {
    DynamodbEvent event = new DynamodbEvent();
    event.setRecords(List.of(records));
    return new AuditWriter(AuditWriterTest::entry, to)
        .handleRequest(event, LambdaEvents.context()).getBatchItemFailures().stream()
            .map(BatchItemFailure::getItemIdentifier)
            .toList();
  }

  private List<AuditEntry> written() {
    return log.all(new AuditSpan(SECOND, SECOND.plusSeconds(1)), Optional.empty(), 100).items();
  }

  @Test
  void records_of_one_second_stay_in_the_order_of_the_stream() {
    assertThat(write(log, record(9), record(10), record(11))).isEmpty();

    assertThat(written()).extracting(entry -> entry.to().get("n")).containsExactly("11", "10", "9");
  }

  @Test
  void a_batch_that_comes_again_adds_nothing() {
    write(log, record(1), record(2));
    List<AuditEntry> first = written();
    write(log, record(1), record(2));

    assertThat(written()).isEqualTo(first).hasSize(2);
  }

  @Test
  void fields_within_maps_have_the_names_of_both() {
    write(
        log,
        record(
            1,
            Map.of(
                "n", new AttributeValue().withN("1"),
                "on", new AttributeValue().withBOOL(false),
                "limits",
                    new AttributeValue()
                        .withM(
                            Map.of(
                                "a",
                                new AttributeValue()
                                    .withM(Map.of("b", new AttributeValue().withS("x"))))),
                "ids", new AttributeValue().withSS("a"))));

    assertThat(written().get(0).to()).isEqualTo(Map.of("n", "1", "on", "false", "limits.a.b", "x"));
  }

  @Test
  void the_first_record_that_cannot_be_written_is_repeated_with_those_behind_it() {
    List<AuditEntry> appended = new ArrayList<>();
    AuditLog failing =
        new InMemoryAuditLog() {
          @Override
          public synchronized void append(AuditEntry entry) {
            if (entry.to().get("n").equals("2")) {
              throw new Unavailable("DynamoDB");
            }
            appended.add(entry);
          }
        };

    assertThat(write(failing, record(0, Map.of()), record(1), record(2), record(3)))
        .containsExactly("2");
    assertThat(appended).hasSize(1);
  }
}
