package dev.tollgate.aws.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.TokenQueueContract;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.SqsException;

@ExtendWith(Engines.class)
class SqsTokenQueueTest extends TokenQueueContract {
  private final Engines.Queues engine;
  private final SqsClient sqs;
  private final ExecutorService executor = Executors.newFixedThreadPool(8);
  private final SqsTokenQueue queue;

  SqsTokenQueueTest(Engines.Queues engine) {
    this.engine = engine;
    this.sqs = engine.client();
    this.queue = new SqsTokenQueue(sqs, sqs, engine.urls(), Engines.ANYBODY, executor, engine);
  }

  @BeforeEach
  void resetClock() {
    engine.reset();
  }

  @AfterEach
  void stop() {
    executor.shutdownNow();
    sqs.close();
  }

  @Override
  protected TokenQueue queue() {
    return queue;
  }

  @Override
  protected InstantSource clock() {
    return engine;
  }

  @Override
  protected void advance(Duration by) {
    engine.advance(by);
  }

  @Override
  protected BucketId bucket() {
    BucketId bucket = Samples.bucketId();
    new SqsBucketQueues(sqs, engine.urls(), Engines.ANYBODY, () -> "test")
        .ensure(bucket, Duration.ofDays(14));
    return bucket;
  }

  @Override
  protected BucketId bucketWithoutQueue() {
    return Samples.bucketId();
  }

  @Test
  void put_of_more_tokens_than_a_batch_puts_every_token() {
    BucketId bucket = bucket();
    Instant now = clock().instant();
    List<Token> tokens =
        IntStream.range(0, 2_003)
            .mapToObj(i -> new Token("t" + i, bucket, now, now.plusSeconds(i * 60L / 2_003)))
            .toList();

    assertThat(queue.put(bucket, tokens)).isEmpty();

    assertThat(queue.level(bucket)).isEqualTo(2_003);
  }

  @Test
  void a_message_contains_its_token() {
    BucketId bucket = bucket();
    queue.put(bucket, List.of(new Token("t1", bucket, Samples.NOW, Samples.NOW)));

    assertThat(sqs.receiveMessage(request -> request.queueUrl(engine.urls().of(bucket))).messages())
        .singleElement()
        .satisfies(
            message ->
                assertThat(message.body())
                    .isEqualTo(
                        """
                        {"id":"t1","tenant":"%s","action":"connect","mintedAt":"%s"}"""
                            .formatted(bucket.tenant(), Samples.NOW)));
  }

  @Test
  void nothing_is_known_to_be_unspent_if_the_answer_to_one_batch_is_lost() {
    for (Throwable other :
        List.of(
            QueueDoesNotExistException.builder().build(),
            SqsException.builder().statusCode(403).build())) {
      assertThatThrownBy(() -> settleTwoBatches(batch -> lost(), batch -> failure(other)))
          .isInstanceOf(Unavailable.class)
          .isNotInstanceOf(MissingQueue.class)
          .hasRootCauseMessage("lost");
      assertThatThrownBy(() -> settleTwoBatches(batch -> failure(other), batch -> lost()))
          .hasRootCauseMessage("lost");
    }
    assertThatThrownBy(() -> settleTwoBatches(batch -> lost(), SqsTokenQueueTest::refused))
        .hasRootCauseMessage("lost");
    assertThat(settleTwoBatches(SqsTokenQueueTest::refused, SqsTokenQueueTest::refused))
        .hasSize(20);
  }

  private static DeleteMessageBatchResponse lost() {
    throw SdkClientException.create("lost");
  }

  private static DeleteMessageBatchResponse failure(Throwable failure) {
    throw (RuntimeException) failure;
  }

  /** SQS answers, and executed no entry. */
  private static DeleteMessageBatchResponse refused(DeleteMessageBatchRequest batch) {
    return DeleteMessageBatchResponse.builder()
        .failed(
            batch.entries().stream()
                .map(entry -> BatchResultErrorEntry.builder().id(entry.id()).build())
                .toList())
        .build();
  }

  private List<Lease> settleTwoBatches(
      Function<DeleteMessageBatchRequest, DeleteMessageBatchResponse> first,
      Function<DeleteMessageBatchRequest, DeleteMessageBatchResponse> second) {
    SqsClient failing =
        new SqsClient() {
          @Override
          public DeleteMessageBatchResponse deleteMessageBatch(DeleteMessageBatchRequest batch) {
            boolean isFirst = batch.entries().get(0).receiptHandle().equals("0");
            return (isFirst ? first : second).apply(batch);
          }

          @Override
          public String serviceName() {
            return SERVICE_NAME;
          }

          @Override
          public void close() {}
        };
    Instant end = clock().instant().plusSeconds(30);
    return new SqsTokenQueue(
            failing, failing, engine.urls(), Engines.ANYBODY, Runnable::run, clock())
        .settle(
            Samples.bucketId(),
            IntStream.range(0, 20).mapToObj(i -> new Lease(Integer.toString(i), end)).toList());
  }
}
