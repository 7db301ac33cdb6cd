package dev.tollgate.aws.sqs;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.askUnless;

import dev.tollgate.aws.Arns;
import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.provisioning.Progress;
import dev.tollgate.core.provisioning.QueueCreation;
import dev.tollgate.core.provisioning.SiloQueues;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueDeletedRecentlyException;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.QueueNameExistsException;

/**
 * Silo queues: FIFO queues that SQS encrypts, with high throughput for each session. A closed queue
 * has a policy that denies sending to everybody.
 */
public final class SqsSiloQueues implements SiloQueues {
  /** Six times the function's time-out, as AWS recommends for SQS event sources. */
  private static final Duration VISIBILITY = Duration.ofSeconds(90);

  private static final int MAX_RECEIVES = 5;

  /** The statement id in the policy of a closed queue. Operators may add other policies. */
  private static final String CLOSED = "Closed";

  private static final Map<QueueAttributeName, String> ATTRIBUTES =
      Map.of(
          QueueAttributeName.DEDUPLICATION_SCOPE, "messageGroup",
          QueueAttributeName.FIFO_THROUGHPUT_LIMIT, "perMessageGroupId",
          QueueAttributeName.SQS_MANAGED_SSE_ENABLED, "true",
          QueueAttributeName.MESSAGE_RETENTION_PERIOD, seconds(Duration.ofDays(4)),
          QueueAttributeName.VISIBILITY_TIMEOUT, seconds(VISIBILITY));
  private static final Map<QueueAttributeName, String> DEAD_LETTER_ATTRIBUTES =
      with(ATTRIBUTES, QueueAttributeName.MESSAGE_RETENTION_PERIOD, seconds(Duration.ofDays(14)));

  /** The most batches of dead letters that one call moves; the next call moves the rest. */
  private static final int MAX_BATCHES = 20;

  private static final int BATCH = 10;

  /** A short poll may find nothing in a queue with messages. */
  private static final int LONG_POLL_SECONDS = 1;

  private final SqsClient sqs;
  private final QueueUrls urls;
  private final Arns arns;
  private final String poolDeadLetters;
  private final TenantCredentials credentials;

  /**
   * Queues at {@code urls}.
   *
   * @param poolDeadLetters the URL of the pool's dead-letter queue, which is written with the
   *     function's own role
   */
  public SqsSiloQueues(
      SqsClient sqs,
      QueueUrls urls,
      Arns arns,
      String poolDeadLetters,
      TenantCredentials credentials) {
    this.sqs = sqs;
    this.urls = urls;
    this.arns = arns;
    this.poolDeadLetters = poolDeadLetters;
    this.credentials = credentials;
  }

  private static String seconds(Duration duration) {
    return Long.toString(duration.toSeconds());
  }

  private static Map<QueueAttributeName, String> with(
      Map<QueueAttributeName, String> attributes, QueueAttributeName name, String value) {
    Map<QueueAttributeName, String> more = new HashMap<>(attributes);
    more.put(name, value);
    return Map.copyOf(more);
  }

  @Override
  public QueueCreation ensure(TenantId tenant) {
    String deadLetters = urls.names().siloDeadLetters(tenant);
    QueueCreation dead = ensure(deadLetters, DEAD_LETTER_ATTRIBUTES, tenant);
    if (dead == QueueCreation.RECENTLY_DELETED) {
      return QueueCreation.RECENTLY_DELETED;
    }
    String redrive =
        """
        {"deadLetterTargetArn":"%s","maxReceiveCount":"%d"}"""
            .formatted(arns.queue(deadLetters), MAX_RECEIVES);
    QueueCreation queue =
        ensure(
            urls.names().siloQueue(tenant),
            with(ATTRIBUTES, QueueAttributeName.REDRIVE_POLICY, redrive),
            tenant);
    return queue == QueueCreation.EXISTED ? dead : queue;
  }

  /**
   * Creates a queue or updates it. As for {@link SqsBucketQueues}, only CreateQueue reports a
   * recent deletion. CreateQueue leaves the policy of an existing queue alone, and so does
   * SetQueueAttributes unless the request contains a policy.
   */
  private QueueCreation ensure(
      String name, Map<QueueAttributeName, String> attributes, TenantId tenant) {
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    Optional<Map<QueueAttributeName, String>> current =
        attributes(name, as, QueueAttributeName.QUEUE_ARN, QueueAttributeName.POLICY);
    QueueCreation creation =
        ask("SQS CreateQueue of " + name, () -> create(name, attributes, as, current.isPresent()));
    if (creation == QueueCreation.EXISTED && current.filter(SqsSiloQueues::isClosed).isPresent()) {
      ask("SQS SetQueueAttributes of " + name, () -> setPolicy(name, "", as));
    }
    return creation;
  }

  private static boolean isClosed(Map<QueueAttributeName, String> attributes) {
    return attributes.getOrDefault(QueueAttributeName.POLICY, "").contains('"' + CLOSED + '"');
  }

