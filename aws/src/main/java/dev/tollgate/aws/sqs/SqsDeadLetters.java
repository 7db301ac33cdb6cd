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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesResponse;
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

  /** The most dead letters that a look keeps: they are in memory with their bodies. */
  private static final int MAX_FOUND = 1_000;

  /** SQS asks all of its servers in a poll that waits, and only some in one that does not. */
  private static final int POLL_SECONDS = 1;

  /** Marks a redriven message. The integrations of the WebSocket API cannot set it. */
  private static final String REDRIVEN = "redriven";

  /** Longer than any call: afterwards, messages that a crashed call received appear again. */
  private static final Duration HIDDEN = Duration.ofSeconds(45);

  private static final QueueAttributeName VISIBLE =
      QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES;
  private static final QueueAttributeName NOT_VISIBLE =
      QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE;

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
  public Found find(Search search) {
    List<DeadLetter> letters = new ArrayList<>();
    boolean complete = true;
    for (DeadLetter.Source source : DeadLetter.Source.values()) {
      Queue queue =
          source == DeadLetter.Source.POOL ? poolDead(search.tenant()) : siloDead(search.tenant());
      complete &=
          pass(queue, search, MAX_FOUND, false, message -> letters.add(letter(message, source)))
              .complete();
    }
    return new Found(letters, complete);
  }

  /** How many messages were used, and whether that were all of the tenant. */
  private record Pass(int used, boolean complete) {}

  /**
   * Receives messages until none is left and passes those of the tenant on.
   *
   * @param removes whether {@code use} deletes the message
   */
  private Pass pass(Queue queue, Search search, int max, boolean removes, Consumer<Message> use) {
    Set<String> held = new LinkedHashSet<>();
    int used = 0;
    try {
      while (used < max && search.hasTime().getAsBoolean()) {
        List<Message> received = receive(queue);
        if (received.isEmpty()) {
          boolean blocksOwn = used > 0 && !removes;
          return new Pass(used, counts(queue).areSeen(held.size(), blocksOwn));
        }
        received.forEach(message -> held.add(message.receiptHandle()));
        for (Message message : received) {
          if (used < max && isOf(search, message)) {
            use.accept(message);
            used++;
            if (removes) {
              held.remove(message.receiptHandle());
            }
          }
        }
      }
      return new Pass(used, false);
    } finally {
      giveBack(queue, List.copyOf(held));
    }
  }

  private static boolean isOf(Search search, Message message) {
    return group(message).startsWith(search.tenant() + ":")
        && !sentAt(message).isBefore(search.since());
  }

  private static Instant sentAt(Message message) {
    return Instant.ofEpochMilli(
        Long.parseLong(message.attributes().get(MessageSystemAttributeName.SENT_TIMESTAMP)));
  }

  private static String group(Message message) {
    return message.attributes().getOrDefault(MessageSystemAttributeName.MESSAGE_GROUP_ID, "");
  }

  private static DeadLetter letter(Message message, DeadLetter.Source source) {
    Map<MessageSystemAttributeName, String> attributes = message.attributes();
    return new DeadLetter(
        message.messageId(),
        group(message),
        sentAt(message),
        Long.parseLong(
            attributes.getOrDefault(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, "0")),
        message.body(),
        source);
  }

  @Override
  public Redriven redrive(Search search, int max) {
    TenantId tenant = search.tenant();
    Queue target =
        silos.isClosed(tenant)
            ? new Queue(pool.queue(), own.as(tenant))
            : new Queue(urls.of(urls.names().siloQueue(tenant)), credentials.as(tenant));
    // Those of the pool are older: a silo that is removed moves its dead letters there.
    Pass ofPool = redrive(poolDead(tenant), target, search, max);
    if (!ofPool.complete()) {
      return new Redriven(ofPool.used(), false);
    }
    Pass ofSilo = redrive(siloDead(tenant), target, search, max - ofPool.used());
    return new Redriven(ofPool.used() + ofSilo.used(), ofSilo.complete());
  }

  private Pass redrive(Queue from, Queue target, Search search, int max) {
    return pass(
        from,
        search,
        max,
        true,
        message -> {
          send(target, message);
          delete(from, message);
        });
  }

  /** Messages of a queue, approximately. A group's messages behind received ones are visible. */
  private record Counts(long visible, long hidden) {
    /**
     * Whether no message of the tenant is left in a queue that gives no more.
     *
     * @param held how many messages this call hides; if more are hidden, others hide them
     * @param blocksOwn whether some are the tenant's, so that SQS keeps later ones of their groups
     */
    boolean areSeen(int held, boolean blocksOwn) {
      return hidden <= held && !(blocksOwn && visible > 0);
    }
  }

  /** Counts the messages; 0 if the queue does not exist. */
  private Counts counts(Queue queue) {
    return askUnless(
            "SQS GetQueueAttributes of " + queue.url(),
            QueueDoesNotExistException.class,
            () ->
                sqs.getQueueAttributes(
                    request ->
                        request
                            .overrideConfiguration(queue.as())
                            .queueUrl(queue.url())
                            .attributeNames(VISIBLE, NOT_VISIBLE)))
        .map(answer -> new Counts(count(answer, VISIBLE), count(answer, NOT_VISIBLE)))
        .orElse(new Counts(0, 0));
  }

  private static long count(GetQueueAttributesResponse answer, QueueAttributeName name) {
    return Long.parseLong(answer.attributes().getOrDefault(name, "0"));
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
                            .waitTimeSeconds(POLL_SECONDS)
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
  private void giveBack(Queue queue, List<String> receipts) {
    for (int from = 0; from < receipts.size(); from += BATCH) {
      List<String> part = receipts.subList(from, Math.min(from + BATCH, receipts.size()));
      List<ChangeMessageVisibilityBatchRequestEntry> entries =
          IntStream.range(0, part.size())
              .mapToObj(
                  i ->
                      ChangeMessageVisibilityBatchRequestEntry.builder()
                          .id(Integer.toString(i))
                          .receiptHandle(part.get(i))
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
