package dev.tollgate.local.events;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.lambda.model.CreateEventSourceMappingRequest;
import software.amazon.awssdk.services.lambda.model.EventSourcePosition;
import software.amazon.awssdk.services.lambda.model.Filter;
import software.amazon.awssdk.services.lambda.model.FunctionResponseType;

/** What happens to the records of a table's stream that is mapped to a function. */
final class StreamEventsTest {
  @TempDir private Path directory;
  private EventsCloud cloud;

  @BeforeEach
  void start() {
    cloud = EventsCloud.start(directory, false);
  }

  @AfterEach
  void stop() {
    cloud.close();
  }

  private void map(String handler, Consumer<CreateEventSourceMappingRequest.Builder> more) {
    cloud.createFunction("changes", handler);
    cloud.lambda.createEventSourceMapping(
        r -> {
          r.functionName("changes")
              .eventSourceArn(cloud.streamArn())
              .startingPosition(EventSourcePosition.TRIM_HORIZON);
          more.accept(r);
        });
  }

  private void put(String id, String value) {
    cloud.dynamoDb.putItem(
        r ->
            r.tableName("Items")
                .item(
                    Map.of(
                        "id",
                        AttributeValue.fromS(id),
                        "set",
                        AttributeValue.fromSs(List.of(value)))));
  }

  private void delete(String id) {
    cloud.dynamoDb.deleteItem(
        r -> r.tableName("Items").key(Map.of("id", AttributeValue.fromS(id))));
  }

  @Test
  void changes_arrive_whole_and_in_order() throws Exception {
    map("Changes", r -> {});

    put("a", "1");
    put("a", "2");
    delete("a");
    cloud.cloud.settle();

    List<String> log = cloud.log("changes");
    assertThat(log).hasSize(3);
    assertThat(log.get(0)).startsWith("INSERT a from null to {").contains("[1]");
    assertThat(log.get(1)).startsWith("MODIFY a from {").contains("[1]").contains("[2]");
    assertThat(log.get(2))
        .startsWith("REMOVE a from {")
        .contains("[2]")
        .contains(" to null by null at 20")
        .endsWith("of " + cloud.streamArn());
    assertThat(cloud.cloud.requests().of("changes event source"))
        .extracting(request -> request.operation())
        .contains("GetRecords");
  }

  @Test
  void changes_are_gathered_until_the_batch_is_full_or_its_window_ends() throws Exception {
    map("Keys", r -> r.batchSize(3).maximumBatchingWindowInSeconds(30));

    put("a", "1");
    cloud.cloud.settle();
    cloud.advance(Duration.ofSeconds(20));
    put("b", "1");
    cloud.advance(Duration.ofSeconds(9));
    assertThat(cloud.log("changes")).isEmpty();
    cloud.advance(Duration.ofSeconds(1));
    assertThat(cloud.log("changes")).containsExactly("keys [a, b]");

    List.of("c", "d", "e", "f").forEach(key -> put(key, "1"));
    cloud.cloud.settle();
    assertThat(cloud.log("changes")).containsExactly("keys [a, b]", "keys [c, d, e]");
    cloud.advance(Duration.ofSeconds(30));
    assertThat(cloud.log("changes")).endsWith("keys [f]");
  }

  @Test
  void filter_lets_through_only_what_matches() throws Exception {
    map(
        "Changes",
        r ->
            r.filterCriteria(
                f ->
                    f.filters(
                        Filter.builder()
                            .pattern(
                                "{\"eventName\":[\"REMOVE\"],\"dynamodb\":{\"OldImage\":{\"set\":{\"SS\":[{\"exists\":true}]}}}}")
                            .build())));

    put("a", "1");
    delete("a");
    cloud.dynamoDb.putItem(
        r -> r.tableName("Items").item(Map.of("id", AttributeValue.fromS("bare"))));
    delete("bare");
    cloud.cloud.settle();

    assertThat(cloud.log("changes")).singleElement().asString().startsWith("REMOVE a");
  }