  private QueueCreation create(
      String name,
      Map<QueueAttributeName, String> attributes,
      AwsRequestOverrideConfiguration as,
      boolean exists) {
    try {
      sqs.createQueue(
          request ->
              request
                  .overrideConfiguration(as)
                  .queueName(name)
                  .attributes(with(attributes, QueueAttributeName.FIFO_QUEUE, "true")));
      return exists ? QueueCreation.EXISTED : QueueCreation.CREATED;
    } catch (QueueDeletedRecentlyException deleted) {
      return QueueCreation.RECENTLY_DELETED;
    } catch (QueueNameExistsException differs) {
      sqs.setQueueAttributes(
          request ->
              request.overrideConfiguration(as).queueUrl(urls.of(name)).attributes(attributes));
      return QueueCreation.EXISTED;
    }
  }

  private Optional<Map<QueueAttributeName, String>> attributes(
      String name, AwsRequestOverrideConfiguration as, QueueAttributeName... names) {
    return askUnless(
        "SQS GetQueueAttributes of " + name,
        QueueDoesNotExistException.class,
        () ->
            sqs.getQueueAttributes(
                    request ->
                        request
                            .overrideConfiguration(as)
                            .queueUrl(urls.of(name))
                            .attributeNames(names))
                .attributes());
  }

  @Override
  public void close(TenantId tenant) {
    String name = urls.names().siloQueue(tenant);
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    String policy =
        """
        {"Version":"2012-10-17","Statement":[{"Sid":"%s","Effect":"Deny","Principal":"*",\
        "Action":"sqs:SendMessage","Resource":"%s"}]}"""
            .formatted(CLOSED, arns.queue(name));
    askUnless(
        "SQS SetQueueAttributes of " + name,
        QueueDoesNotExistException.class,
        () -> setPolicy(name, policy, as));
  }

  private Object setPolicy(String name, String policy, AwsRequestOverrideConfiguration as) {
    return sqs.setQueueAttributes(
        request ->
            request
                .overrideConfiguration(as)
                .queueUrl(urls.of(name))
                .attributes(Map.of(QueueAttributeName.POLICY, policy)));
  }

  @Override
  public boolean isClosed(TenantId tenant) {
    return attributes(
            urls.names().siloQueue(tenant), credentials.as(tenant), QueueAttributeName.POLICY)
        .map(SqsSiloQueues::isClosed)
        .orElse(true);
  }

  @Override
  public long depth(TenantId tenant) {
    return depth(urls.names().siloQueue(tenant), credentials.as(tenant));
  }

  private long depth(String name, AwsRequestOverrideConfiguration as) {
    return attributes(
            name,
            as,
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE,
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED)
        .map(counts -> counts.values().stream().mapToLong(Long::parseLong).sum())
        .orElse(0L);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Moves messages one by one to keep their order, and sends each before it deletes it. The
   * message id is the deduplication id, so a message that is sent twice within five minutes counts
   * once.
   */
  @Override
  public Progress moveDeadLetters(TenantId tenant) {
    String name = urls.names().siloDeadLetters(tenant);
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    for (int batch = 0; batch < MAX_BATCHES; batch++) {
      List<Message> letters = receive(name, as);
      letters.forEach(letter -> move(letter, name, as));
      if (letters.isEmpty()) {
        return depth(name, as) == 0 ? Progress.DONE : Progress.IN_PROGRESS;
      }
    }
    return Progress.IN_PROGRESS;
  }

  private List<Message> receive(String name, AwsRequestOverrideConfiguration as) {
    return askUnless(
            "SQS ReceiveMessage of " + name,
            QueueDoesNotExistException.class,
            () ->
                sqs.receiveMessage(
                        request ->
                            request
                                .overrideConfiguration(as)
                                .queueUrl(urls.of(name))
                                .maxNumberOfMessages(BATCH)
                                .waitTimeSeconds(LONG_POLL_SECONDS)
                                .messageSystemAttributeNames(
                                    MessageSystemAttributeName.MESSAGE_GROUP_ID)
                                .messageAttributeNames("All"))
                    .messages())
        .orElse(List.of());
  }

  private void move(Message letter, String from, AwsRequestOverrideConfiguration as) {
    ask(
        "SQS SendMessage to the pool's dead letters",
        () ->
            sqs.sendMessage(
                request ->
                    request
                        .queueUrl(poolDeadLetters)
                        .messageBody(letter.body())
                        .messageAttributes(letter.messageAttributes())
                        .messageGroupId(
                            letter.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID))
                        .messageDeduplicationId(letter.messageId())));
    ask(
        "SQS DeleteMessage of " + from,
        () ->
            sqs.deleteMessage(
                request ->
                    request
                        .overrideConfiguration(as)
                        .queueUrl(urls.of(from))
                        .receiptHandle(letter.receiptHandle())));
  }

  @Override
  public void delete(TenantId tenant) {
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    Stream.of(urls.names().siloQueue(tenant), urls.names().siloDeadLetters(tenant))
        .forEach(name -> delete(name, as));
  }

  private void delete(String name, AwsRequestOverrideConfiguration as) {
    askUnless(
        "SQS DeleteQueue of " + name,
        QueueDoesNotExistException.class,
        () ->
            sqs.deleteQueue(request -> request.overrideConfiguration(as).queueUrl(urls.of(name))));
  }
}
