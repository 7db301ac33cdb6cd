package dev.tollgate.local.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.lambda.model.InvalidParameterValueException;
import software.amazon.awssdk.services.lambda.model.InvocationType;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/** Asynchronous invocations in a whole cloud, with the queues that take what becomes of them. */
final class AsyncEventsTest {
  private static final String FAILING =
      "{\"Records\":[{\"messageId\":\"1\",\"body\":\"throw\",\"attributes\":{},\"messageAttributes\":{}}]}";

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

  private void invoke(String function, String payload) throws InterruptedException {
    int status =
        cloud
            .lambda
            .invoke(
                r ->
                    r.functionName(function)
                        .invocationType(InvocationType.EVENT)
                        .payload(SdkBytes.fromUtf8String(payload)))
            .statusCode();
    assertThat(status).isEqualTo(202);
    cloud.cloud.settle();
  }

  private List<Message> messages(String queue) {
    String url = cloud.sqs.getQueueUrl(r -> r.queueName(queue)).queueUrl();
    return cloud
        .sqs
        .receiveMessage(r -> r.queueUrl(url).maxNumberOfMessages(10).messageAttributeNames("All"))
        .messages();
  }

  @Test
  void event_of_a_function_that_keeps_failing_becomes_a_dead_letter() throws Exception {
    cloud.createQueue("letters", Map.of());
    cloud.lambda.createFunction(
        EventsCloud.function("failing", "Failing")
            .deadLetterConfig(c -> c.targetArn(EventsCloud.queueArn("letters")))
            .build());

    invoke("failing", "\"bad\"");
    cloud.advance(Duration.ofMinutes(1));
    assertThat(messages("letters")).isEmpty();
    cloud.advance(Duration.ofMinutes(2));

    assertThat(cloud.log("failing"))
        .filteredOn(line -> line.contains("IllegalArgumentException: bad"))
        .hasSize(3);
    assertThat(messages("letters"))
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.body()).isEqualTo("\"bad\"");
              assertThat(letter.messageAttributes().keySet())
                  .containsExactlyInAnyOrder("ErrorCode", "ErrorMessage", "RequestID");
              assertThat(letter.messageAttributes().values())
                  .extracting(MessageAttributeValue::stringValue)
                  .contains("200", "bad");
            });
  }

  @Test
  void records_go_to_the_destinations_of_the_alias() throws Exception {
    String alias = cloud.cloud.outputs().getOrDefault("PoolVersion", "").replaceAll(":1$", ":live");
    invoke(alias, FAILING);
    cloud.advance(Duration.ofMinutes(1));
    cloud.advance(Duration.ofMinutes(10));

    JsonNode record = Json.read(messages("failures").get(0).body());
    assertThat(record.at("/requestContext/condition").asText()).isEqualTo("RetriesExhausted");
    assertThat(record.at("/requestContext/approximateInvokeCount").asInt()).isEqualTo(2);
    assertThat(record.at("/requestContext/functionArn").asText()).isEqualTo(alias);
    assertThat(record.path("requestPayload")).isEqualTo(Json.read(FAILING));
    assertThat(record.at("/responseContext/functionError").asText()).isEqualTo("Unhandled");
    assertThat(record.at("/responsePayload/errorMessage").asText()).isEqualTo("told so");

    invoke(alias, "{\"Records\":[]}");
    record = Json.read(messages("failures").get(0).body());
    assertThat(record.at("/requestContext/condition").asText()).isEqualTo("Success");
    assertThat(record.at("/responsePayload/batchItemFailures").isEmpty()).isTrue();
  }

  @Test
  void settings_of_an_alias_are_not_those_of_the_function() throws Exception {
    invoke("Pool", FAILING);
    cloud.advance(Duration.ofMinutes(1));
    cloud.advance(Duration.ofMinutes(2));

    assertThat(messages("failures")).isEmpty();
    assertThat(cloud.log("Pool"))
        .filteredOn(line -> line.contains("IllegalStateException: told so"))
        .hasSize(3);
  }

  @Test
  void dead_letters_go_to_standard_queues_only() {
    assertThatThrownBy(
            () ->
                cloud.lambda.createFunction(
                    EventsCloud.function("failing", "Failing")
                        .deadLetterConfig(c -> c.targetArn(EventsCloud.queueArn("pool.fifo")))
                        .build()))
        .isInstanceOf(InvalidParameterValueException.class)
        .hasMessageContaining("expected: a standard queue");
  }
}