  @Test
  void reported_record_holds_back_those_behind_it_and_is_given_up_after_its_retries()
      throws Exception {
    String failed = cloud.createQueue("failed", Map.of());
    map(
        "Changes",
        r ->
            r.functionResponseTypes(FunctionResponseType.REPORT_BATCH_ITEM_FAILURES)
                .maximumRetryAttempts(1)
                .destinationConfig(
                    d -> d.onFailure(o -> o.destination(EventsCloud.queueArn("failed")))));

    put("poison", "1");
    put("after", "1");
    cloud.cloud.settle();
    int tried = cloud.log("changes").size();
    put("later", "1");
    cloud.cloud.settle();
    assertThat(cloud.log("changes")).hasSize(tried);

    for (int i = 0; i < 4; i++) {
      cloud.advance(Duration.ofSeconds(61));
    }

    assertThat(cloud.log("changes")).anyMatch(line -> line.startsWith("INSERT later"));
    JsonNode notice =
        new ObjectMapper()
            .readTree(cloud.sqs.receiveMessage(r -> r.queueUrl(failed)).messages().get(0).body());
    assertThat(notice.at("/requestContext/condition").asText()).isEqualTo("RetryAttemptsExhausted");
    assertThat(notice.at("/requestContext/approximateInvokeCount").asInt()).isEqualTo(2);
    assertThat(notice.at("/DDBStreamBatchInfo/streamArn").asText()).isEqualTo(cloud.streamArn());
    assertThat(notice.at("/DDBStreamBatchInfo/startSequenceNumber").asText()).isNotEmpty();
  }

  @Test
  void batch_that_fails_isHalved_until_the_poison_is_alone() throws Exception {
    cloud.createFunction("changes", "Keys");
    for (String id : List.of("a", "b", "poison", "c")) {
      put(id, "1");
    }
    cloud.lambda.createEventSourceMapping(
        r ->
            r.functionName("changes")
                .eventSourceArn(cloud.streamArn())
                .startingPosition(EventSourcePosition.TRIM_HORIZON)
                .bisectBatchOnFunctionError(true)
                .maximumRetryAttempts(0));
    cloud.cloud.settle();

    assertThat(cloud.log("changes").stream().filter(line -> line.startsWith("keys")))
        .containsExactly(
            "keys [a, b, poison, c]",
            "keys [a, b]",
            "keys [poison, c]",
            "keys [poison]",
            "keys [c]");
  }

  @Test
  void batch_that_is_too_old_isGivenUp() throws Exception {
    map("Keys", r -> r.maximumRecordAgeInSeconds(60));

    put("poison", "1");
    cloud.cloud.settle();
    put("a", "1");
    cloud.advance(Duration.ofSeconds(61));

    assertThat(cloud.log("changes")).contains("keys [a]");
    assertThat(cloud.log("changes").stream().filter("keys [poison]"::equals)).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    // The engine's minute, when it was read, how far the clock is ahead in milliseconds, created
    "120, 121, 0, 121",
    "120, 185, 0, 179",
    "120, 119, 0, 120",
    "120, 150, 59900, 209",
  })
  void record_was_created_by_the_clock(long minute, long read, long ahead, long created)
      throws Exception {
    JsonNode given =
        new ObjectMapper()
            .readTree("{\"dynamodb\":{\"ApproximateCreationDateTime\":" + minute + "}}");

    assertThat(
            StreamReader.event(
                    given, "arn:stream", Instant.ofEpochSecond(read), Duration.ofMillis(ahead))
                .at("/dynamodb/ApproximateCreationDateTime")
                .asLong())
        .isEqualTo(created);
  }

  @Test
  void record_of_an_expired_row_tells_who_deleted_it() throws Exception {
    JsonNode given =
        new ObjectMapper()
            .readTree(
                "{\"eventName\":\"REMOVE\",\"dynamodb\":{\"ApproximateCreationDateTime\":90},\"userIdentity\":{\"PrincipalId\":\"dynamodb.amazonaws.com\",\"Type\":\"Service\"}}");

    assertThat(
            StreamReader.event(given, "arn:stream", Instant.EPOCH, Duration.ZERO)
                .path("userIdentity")
                .toString())
        .isEqualTo("{\"type\":\"Service\",\"principalId\":\"dynamodb.amazonaws.com\"}");
  }
}
