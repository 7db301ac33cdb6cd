package dev.tollgate.aws.sqs;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.askUnless;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.message.DeadLetter;
import dev.tollgate.core.message.DeadLetters;
import dev.tollgate.core.provisioning.SiloQueues;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;

/**
 * Dead letters in SQS's FIFO queues. SQS's own redrive (StartMessageMoveTask) moves a whole queue,
 * and the pool's dead-letter queue has the messages of many tenants.
 *
 * <p>A call receives messages, so they are hidden from others until it gives them back. It receives
 * the pool's with the function's own role, and a silo's with that of its tenant.
 */
public final class SqsDeadLetters implements DeadLetters {
  private static final int BATCH = 10;

  /** The most batches that a call receives from a queue. */
  private static final int MAX_BATCHES = 10;

  /** Marks a redriven message. The integrations of the WebSocket API cannot set it. */
  private static final String REDRIVEN = "redriven";

  /** Longer than any call: afterwards, messages that a crashed call received appear again. */
  private static final Duration HIDDEN = Duration.ofSeconds(45);

  private static final List<QueueAttributeName> COUNTS =
      List.of(
          QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
          QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE);

  private final SqsClient sqs;
  private final QueueUrls urls;
  private final Pool pool;
  private final SiloQueues silos;
  private final TenantCredentials own;
  private final TenantCredentials credentials;

  /**
   * The URLs of the pool's queues.
   *
   * @param queue its queue of messages
   * @param dead its dead-letter queue
   */
  public record Pool(String queue, String dead) {}

  /**
   * Dead letters of the queues at {@code urls}.
   *
   * @param own the function's own role, for the pool's queues
   */
  public SqsDeadLetters(
      SqsClient sqs,
      QueueUrls urls,
      Pool pool,
      SiloQueues silos,
      TenantCredentials own,
      TenantCredentials credentials) {
    this.sqs = sqs;
    this.urls = urls;
    this.pool = pool;
    this.silos = silos;
    this.own = own;
    this.credentials = credentials;
  }

  /** A queue, and who may use it. */
  private record Queue(String url, AwsRequestOverrideConfiguration as) {}

  private Queue poolDead(TenantId tenant) {
    return new Queue(pool.dead(), own.as(tenant));
  }

  private Queue siloDead(TenantId tenant) {
    return new Queue(urls.of(urls.names().siloDeadLetters(tenant)), credentials.as(tenant));
  }

  @Override
  public Found find(TenantId tenant) {
    Look ofPool = look(poolDead(tenant), DeadLetter.Source.POOL, tenant);
    Look ofSilo = look(siloDead(tenant), DeadLetter.Source.SILO, tenant);
    List<DeadLetter> letters = new ArrayList<>(ofPool.letters());
    letters.addAll(ofSilo.letters());
    return new Found(letters, ofPool.complete() && ofSilo.complete());
  }

  private record Look(List<DeadLetter> letters, boolean complete) {}

  private Look look(Queue queue, DeadLetter.Source source, TenantId tenant) {
    long depth = depth(queue);
    List<Message> held = new ArrayList<>();
    try {
      for (int batch = 0; batch < MAX_BATCHES && held.size() < depth; batch++) {
        List<Message> received = receive(queue);
        held.addAll(received);
        if (received.isEmpty()) {
          break;
        }
      }
    } finally {
      giveBack(queue, held);
    }
    return new Look(
        held.stream()
            .filter(message -> isOf(tenant, message))
            .map(message -> letter(message, source))
            .toList(),
        held.size() >= depth);
  }

  private static boolean isOf(TenantId tenant, Message message) {
    return group(message).startsWith(tenant + ":");
  }

  private static String group(Message message) {
    return message.attributes().getOrDefault(MessageSystemAttributeName.MESSAGE_GROUP_ID, "");
  }

  private static DeadLetter letter(Message message, DeadLetter.Source source) {
    Map<MessageSystemAttributeName, String> attributes = message.attributes();
    return new DeadLetter(
        message.messageId(),
        group(message),
        Instant.ofEpochMilli(
            Long.parseLong(attributes.get(MessageSystemAttributeName.SENT_TIMESTAMP))),
        Long.parseLong(
            attributes.getOrDefault(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, "0")),
        message.body(),
        source);
  }

  @Override
  public Redriven redrive(TenantId tenant, int max) {
    Queue target =
        silos.isClosed(tenant)
            ? new Queue(pool.queue(), own.as(tenant))
            : new Queue(urls.of(urls.names().siloQueue(tenant)), credentials.as(tenant));
    // Those of the pool are older: a silo that is removed moves its dead letters there.
    Redriven ofPool = redrive(poolDead(tenant), target, tenant, max);
    if (ofPool.moved() == max) {
      return ofPool;
    }
    Redriven ofSilo = redrive(siloDead(tenant), target, tenant, max - ofPool.moved());
    return new Redriven(ofPool.moved() + ofSilo.moved(), ofPool.complete() && ofSilo.complete());
  }

