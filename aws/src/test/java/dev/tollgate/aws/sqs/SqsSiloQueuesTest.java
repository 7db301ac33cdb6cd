package dev.tollgate.aws.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Arns;
import dev.tollgate.aws.Engines;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.provisioning.SiloQueues;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.SiloQueuesContract;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SqsException;

@ExtendWith(Engines.class)
class SqsSiloQueuesTest extends SiloQueuesContract {
  private static final MessageAttributeValue SOCKET =
      MessageAttributeValue.builder().dataType("String").stringValue("socket").build();

  private final SqsClient sqs;
  private final QueueUrls urls;
  private final String poolDeadLetters;
  private final SqsSiloQueues queues;
  private final List<String> collected = new ArrayList<>();

  SqsSiloQueuesTest(Engines.Queues engine) {
    sqs = engine.client();
    urls = engine.urls();
    String name = "pool_dead_" + UUID.randomUUID() + ".fifo";
    sqs.createQueue(
        request ->
            request.queueName(name).attributes(Map.of(QueueAttributeName.FIFO_QUEUE, "true")));
    poolDeadLetters = urls.of(name);
    queues =
        new SqsSiloQueues(
            sqs,
            urls,
            new Arns("aws", "us-east-1", "000000000000"),
            poolDeadLetters,
            Engines.ANYBODY);
  }

  @AfterEach
  void stop() {
    sqs.close();
  }

  @Override
  protected SiloQueues queues() {
    return queues;
  }

  @Override
  protected boolean send(TenantId tenant, String group, String body) {
    try {
      sendTo(urls.names().siloQueue(tenant), group, body);
      return true;
    } catch (SqsException refused) {
      return false;
    }
  }

  @Override
  protected void addDeadLetter(TenantId tenant, String group, String body) {
    sendTo(urls.names().siloDeadLetters(tenant), group, body);
  }

  private void sendTo(String name, String group, String body) {
    sqs.sendMessage(
        request ->
            request
                .queueUrl(urls.of(name))
                .messageBody(body)
                .messageGroupId(group)
                .messageDeduplicationId(UUID.randomUUID().toString())
                .messageAttributes(Map.of("connectionId", SOCKET)));
  }

  @Override
  protected List<String> receive(TenantId tenant) {
    return messages(urls.of(urls.names().siloQueue(tenant))).stream().map(Message::body).toList();
  }

  @Override
  protected List<String> poolDeadLetters(TenantId tenant) {
    List<Message> batch = messages(poolDeadLetters);
    while (!batch.isEmpty()) {
      batch.forEach(this::collect);
      batch = messages(poolDeadLetters);
    }
    return List.copyOf(collected);
  }

  private void collect(Message letter) {
    assertThat(letter.messageAttributes()).containsEntry("connectionId", SOCKET);
    collected.add(
        letter.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID) + " " + letter.body());
    sqs.deleteMessage(
        request -> request.queueUrl(poolDeadLetters).receiptHandle(letter.receiptHandle()));
  }

  private List<Message> messages(String url) {
    return sqs.receiveMessage(
            request ->
                request
                    .queueUrl(url)
                    .maxNumberOfMessages(10)
                    .messageSystemAttributeNames(MessageSystemAttributeName.MESSAGE_GROUP_ID)
                    .messageAttributeNames("All"))
        .messages();
  }

  @Override
  protected void aMinutePasses() {}

  @Test
  void a_message_received_five_times_becomes_a_dead_letter() {
    TenantId tenant = Samples.tenantId();
    queues.ensure(tenant);
    send(tenant, "group", "poison");

    for (int i = 0; i < 5; i++) {
      giveBack(tenant);
    }
    assertThat(receive(tenant)).isEmpty();

    queues.moveDeadLetters(tenant);
    assertThat(poolDeadLetters(tenant)).containsExactly("group poison");
    assertThat(queues.depth(tenant)).isZero();
  }

  private void giveBack(TenantId tenant) {
    String url = urls.of(urls.names().siloQueue(tenant));
    List<Message> received = messages(url);
    assertThat(received).hasSize(1);
    sqs.changeMessageVisibility(
        request ->
            request
                .queueUrl(url)
                .receiptHandle(received.get(0).receiptHandle())
                .visibilityTimeout(0));
  }
}
