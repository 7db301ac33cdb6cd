package dev.tollgate.aws.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Arns;
import dev.tollgate.aws.Engines;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.DeadLetter.Source;
import dev.tollgate.core.message.DeadLetters;
import dev.tollgate.core.testing.contract.DeadLettersContract;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

@ExtendWith(Engines.class)
class SqsDeadLettersTest extends DeadLettersContract {
  private static final MessageAttributeValue SOCKET =
      MessageAttributeValue.builder().dataType("String").stringValue("socket").build();

  private final SqsClient sqs;
  private final QueueUrls urls;
  private final SqsDeadLetters.Pool pool;
  private final SqsSiloQueues silos;
  private final SqsDeadLetters letters;

  SqsDeadLettersTest(Engines.Queues engine) {
    sqs = engine.client();
    urls = engine.urls();
    pool = new SqsDeadLetters.Pool(newQueue("pool_"), newQueue("pool_dead_"));
    Arns arns = new Arns("aws", "us-east-1", "000000000000");
    silos = new SqsSiloQueues(sqs, urls, arns, pool.dead(), Engines.ANYBODY);
    letters = new SqsDeadLetters(sqs, urls, pool, silos, Engines.ANYBODY, Engines.ANYBODY);
  }

  private String newQueue(String prefix) {
    String name = prefix + UUID.randomUUID() + ".fifo";
    sqs.createQueue(
        request ->
            request.queueName(name).attributes(Map.of(QueueAttributeName.FIFO_QUEUE, "true")));
    return urls.of(name);
  }

  @AfterEach
  void stop() {
    sqs.close();
  }

  @Override
  protected DeadLetters deadLetters() {
    return letters;
  }

  @Override
  protected void createSilo(TenantId tenant) {
    silos.ensure(tenant);
  }

  @Override
  protected void add(Source source, String group, String body) {
    TenantId tenant = new TenantId(group.substring(0, group.indexOf(':')));
    String url =
        source == Source.POOL ? pool.dead() : urls.of(urls.names().siloDeadLetters(tenant));
    sqs.sendMessage(
        request ->
            request
                .queueUrl(url)
                .messageBody(body)
                .messageGroupId(group)
                .messageDeduplicationId(UUID.randomUUID().toString())
                .messageAttributes(Map.of("connectionId", SOCKET)));
  }

  @Override
  protected List<String> take(Source queue, TenantId tenant) {
    String url = queue == Source.POOL ? pool.queue() : urls.of(urls.names().siloQueue(tenant));
    List<String> taken = new ArrayList<>();
    List<Message> batch = receive(url);
    while (!batch.isEmpty()) {
      for (Message message : batch) {
        assertThat(message.messageAttributes())
            .containsEntry("connectionId", SOCKET)
            .containsKey("redriven");
        taken.add(
            message.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID)
                + " "
                + message.body());
        sqs.deleteMessage(request -> request.queueUrl(url).receiptHandle(message.receiptHandle()));
      }
      batch = receive(url);
    }
    return taken;
  }

  private List<Message> receive(String url) {
    return sqs.receiveMessage(
            request ->
                request
                    .queueUrl(url)
                    .maxNumberOfMessages(10)
                    .messageSystemAttributeNames(MessageSystemAttributeName.MESSAGE_GROUP_ID)
                    .messageAttributeNames("All"))
        .messages();
  }
}
