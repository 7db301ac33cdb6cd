package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchResponse;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/** Tokens that a client takes ahead of its claims, and returns. */
class PrefetchTest {
  /** As many as the client has threads for requests. */
  private static final int BUCKETS = 16;

  private static final int LEASED = 19;
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  /** A full bucket, which the token producer fills. */
  private static final String ROW =
      """
      {"Item":{"schema":{"N":"1"},"tenantId":{"S":"acme"},"key":{"S":"bucket:send-email"},
      "rate":{"N":"6000"},"capacity":{"N":"6000"},"fillMode":{"S":"PRODUCER"},
      "hibernateAfterMinutes":{"N":"0"},"mintedThrough":{"N":"%1$s"},"carried":{"N":"0"},
      "aheadFrom":{"N":"%1$s"},"level":{"N":"6000"},"upkeep":{"S":"PRODUCED"},
      "upkeepSince":{"N":"%1$s"},"version":{"N":"2"}}}"""
          .formatted(NOW.getEpochSecond() + "000000000");

  private final Queues queues = new Queues();
  private final MeetingClock clock = new MeetingClock();

  @Test
  void tokens_return_although_as_many_buckets_as_threads_return_them_at_once() throws Exception {
    try (ScriptedAws aws = new ScriptedAws()) {
      aws.on("GetItem", () -> ROW);
      try (TollgateClient tollgate =
          TollgateClient.builder()
              .environment(aws.environment())
              .sqs(queues)
              .clock(clock)
              .prefetch(10)
              .build()) {
        List<TokenBucket> buckets =
            IntStream.range(0, BUCKETS).mapToObj(i -> tollgate.bucket("acme", "a" + i)).toList();
        buckets.forEach(PrefetchTest::claim);
        clock.meet = true;
        buckets.forEach(PrefetchTest::claim);

        assertThat(queues.returned.await(20, TimeUnit.SECONDS)).isTrue();
      }
    }
  }

  private static void claim(TokenBucket bucket) {
    assertThat(bucket.tryClaim()).isEqualTo(new Claim.Granted(1));
  }

  /**
   * Queues with any number of tokens. A receive of several tokens returns two batches, as two
   * receives at the same time do.
   */
  private static final class Queues implements SqsClient {
    private final CountDownLatch returned = new CountDownLatch(BUCKETS * LEASED);

    @Override
    public ReceiveMessageResponse receiveMessage(ReceiveMessageRequest request) {
      Message token = Message.builder().receiptHandle("receipt").build();
      int count = request.maxNumberOfMessages() == 1 ? 1 : LEASED + 1;
      return ReceiveMessageResponse.builder()
          .messages(IntStream.range(0, count).mapToObj(i -> token).toList())
          .build();
    }

    @Override
    public DeleteMessageBatchResponse deleteMessageBatch(DeleteMessageBatchRequest request) {
      return DeleteMessageBatchResponse.builder().build();
    }

    @Override
    public ChangeMessageVisibilityBatchResponse changeMessageVisibilityBatch(
        ChangeMessageVisibilityBatchRequest request) {
      request.entries().forEach(token -> returned.countDown());
      return ChangeMessageVisibilityBatchResponse.builder().build();
    }

    @Override
    public String serviceName() {
      return SERVICE_NAME;
    }

    @Override
    public void close() {}
  }

  /**
   * A clock that shows other threads than the test's a later time, when the tokens must return, and
   * only once all buckets return theirs.
   */
  private static final class MeetingClock implements InstantSource {
    private final Thread test = Thread.currentThread();
    private final CountDownLatch meeting = new CountDownLatch(BUCKETS);
    private volatile boolean meet;

    @Override
    public Instant instant() {
      if (!meet || Thread.currentThread() == test) {
        return NOW;
      }
      meeting.countDown();
      try {
        meeting.await();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
      return NOW.plusSeconds(2);
    }
  }
}
