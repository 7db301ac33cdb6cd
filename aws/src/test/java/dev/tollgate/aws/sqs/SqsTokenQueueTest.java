package dev.tollgate.aws.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.bucket.BucketId;
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
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.sqs.SqsClient;

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
}
