package dev.tollgate.aws.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.Push;
import dev.tollgate.core.message.PushPage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

@ExtendWith(Engines.class)
class SqsPushQueueTest {
  private static final Push PUSH = new Push(new TenantId("acme"), "p-1", "{ \"a\":\"ä\" }");

  private final SqsClient sqs;
  private final SqsPushQueue queue;

  SqsPushQueueTest(Engines.Queues engine) {
    sqs = engine.client();
    String name = "push_" + UUID.randomUUID() + ".fifo";
    sqs.createQueue(
        request ->
            request
                .queueName(name)
                .attributes(
                    Map.of(
                        QueueAttributeName.FIFO_QUEUE, "true",
                        QueueAttributeName.DEDUPLICATION_SCOPE, "messageGroup",
                        QueueAttributeName.FIFO_THROUGHPUT_LIMIT, "perMessageGroupId")));
    queue = new SqsPushQueue(sqs, engine.urls().of(name));
  }

  @AfterEach
  void stop() {
    sqs.close();
  }

  private List<Message> receive() {
    return sqs.receiveMessage(
            request ->
                request
                    .queueUrl(queue.url())
                    .maxNumberOfMessages(10)
                    .messageSystemAttributeNames(MessageSystemAttributeName.ALL)
                    .messageAttributeNames("All"))
        .messages();
  }

  private static String shown(Message message) {
    List<String> parts = new ArrayList<>();
    parts.add(message.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID));
    for (String name : List.of("id", "idExpiresAt", "after")) {
      Optional.ofNullable(message.messageAttributes().get(name))
          .ifPresent(value -> parts.add(value.stringValue()));
    }
    parts.add(message.body());
    return String.join(" ", parts);
  }

  @Test
  void a_page_is_one_message_of_its_tenants_group_and_its_repetition_is_dropped() {
    PushPage first = new PushPage(PUSH, Optional.empty(), Optional.empty());
    PushPage next = new PushPage(PUSH, Optional.empty(), Optional.of("0123456789ab"));
    queue.send(first);
    queue.send(first);
    queue.send(next);
    queue.send(next);
    queue.send(
        new PushPage(
            new Push(new TenantId("other"), "p-1", "1"), Optional.empty(), Optional.empty()));

    // One request may receive the messages of one group only.
    assertThat(Stream.of(receive(), receive()).flatMap(List::stream))
        .extracting(SqsPushQueueTest::shown)
        .containsExactlyInAnyOrder(
            "acme p-1 " + PUSH.json(), "acme p-1 0123456789ab " + PUSH.json(), "other p-1 1");
  }

  @Test
  void the_same_page_of_a_later_push_with_this_id_is_another_message() {
    Instant expiry = Instant.ofEpochSecond(1_800_000_000);
    Push longest = new Push(new TenantId("a".repeat(36)), "p".repeat(64), "1");
    for (Instant until : List.of(expiry, expiry, expiry.plusSeconds(86_400))) {
      queue.send(new PushPage(longest, Optional.of(until), Optional.of("0123456789ab")));
    }

    assertThat(receive())
        .extracting(message -> message.messageAttributes().get("idExpiresAt").stringValue())
        .containsExactly("1800000000", "1800086400");
  }
}
