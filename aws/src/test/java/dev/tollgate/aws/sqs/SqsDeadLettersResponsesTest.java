package dev.tollgate.aws.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.message.DeadLetters;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Dead letters with responses that the engine cannot be made to give. */
class SqsDeadLettersResponsesTest extends ScriptedAdapters {
  private static final String DEAD = "blue_tollgate_pool_dead.fifo";

  @BeforeEach
  void two_dead_letters_in_the_pool() {
    services.on(
        "GetQueueAttributes",
        request ->
            request.body().contains(DEAD)
                ? Answer.ok(
                    "{\"Attributes\":{\"ApproximateNumberOfMessages\":\"0\",\"ApproximateNumberOfMessagesNotVisible\":\"2\"}}")
                : noQueue());
    services.on(
        "ReceiveMessage",
        request ->
            !request.body().contains(DEAD)
                ? noQueue()
                : Answer.ok(
                    isFirstSinceGivenBack()
                        ? "{\"Messages\":[" + message("id-1") + "," + message("id-2") + "]}"
                        : "{}"));
    services.on(
        "SendMessage", request -> Answer.ok("{\"MessageId\":\"new\",\"SequenceNumber\":\"1\"}"));
    services.on("ChangeMessageVisibilityBatch", request -> Answer.ok("{\"Successful\":[]}"));
  }

  private boolean isFirstSinceGivenBack() {
    long received =
        services.requests("ReceiveMessage").stream()
            .filter(request -> request.body().contains(DEAD))
            .count();
    return received == services.requests("ChangeMessageVisibilityBatch").size() + 1;
  }

  private DeadLetters.Search search() {
    return new DeadLetters.Search(tenant, Instant.EPOCH, () -> true);
  }

  private String message(String id) {
    return """
        {"MessageId":"%s","ReceiptHandle":"of-%s","Body":"letter","MD5OfBody":"f5b75010ea8a54b96f8fe7dafac65c18",
         "Attributes":{"MessageGroupId":"%s:1","SentTimestamp":"1700000000000","ApproximateReceiveCount":"6"}}"""
        .formatted(id, id, tenant);
  }

  @Test
  void a_message_that_was_not_sent_is_not_deleted_and_is_given_back() {
    services.on("SendMessage", request -> Answer.failure(403, "AccessDenied"));

    assertThatThrownBy(() -> aws.deadLetters().redrive(search(), 10))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("SendMessage");

    assertThat(services.requests("DeleteMessage")).isEmpty();
    assertThat(services.requests("SendMessage")).hasSize(1);
    assertThat(services.requests("ChangeMessageVisibilityBatch"))
        .singleElement()
        .satisfies(request -> assertThat(request.body()).contains("of-id-1", "of-id-2"));
  }

  @Test
  void a_repetition_sends_a_message_that_was_not_deleted_under_the_same_deduplication_id() {
    services.on("DeleteMessage", request -> Answer.failure(403, "AccessDenied"));
    assertThatThrownBy(() -> aws.deadLetters().redrive(search(), 1))
        .isInstanceOf(Unavailable.class);
    assertThatThrownBy(() -> aws.deadLetters().redrive(search(), 1))
        .isInstanceOf(Unavailable.class);

    assertThat(services.requests("SendMessage"))
        .hasSize(2)
        .allSatisfy(
            request ->
                assertThat(request.body())
                    .contains(
                        "blue_tollgate_pool.fifo",
                        "\"MessageDeduplicationId\":\"id-1\"",
                        "\"MessageGroupId\":\"" + tenant + ":1\""));
  }

  @Test
  void a_look_succeeds_although_messages_could_not_be_given_back() {
    services.on("ChangeMessageVisibilityBatch", request -> Answer.failure(403, "AccessDenied"));

    DeadLetters.Found found = aws.deadLetters().find(search());

    assertThat(found.letters()).hasSize(2);
    assertThat(found.complete()).isTrue();
  }

  @Test
  void a_look_is_not_complete_while_others_hide_messages() {
    services.on("ReceiveMessage", request -> Answer.ok("{}"));

    assertThat(aws.deadLetters().find(search()).complete()).isFalse();
    assertThat(aws.deadLetters().redrive(search(), 10))
        .isEqualTo(new DeadLetters.Redriven(0, false));
  }

  @Test
  void a_look_is_not_complete_while_sqs_keeps_later_messages_of_a_received_group() {
    services.on(
        "GetQueueAttributes",
        request -> Answer.ok("{\"Attributes\":{\"ApproximateNumberOfMessages\":\"5\"}}"));

    assertThat(aws.deadLetters().find(search()).complete()).isFalse();
  }

  @Test
  void polls_ask_all_servers() {
    aws.deadLetters().find(search());

    assertThat(services.requests("ReceiveMessage"))
        .allSatisfy(request -> assertThat(request.body()).contains("\"WaitTimeSeconds\":1"));
  }
}
