package dev.tollgate.aws.sqs;

import static dev.tollgate.aws.SdkCalls.askUnless;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Threads;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.SqsException;

/**
 * Tokens as messages of standard SQS queues, one queue for each bucket.
 *
 * <p>DeleteMessage succeeds even for a receipt that has expired (SQS API reference, DeleteMessage).
 * So this class does not send requests for leases that have ended by its own clock. It measures a
 * lease from before the receive request, so the lease ends here before it ends in SQS.
 */
public final class SqsTokenQueue implements TokenQueue {
  /** A long poll queries every server of a queue; a short poll may miss a few tokens. */
  private static final int LONG_POLL_SECONDS = 1;

  /** The maximum of {@code DelaySeconds} (SQS API reference, SendMessage). */
  private static final int MAX_DELAY_SECONDS = 900;

  private static final Pattern MINTED_AT = Pattern.compile("\"mintedAt\":\"([^\"]*)\"");

  private final SqsClient sqs;
  private final SqsClient once;
  private final QueueUrls urls;
  private final TenantCredentials credentials;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * Tokens in the queues at {@code urls}.
   *
   * @param once never repeats a request: after a repeated receive, the tokens of the first one stay
   *     held until their leases end; a repeated send creates tokens twice
   * @param executor runs the batches of one large request; its threads limit how many run at once
   */
  public SqsTokenQueue(
      SqsClient sqs,
      SqsClient once,
      QueueUrls urls,
      TenantCredentials credentials,
      Executor executor,
      InstantSource clock) {
    this.sqs = sqs;
    this.once = once;
    this.urls = urls;
    this.credentials = credentials;
    this.executor = executor;
    this.clock = clock;
  }

  @Override
  public List<Lease> reserve(BucketId bucket, int max, Duration lease, Search search) {
    InvalidValue.inRange("max", max, 1, BATCH);
    AwsRequestOverrideConfiguration tenant = credentials.as(bucket.tenant());
    Instant end = clock.instant().plusSeconds(lease.toSeconds());
    return send(
            bucket,
            "SQS ReceiveMessage of ",
            () ->
                once.receiveMessage(
                    request ->
                        request
                            .overrideConfiguration(tenant)
                            .queueUrl(urls.of(bucket))
                            .maxNumberOfMessages(max)
                            .waitTimeSeconds(search == Search.LONG ? LONG_POLL_SECONDS : 0)
                            .visibilityTimeout((int) lease.toSeconds())))
        .messages()
        .stream()
        .map(message -> new Lease(message.receiptHandle(), end, mintedAt(message)))
        .toList();
  }

  @Override
  public List<Lease> settle(BucketId bucket, List<Lease> leases) {
    AwsRequestOverrideConfiguration tenant = credentials.as(bucket.tenant());
    return whileHeld(
        bucket,
        leases,
        "SQS DeleteMessageBatch of ",
        batch ->
            sqs.deleteMessageBatch(
                    request ->
                        request
                            .overrideConfiguration(tenant)
                            .queueUrl(urls.of(bucket))
                            .entries(
                                entries(
                                    batch,
                                    (id, lease) ->
                                        DeleteMessageBatchRequestEntry.builder()
                                            .id(id)
                                            .receiptHandle(lease.receipt())
                                            .build())))
                .failed());
  }

  @Override
  public List<Lease> giveBack(BucketId bucket, List<Lease> leases) {
    AwsRequestOverrideConfiguration tenant = credentials.as(bucket.tenant());
    return whileHeld(
        bucket,
        leases,
        "SQS ChangeMessageVisibilityBatch of ",
        batch ->
            sqs.changeMessageVisibilityBatch(
                    request ->
                        request
                            .overrideConfiguration(tenant)
                            .queueUrl(urls.of(bucket))
                            .entries(
                                entries(
                                    batch,
                                    (id, lease) ->
                                        ChangeMessageVisibilityBatchRequestEntry.builder()
                                            .id(id)
                                            .receiptHandle(lease.receipt())
                                            .visibilityTimeout(0)
                                            .build())))
                .failed());
  }

  @Override
  public List<Token> put(BucketId bucket, List<Token> tokens) {
    AwsRequestOverrideConfiguration tenant = credentials.as(bucket.tenant());
    List<Sent<Token>> answers =
        answers(
            bucket,
            tokens,
            "SQS SendMessageBatch to ",
            batch ->
                once.sendMessageBatch(
                        request ->
                            request
                                .overrideConfiguration(tenant)
                                .queueUrl(urls.of(bucket))
                                .entries(
                                    entries(
                                        batch,
                                        (id, token) ->
                                            SendMessageBatchRequestEntry.builder()
                                                .id(id)
                                                .messageBody(body(token))
                                                .delaySeconds(delaySeconds(token))
                                                .build())))
                    .failed());
    List<Sent<Token>> unknown = answers.stream().filter(Sent::isUnknown).toList();
    boolean missing = answers.stream().allMatch(Sent::isMissing);
    if (!answers.isEmpty() && (missing || unknown.size() == answers.size())) {
      throw answers.get(0).failure().orElseThrow();
    }
    return answers.stream()
        .filter(sent -> !unknown.contains(sent))
        .flatMap(sent -> sent.failed().stream())
        .toList();
  }

