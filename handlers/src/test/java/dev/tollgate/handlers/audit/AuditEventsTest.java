package dev.tollgate.handlers.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent.DynamodbStreamRecord;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse.BatchItemFailure;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.AttributeValue;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.StreamRecord;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeEvents;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.handlers.LambdaEvents;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class AuditEventsTest {
  private final List<String> published = new ArrayList<>();

  private static Optional<AuditEntry> entry(Map<String, String> row) {
    return Optional.ofNullable(row.get("id"))
        .map(
            id ->
                AuditEntry.of(
                    id,
                    Samples.NOW,
                    Subject.DEPLOYMENT,
                    ChangeType.ADMIT_ALL_TURNED_ON,
                    Author.UNKNOWN,
                    Map.of(),
                    Map.of()));
  }

  private static DynamodbStreamRecord record(String number, String attribute) {
    DynamodbStreamRecord record = new DynamodbStreamRecord();
    record.setDynamodb(
        new StreamRecord()
            .withSequenceNumber(number)
            .withNewImage(Map.of(attribute, new AttributeValue().withS("id-" + number))));
    return record;
  }

  private static List<String> send(ChangeEvents events, DynamodbStreamRecord... records) {
    DynamodbEvent event = new DynamodbEvent();
    event.setRecords(List.of(records));
    return new AuditEvents(AuditEventsTest::entry, events)
        .handleRequest(event, LambdaEvents.context()).getBatchItemFailures().stream()
            .map(BatchItemFailure::getItemIdentifier)
            .toList();
  }

  private ChangeEvents refusing(String... ids) {
    return entries -> {
      entries.forEach(entry -> published.add(entry.id()));
      return Set.of(ids);
    };
  }

  @Test
  void entries_are_published_in_order_and_other_rows_are_left_out() {
    assertThat(send(refusing(), record("1", "id"), record("2", "x"), record("3", "id"))).isEmpty();
    assertThat(published).containsExactly("id-1", "id-3");
  }

  @Test
  void nothing_is_published_without_an_entry() {
    assertThat(send(refusing("never asked"), record("1", "x"))).isEmpty();
    assertThat(published).isEmpty();
  }

  @Test
  void the_first_refused_entry_is_repeated_with_those_behind_it() {
    assertThat(
            send(refusing("id-3", "id-2"), record("1", "id"), record("2", "id"), record("3", "id")))
        .containsExactly("2");
  }

  @Test
  void all_are_repeated_while_the_bus_is_down() {
    ChangeEvents down =
        entries -> {
          throw new Unavailable("EventBridge");
        };

    assertThat(send(down, record("1", "id"), record("2", "id"))).containsExactly("1");
  }
}
