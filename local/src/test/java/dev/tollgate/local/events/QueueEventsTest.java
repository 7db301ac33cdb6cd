package dev.tollgate.local.events;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.lambda.model.Filter;
import software.amazon.awssdk.services.lambda.model.FunctionResponseType;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** What happens to the messages of queues that are mapped to functions. */
final class QueueEventsTest {
  private static final Map<QueueAttributeName, String> FIFO =
      Map.of(QueueAttributeName.FIFO_QUEUE, "true", QueueAttributeName.VISIBILITY_TIMEOUT, "60");
  private static final Map<QueueAttributeName, String> STANDARD =
      Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "60");

  @TempDir static Path directory = Path.of("");
  private static EventsCloud cloud;

  @BeforeAll
  static void start() {
    cloud = EventsCloud.start(directory, false);
  }

  @AfterAll
  static void stop() {
    cloud.close();
  }

  /** A queue, a function and their mapping, all of one name. Returns the queue's URL. */
  private static String map(
      String name, String handler, Map<QueueAttributeName, String> attributes, boolean reports) {
    boolean fifo = attributes.containsKey(QueueAttributeName.FIFO_QUEUE);
    String queue = fifo ? name + ".fifo" : name;
    String url = cloud.createQueue(queue, attributes);
    cloud.createFunction(name, handler);
    cloud.lambda.createEventSourceMapping(
        r -> {
          r.functionName(name).eventSourceArn(EventsCloud.queueArn(queue));
          if (reports) {
            r.functionResponseTypes(FunctionResponseType.REPORT_BATCH_ITEM_FAILURES);
          }
        });
    return url;
  }

  @Test
  void message_isHanded_to_the_function_whole_and_deleted() throws Exception {
    String url = map("whole", "Recorder", FIFO, true);

    cloud.sqs.sendMessage(
        r ->
            r.queueUrl(url)
                .messageBody("{\"a\":\"é\"}")
                .messageGroupId("acme:s1")
                .messageDeduplicationId("d1")
                .messageAttributes(
                    Map.of(
                        "connectionId",
                        MessageAttributeValue.builder()
                            .dataType("String")
                            .stringValue("c1")
                            .build())));
    cloud.cloud.settle();

    JsonNode record = event("whole").at("/Records/0");
    assertThat(record.path("body").asText()).isEqualTo("{\"a\":\"é\"}");
    assertThat(record.path("messageId").asText()).isNotEmpty();
    assertThat(record.path("receiptHandle").asText()).isNotEmpty();
    assertThat(record.path("md5OfBody").asText()).hasSize(32);
    assertThat(record.path("eventSource").asText()).isEqualTo("aws:sqs");
    assertThat(record.path("eventSourceARN").asText())
        .isEqualTo("arn:aws:sqs:us-east-1:000000000000:whole.fifo");
    assertThat(record.path("awsRegion").asText()).isEqualTo("us-east-1");
    assertThat(record.at("/attributes/MessageGroupId").asText()).isEqualTo("acme:s1");
    assertThat(record.at("/attributes/MessageDeduplicationId").asText()).isEqualTo("d1");
    assertThat(record.at("/attributes/SequenceNumber").asText()).isNotEmpty();
    assertThat(record.at("/attributes/ApproximateReceiveCount").asText()).isEqualTo("1");
    assertThat(record.at("/attributes/SentTimestamp").asText()).isNotEmpty();
    assertThat(record.at("/messageAttributes/connectionId/stringValue").asText()).isEqualTo("c1");
    assertThat(record.at("/messageAttributes/connectionId/dataType").asText()).isEqualTo("String");
    assertThat(cloud.held(url)).isZero();
  }

  @Test
  void mapping_of_the_template_hands_over_what_is_sent() throws Exception {
    String url = cloud.sqs.getQueueUrl(r -> r.queueName("pool.fifo")).queueUrl();

    cloud.send(url, "hello", "g");
    cloud.cloud.settle();

    assertThat(cloud.log("Pool")).contains("took hello of g with [], 1");
    assertThat(cloud.held(url)).isZero();
    assertThat(cloud.cloud.requests().of("Pool event source"))
        .extracting(request -> request.operation())
        .contains("ReceiveMessage", "DeleteMessageBatch");
    assertThat(cloud.cloud.requests().of("Pool event source").get(0).principal().roleArn())
        .isEqualTo(EventsCloud.ROLE);
  }

  @Test
  void reported_message_comes_back_alone_after_its_visibility_time() throws Exception {
    String url = map("reported", "Batches", STANDARD, true);
    cloud.send(url, "good", "");
    cloud.send(url, "fail once", "");
    cloud.cloud.settle();
    assertThat(cloud.held(url)).isOne();

    cloud.advance(Duration.ofSeconds(59));
    assertThat(cloud.held(url)).isOne();
    cloud.advance(Duration.ofSeconds(2));

    assertThat(cloud.held(url)).isZero();
    assertThat(cloud.log("reported").stream().filter(line -> line.startsWith("took")))
        .containsExactlyInAnyOrder(
            "took good of null with [], 1",
            "took fail once of null with [], 1",
            "took fail once of null with [], 2");
  }

  @Test
  void messages_are_gathered_until_the_batch_is_full_or_its_window_ends() throws Exception {
    String url = cloud.createQueue("gathered", STANDARD);
    cloud.createFunction("gathered", "Batches");
    cloud.lambda.createEventSourceMapping(
        r ->
            r.functionName("gathered")
                .eventSourceArn(EventsCloud.queueArn("gathered"))
                .batchSize(12)
                .maximumBatchingWindowInSeconds(30));

    cloud.send(url, "a", "");
    cloud.cloud.settle();
    cloud.advance(Duration.ofSeconds(20));
    cloud.send(url, "b", "");
    cloud.advance(Duration.ofSeconds(9));
    assertThat(cloud.log("gathered")).isEmpty();
    cloud.advance(Duration.ofSeconds(1));
    assertThat(cloud.log("gathered")).contains("batch of 2");
    assertThat(cloud.held(url)).isZero();

    for (int message = 0; message < 12; message++) {
      cloud.send(url, "m" + message, "");
    }
    cloud.cloud.settle();
    assertThat(cloud.log("gathered")).contains("batch of 12");
    assertThat(cloud.held(url)).isZero();
  }

  @Test
  void batch_whose_function_throws_comes_back_whole() throws Exception {
    String url = cloud.createQueue("thrown", STANDARD);
    cloud.createFunction("thrown", "Batches");
    cloud.send(url, "good", "");
    cloud.send(url, "throw", "");
    cloud.lambda.createEventSourceMapping(
        r -> r.functionName("thrown").eventSourceArn(EventsCloud.queueArn("thrown")));
    cloud.cloud.settle();

    assertThat(cloud.held(url)).isEqualTo(2);
    cloud.advance(Duration.ofSeconds(61));
    // A standard queue may deliver the two in another order, so the other one may be taken first.
    assertThat(cloud.log("thrown")).filteredOn("batch of 2"::equals).hasSize(2);
  }

  @Test
  void failures_that_are_not_asked_for_do_not_count() throws Exception {
    String url = map("unasked", "Batches", STANDARD, false);

    cloud.send(url, "fail", "");
    cloud.cloud.settle();

    assertThat(cloud.held(url)).isZero();
  }

  @Test
  void message_that_fails_too_often_goes_to_the_dead_letters() throws Exception {
    String dead = cloud.createQueue("dead", STANDARD);
    String url =
        map(
            "poisoned",
            "Batches",
            Map.of(
                QueueAttributeName.VISIBILITY_TIMEOUT,
                "60",
                QueueAttributeName.REDRIVE_POLICY,
                "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":\"2\"}"
                    .formatted(EventsCloud.queueArn("dead"))),
            true);
    cloud.send(url, "fail", "");
    cloud.cloud.settle();
    for (int i = 0; i < 3; i++) {
      cloud.advance(Duration.ofSeconds(61));
    }

    assertThat(cloud.held(url)).isZero();
    assertThat(cloud.held(dead)).isOne();
  }

  @Test
  void groups_of_a_fifo_queue_keep_their_order_and_do_not_wait_for_each_other() throws Exception {
    String url = map("ordered", "Batches", FIFO, true);
    cloud.send(url, "throw", "stuck");
    cloud.cloud.settle();

    for (int i = 0; i < 25; i++) {
      cloud.send(url, "m" + i, "a");
      cloud.send(url, "m" + i, "b");
    }
    cloud.send(url, "later", "stuck");
    cloud.cloud.settle();

    for (String group : List.of("a", "b")) {
      assertThat(cloud.log("ordered").stream().filter(line -> line.contains(" of " + group + " ")))
          .containsExactlyElementsOf(
              IntStream.range(0, 25)
                  .mapToObj(i -> "took m" + i + " of " + group + " with [], 1")
                  .toList());
    }
    assertThat(cloud.held(url)).isEqualTo(2);
  }

  @Test
  void delayed_message_isHanded_over_when_the_clock_moves() throws Exception {
    String url = map("delayed", "Batches", STANDARD, true);
    cloud.sqs.sendMessage(r -> r.queueUrl(url).messageBody("later").delaySeconds(300));
    cloud.cloud.settle();
    assertThat(cloud.log("delayed")).isEmpty();

    cloud.advance(Duration.ofSeconds(301));

    assertThat(cloud.log("delayed")).contains("took later of null with [], 1");
  }

  @Test
  void idle_mapping_asks_for_nothing() throws Exception {
    map("idle", "Batches", STANDARD, true);
    cloud.cloud.settle();
    cloud.cloud.requests().clear();

    cloud.cloud.settle();
    cloud.advance(Duration.ofHours(1));

    assertThat(cloud.cloud.requests().of("idle event source")).isEmpty();
  }

  @Test
  void disabled_mapping_leaves_messages_alone_until_it_is_enabled() throws Exception {
    String url = map("paused", "Batches", STANDARD, true);
    String uuid = mapping("paused");
    // Its first look at the queue is over.
    cloud.cloud.settle();
    cloud.lambda.updateEventSourceMapping(r -> r.uuid(uuid).enabled(false));

    cloud.send(url, "hello", "");
    cloud.cloud.settle();
    assertThat(cloud.held(url)).isOne();
    assertThat(cloud.lambda.getEventSourceMapping(r -> r.uuid(uuid)).state()).isEqualTo("Disabled");

    cloud.lambda.updateEventSourceMapping(r -> r.uuid(uuid).enabled(true));
    cloud.cloud.settle();
    assertThat(cloud.held(url)).isZero();
  }

  @Test
  void deleted_mapping_takes_nothing_more() throws Exception {
    String url = map("gone", "Batches", STANDARD, true);
    String uuid = mapping("gone");
    // Its first look at the queue is over.
    cloud.cloud.settle();

    assertThat(cloud.lambda.deleteEventSourceMapping(r -> r.uuid(uuid)).state())
        .isEqualTo("Deleting");
    cloud.send(url, "hello", "");
    cloud.cloud.settle();

    assertThat(cloud.held(url)).isOne();
  }

  @Test
  void filter_lets_through_what_matches_and_deletes_the_rest() throws Exception {
    String url = cloud.createQueue("filtered", STANDARD);
    cloud.createFunction("filtered", "Batches");
    cloud.lambda.createEventSourceMapping(
        r ->
            r.functionName("filtered")
                .eventSourceArn(EventsCloud.queueArn("filtered"))
                .filterCriteria(
                    f ->
                        f.filters(
                            Filter.builder()
                                .pattern("{\"body\":{\"kind\":[\"wanted\"]}}")
                                .build())));

    cloud.send(url, "{\"kind\":\"wanted\"}", "");
    cloud.send(url, "{\"kind\":\"other\"}", "");
    cloud.send(url, "no JSON", "");
    cloud.cloud.settle();

    assertThat(cloud.log("filtered").stream().filter(line -> line.startsWith("took")))
        .singleElement()
        .asString()
        .contains("wanted");
    assertThat(cloud.held(url)).isZero();
  }

  @Test
  void killed_function_leaves_its_batch_to_come_back() throws Exception {
    String url = map("killed", "Batches", STANDARD, true);
    cloud.send(url, "wait", "");
    while (cloud.log("killed").stream().noneMatch(line -> line.startsWith("took wait"))) {
      Thread.onSpinWait();
    }

    cloud.cloud.kill("killed");
    cloud.cloud.settle();

    assertThat(cloud.held(url)).isOne();
    assertThat(cloud.log("killed")).anyMatch(line -> line.contains("signal: killed"));
    // The clock of later tests must not bring the message back to its function.
    cloud.lambda.deleteEventSourceMapping(r -> r.uuid(mapping("killed")));
  }

  private static String mapping(String function) {
    return cloud
        .lambda
        .listEventSourceMappings(r -> r.functionName(function))
        .eventSourceMappings()
        .get(0)
        .uuid();
  }

  private static JsonNode event(String function) throws IOException {
    String line =
        cloud.log(function).stream()
            .filter(text -> text.startsWith("event "))
            .findFirst()
            .orElse("");
    return new ObjectMapper().readTree(line.substring("event ".length()));
  }
}