  private Redriven redrive(Queue from, Queue target, TenantId tenant, int max) {
    long depth = depth(from);
    List<Message> held = new ArrayList<>();
    int moved = 0;
    int left = 0;
    try {
      for (int i = 0; i < MAX_BATCHES && moved < max && held.size() + moved < depth; i++) {
        List<Message> received = receive(from);
        held.addAll(received);
        for (Message message : received) {
          if (!isOf(tenant, message)) {
            continue;
          }
          if (moved == max) {
            left++;
            continue;
          }
          send(target, message);
          delete(from, message);
          held.remove(message);
          moved++;
        }
        if (received.isEmpty()) {
          break;
        }
      }
    } finally {
      giveBack(from, held);
    }
    return new Redriven(moved, left == 0 && held.size() + moved >= depth);
  }

  /** Counts visible and hidden messages; 0 if the queue does not exist. */
  private long depth(Queue queue) {
    return askUnless(
            "SQS GetQueueAttributes of " + queue.url(),
            QueueDoesNotExistException.class,
            () ->
                sqs.getQueueAttributes(
                    request ->
                        request
                            .overrideConfiguration(queue.as())
                            .queueUrl(queue.url())
                            .attributeNames(COUNTS)))
        .map(answer -> answer.attributes().values().stream().mapToLong(Long::parseLong).sum())
        .orElse(0L);
  }

  private List<Message> receive(Queue queue) {
    return askUnless(
            "SQS ReceiveMessage of " + queue.url(),
            QueueDoesNotExistException.class,
            () ->
                sqs.receiveMessage(
                    request ->
                        request
                            .overrideConfiguration(queue.as())
                            .queueUrl(queue.url())
                            .maxNumberOfMessages(BATCH)
                            .visibilityTimeout((int) HIDDEN.toSeconds())
                            .messageSystemAttributeNames(
                                MessageSystemAttributeName.MESSAGE_GROUP_ID,
                                MessageSystemAttributeName.SENT_TIMESTAMP,
                                MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT)
                            .messageAttributeNames("All")))
        .map(answer -> answer.messages())
        .orElse(List.of());
  }

  private void send(Queue target, Message message) {
    Map<String, MessageAttributeValue> attributes = new HashMap<>(message.messageAttributes());
    attributes.put(
        REDRIVEN, MessageAttributeValue.builder().dataType("String").stringValue("true").build());
    ask(
        "SQS SendMessage to " + target.url(),
        () ->
            sqs.sendMessage(
                request ->
                    request
                        .overrideConfiguration(target.as())
                        .queueUrl(target.url())
                        .messageBody(message.body())
                        .messageAttributes(attributes)
                        .messageGroupId(group(message))
                        // The same for a repetition after a lost answer, which SQS then drops.
                        .messageDeduplicationId(message.messageId())));
  }

  private void delete(Queue queue, Message message) {
    ask(
        "SQS DeleteMessage of " + queue.url(),
        () ->
            sqs.deleteMessage(
                request ->
                    request
                        .overrideConfiguration(queue.as())
                        .queueUrl(queue.url())
                        .receiptHandle(message.receiptHandle())));
  }

  /** Makes messages visible again. Those for which it fails appear after {@link #HIDDEN}. */
  private void giveBack(Queue queue, List<Message> messages) {
    for (int from = 0; from < messages.size(); from += BATCH) {
      List<Message> part = messages.subList(from, Math.min(from + BATCH, messages.size()));
      List<ChangeMessageVisibilityBatchRequestEntry> entries =
          IntStream.range(0, part.size())
              .mapToObj(
                  i ->
                      ChangeMessageVisibilityBatchRequestEntry.builder()
                          .id(Integer.toString(i))
                          .receiptHandle(part.get(i).receiptHandle())
                          .visibilityTimeout(0)
                          .build())
              .toList();
      giveBackNow(queue, entries);
    }
  }

  private void giveBackNow(Queue queue, List<ChangeMessageVisibilityBatchRequestEntry> entries) {
    try {
      ask(
          "SQS ChangeMessageVisibilityBatch of " + queue.url(),
          () ->
              sqs.changeMessageVisibilityBatch(
                  request ->
                      request
                          .overrideConfiguration(queue.as())
                          .queueUrl(queue.url())
                          .entries(entries)));
    } catch (Unavailable failed) {
      // They appear again by themselves, and the result of the call must not depend on that.
    }
  }
}
