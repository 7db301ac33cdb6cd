package dev.tollgate.aws.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.aws.ScriptedAws.Request;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.provisioning.Progress;
import dev.tollgate.core.provisioning.QueueCreation;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The requests for the queues of silos, and responses that the engine cannot be made to give. */
class SqsSiloQueuesResponsesTest extends ScriptedAdapters {
  private String silo(String rest) {
    return "blue_silo_" + tenant + rest;
  }

  @Test
  void a_silo_has_a_high_throughput_fifo_queue_with_a_dead_letter_queue() {
    services.on("GetQueueAttributes", request -> noQueue());
    services.on("CreateQueue", request -> anyQueue());

    assertThat(aws.siloQueues().ensure(tenant)).isEqualTo(QueueCreation.CREATED);

    List<Request> created = services.requests("CreateQueue");
    assertThat(created)
        .extracting(Request::body)
        .allSatisfy(
            body ->
                assertThat(body)
                    .contains(
                        "\"FifoQueue\":\"true\"",
                        "\"DeduplicationScope\":\"messageGroup\"",
                        "\"FifoThroughputLimit\":\"perMessageGroupId\"",
                        "\"SqsManagedSseEnabled\":\"true\"",
                        "\"VisibilityTimeout\":\"90\""));
    assertThat(created.get(0).body())
        .contains(silo("_dead.fifo"), "\"MessageRetentionPeriod\":\"1209600\"");
    assertThat(created.get(1).body())
        .contains(
            silo(".fifo"),
            "\"MessageRetentionPeriod\":\"345600\"",
            "{\\\"deadLetterTargetArn\\\":\\\"arn:aws:sqs:eu-central-1:000000000000:"
                + silo("_dead.fifo")
                + "\\\",\\\"maxReceiveCount\\\":\\\"5\\\"}");
    assertThat(services.requests("SetQueueAttributes")).isEmpty();
  }

  @Test
  void a_silos_queues_with_other_attributes_are_updated_and_stay_fifo() {
    services.on("CreateQueue", request -> Answer.failure(400, "QueueNameExists"));

    assertThat(aws.siloQueues().ensure(tenant)).isEqualTo(QueueCreation.EXISTED);

    assertThat(services.requests("SetQueueAttributes"))
        .hasSize(2)
        .extracting(Request::body)
        .allSatisfy(
            body -> assertThat(body).contains("VisibilityTimeout").doesNotContain("FifoQueue"));
  }

  @Test
  void a_silos_queues_deleted_just_now_cannot_be_created_although_they_still_respond() {
    services.on(
        "CreateQueue",
        request ->
            request.body().contains("\"QueueName\":\"" + silo("_dead.fifo"))
                ? anyQueue()
                : Answer.failure(400, "QueueDeletedRecently"));
    assertThat(aws.siloQueues().ensure(tenant)).isEqualTo(QueueCreation.RECENTLY_DELETED);

    services.on("CreateQueue", request -> Answer.failure(400, "QueueDeletedRecently"));
    assertThat(aws.siloQueues().ensure(tenant)).isEqualTo(QueueCreation.RECENTLY_DELETED);
  }

  @Test
  void a_closed_silo_denies_sending_until_it_is_created_again() {
    aws.siloQueues().close(tenant);

    String closing = services.requests("SetQueueAttributes").get(0).body();
    assertThat(closing)
        .contains(
            "\\\"Effect\\\":\\\"Deny\\\",\\\"Principal\\\":\\\"*\\\"",
            "\\\"Action\\\":\\\"sqs:SendMessage\\\"",
            "\\\"Resource\\\":\\\"arn:aws:sqs:eu-central-1:000000000000:" + silo(".fifo"));
    services.on(
        "GetQueueAttributes",
        request ->
            Answer.ok(
                request.body().contains("_dead")
                    ? "{\"Attributes\":{}}"
                    : "{\"Attributes\":{\"Policy\":\"{\\\"Sid\\\":\\\"Closed\\\"}\"}}"));
    services.on("CreateQueue", request -> anyQueue());
    assertThat(aws.siloQueues().isClosed(tenant)).isTrue();

    aws.siloQueues().ensure(tenant);

    assertThat(services.requests("SetQueueAttributes"))
        .hasSize(2)
        .last()
        .extracting(Request::body)
        .asString()
        .contains(silo(".fifo"), "\"Policy\":\"\"");
  }

  @Test
  void a_queue_with_a_foreign_policy_does_not_count_as_closed() {
    services.on(
        "GetQueueAttributes",
        request -> Answer.ok("{\"Attributes\":{\"Policy\":\"{\\\"Sid\\\":\\\"EnforceTls\\\"}\"}}"));
    services.on("CreateQueue", request -> anyQueue());

    assertThat(aws.siloQueues().isClosed(tenant)).isFalse();
    aws.siloQueues().ensure(tenant);

    assertThat(services.requests("SetQueueAttributes")).isEmpty();
  }

  @Test
  void a_dead_letter_is_deleted_only_after_the_pool_has_it() {
    services.on(
        "ReceiveMessage",
        request ->
            Answer.ok(
                """
                {"Messages":[{"MessageId":"id-1","ReceiptHandle":"r-1","Body":"letter","MD5OfBody":"f5b75010ea8a54b96f8fe7dafac65c18",
                  "Attributes":{"MessageGroupId":"acme:1"}}]}"""));
    services.on("SendMessage", request -> Answer.failure(403, "AccessDenied"));

    assertThatThrownBy(() -> aws.siloQueues().moveDeadLetters(tenant))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("the pool's dead letters");

    assertThat(services.requests("DeleteMessage")).isEmpty();
    assertThat(services.requests("SendMessage"))
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.accessKey()).isEqualTo("own");
              assertThat(request.body())
                  .contains(
                      "blue_tollgate_pool_dead.fifo",
                      "\"MessageGroupId\":\"acme:1\"",
                      "\"MessageDeduplicationId\":\"id-1\"");
            });
    assertThat(services.requests("ReceiveMessage").get(0).accessKey()).isEqualTo(tenant.value());
  }

  @Test
  void dead_letters_in_flight_are_moved_later() {
    services.on(
        "GetQueueAttributes",
        request -> Answer.ok("{\"Attributes\":{\"ApproximateNumberOfMessagesNotVisible\":\"3\"}}"));

    assertThat(aws.siloQueues().moveDeadLetters(tenant)).isEqualTo(Progress.IN_PROGRESS);
  }
}
