package dev.tollgate.aws.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Arns;
import dev.tollgate.aws.Engines;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.DeadLetter.Source;
import dev.tollgate.core.message.DeadLetters;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.DeadLettersContract;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
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

  @Test
  void messages_of_others_are_passed_as_long_as_there_is_time_and_given_back() {
    TenantId tenant = Samples.tenantId();
    TenantId other = Samples.tenantId();
    for (int i = 0; i < 120; i++) {
      add(Source.POOL, other + ":session-" + i, "of another");
    }
    add(Source.POOL, tenant + ":session", "letter");
    AtomicInteger batches = new AtomicInteger();
    DeadLetters.Search brief =
        new DeadLetters.Search(tenant, Instant.EPOCH, () -> batches.getAndIncrement() < 3);

    // SQS has no order among groups, so the letter may be among the first 30.
    assertThat(letters.find(brief).complete()).isFalse();
    assertThat(batches).as("three batches of the pool, and none of the silo").hasValue(5);
    assertThat(letters.find(search(tenant)).letters()).hasSize(1);
    assertThat(letters.find(search(tenant)).complete()).isTrue();
    assertThat(letters.redrive(search(tenant), 10)).isEqualTo(new DeadLetters.Redriven(1, true));
    assertThat(letters.find(search(other)).letters()).hasSize(120);
  }

  @Test
  void a_silos_messages_wait_while_somebody_else_hides_those_of_the_pool() {
    TenantId tenant = Samples.tenantId();
    createSilo(tenant);
    add(Source.POOL, tenant + ":session", "earlier");
    add(Source.SILO, tenant + ":session", "later");
    Message hidden = receive(pool.dead()).get(0);

    assertThat(letters.redrive(search(tenant), 10)).isEqualTo(new DeadLetters.Redriven(0, false));

    sqs.changeMessageVisibility(
        request ->
            request
                .queueUrl(pool.dead())
                .receiptHandle(hidden.receiptHandle())
                .visibilityTimeout(0));
    assertThat(letters.redrive(search(tenant), 10)).isEqualTo(new DeadLetters.Redriven(2, true));
    assertThat(take(Source.SILO, tenant))
        .containsExactly(tenant + ":session earlier", tenant + ":session later");
  }

  @Test
  void a_long_group_of_another_tenant_does_not_make_a_redrive_incomplete() {
    TenantId tenant = Samples.tenantId();
    TenantId other = Samples.tenantId();
    for (int i = 0; i < 25; i++) {
      add(Source.POOL, other + ":session", "of another");
    }
    add(Source.POOL, tenant + ":session", "letter");

    assertThat(letters.redrive(search(tenant), 10)).isEqualTo(new DeadLetters.Redriven(1, true));
  }

  private static DeadLetters.Search search(TenantId tenant) {
    return new DeadLetters.Search(tenant, Instant.EPOCH, () -> true);
  }
}