  @Override
  public Level countTokens(BucketId bucket) {
    AwsRequestOverrideConfiguration tenant = credentials.as(bucket.tenant());
    Map<QueueAttributeName, String> attributes =
        send(
            bucket,
            "SQS GetQueueAttributes of ",
            () ->
                sqs.getQueueAttributes(
                        request ->
                            request
                                .overrideConfiguration(tenant)
                                .queueUrl(urls.of(bucket))
                                .attributeNames(
                                    QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                                    QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE,
                                    QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED))
                    .attributes());
    return new Level(
        number(attributes, QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES),
        number(attributes, QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED),
        number(attributes, QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE));
  }

  /** Rounded up, so that a token never appears before it is due. */
  private int delaySeconds(Token token) {
    long millis = Duration.between(clock.instant(), token.dueAt()).toMillis();
    return (int) Math.min(MAX_DELAY_SECONDS, Math.max(0, (millis + 999) / 1_000));
  }

  private static long number(Map<QueueAttributeName, String> attributes, QueueAttributeName name) {
    return Long.parseLong(attributes.getOrDefault(name, "0"));
  }

  /** Sends a request to a bucket's queue, which may be missing. */
  private static <T> T send(BucketId bucket, String what, Supplier<T> request) {
    return askUnless(what + bucket, QueueDoesNotExistException.class, request)
        .orElseThrow(() -> new MissingQueue(bucket));
  }

  private List<Lease> whileHeld(
      BucketId bucket,
      List<Lease> leases,
      String what,
      Function<List<Lease>, List<BatchResultErrorEntry>> request) {
    Instant now = clock.instant();
    List<Lease> failed = new ArrayList<>();
    List<Lease> held = new ArrayList<>();
    leases.forEach(lease -> (lease.holdsAt(now) ? held : failed).add(lease));
    failed.addAll(inBatches(bucket, held, what, request));
    return failed;
  }

  /**
   * Sends all {@code items} in batches, in parallel if there are several. Returns the items that
   * failed, alone or with their whole batch.
   *
   * @throws Unavailable if every batch failed as a whole, or if no item succeeded and a batch that
   *     failed may have been executed
   */
  private <T> List<T> inBatches(
      BucketId bucket,
      List<T> items,
      String what,
      Function<List<T>, List<BatchResultErrorEntry>> request) {
    List<Sent<T>> answers = answers(bucket, items, what, request);
    List<T> failed = answers.stream().flatMap(sent -> sent.failed().stream()).toList();
    if (failed.size() == items.size()) {
      answers.stream()
          .filter(Sent::isUnknown)
          .findFirst()
          .flatMap(Sent::failure)
          .ifPresent(
              failure -> {
                throw failure;
              });
    }
    if (!answers.isEmpty() && answers.stream().allMatch(sent -> sent.failure().isPresent())) {
      throw answers.get(0).failure().orElseThrow();
    }
    return failed;
  }

  private <T> List<Sent<T>> answers(
      BucketId bucket,
      List<T> items,
      String what,
      Function<List<T>, List<BatchResultErrorEntry>> request) {
    List<List<T>> batches =
        IntStream.iterate(0, start -> start < items.size(), start -> start + BATCH)
            .mapToObj(start -> items.subList(start, Math.min(items.size(), start + BATCH)))
            .toList();
    if (batches.size() == 1) {
      return List.of(sendBatch(bucket, batches.get(0), what, request));
    }
    return Threads.map(batches, batch -> sendBatch(bucket, batch, what, request), executor);
  }

  private static <T> Sent<T> sendBatch(
      BucketId bucket,
      List<T> batch,
      String what,
      Function<List<T>, List<BatchResultErrorEntry>> request) {
    try {
      return new Sent<>(
          send(bucket, what, () -> request.apply(batch)).stream()
              .map(failed -> batch.get(Integer.parseInt(failed.id())))
              .toList(),
          Optional.empty());
    } catch (Unavailable failure) {
      return new Sent<>(batch, Optional.of(failure));
    }
  }

  /** The entries of a batch. The index of an entry is its id. */
  private static <T, E> List<E> entries(List<T> batch, BiFunction<String, T, E> entry) {
    return IntStream.range(0, batch.size())
        .mapToObj(i -> entry.apply(Integer.toString(i), batch.get(i)))
        .toList();
  }

  private static String body(Token token) {
    return """
        {"id":"%s","tenant":"%s","action":"%s","mintedAt":"%s"}"""
        .formatted(token.id(), token.bucket().tenant(), token.bucket().action(), token.mintedAt());
  }

  private static Instant mintedAt(Message message) {
    try {
      return Optional.ofNullable(message.body())
          .map(MINTED_AT::matcher)
          .filter(Matcher::find)
          .map(found -> Instant.parse(found.group(1)))
          .orElse(Instant.EPOCH);
    } catch (DateTimeParseException malformed) {
      return Instant.EPOCH;
    }
  }

  /** The result of a batch: the failed items, and the error if the whole batch failed. */
  private record Sent<T>(List<T> failed, Optional<Unavailable> failure) {
    /** Whether SQS rejected the whole batch, so that none of it was executed. */
    boolean isRefused() {
      return isMissing()
          || failure
              .map(Throwable::getCause)
              .filter(cause -> cause instanceof SqsException answer && answer.statusCode() < 500)
              .isPresent();
    }

    /** Whether the batch may have been executed although it failed. */
    boolean isUnknown() {
      return failure.isPresent() && !isRefused();
    }

    /** Whether SQS did not know the queue. */
    boolean isMissing() {
      return failure.filter(MissingQueue.class::isInstance).isPresent();
    }
  }
}
