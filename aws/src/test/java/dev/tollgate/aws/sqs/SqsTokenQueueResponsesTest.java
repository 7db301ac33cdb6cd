package dev.tollgate.aws.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.SpendResult;
import dev.tollgate.core.testing.Samples;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How the token queue handles responses that the engine cannot be made to give. */
class SqsTokenQueueResponsesTest extends ScriptedAdapters {
  private List<Lease> leases(int count) {
    Instant end = clock.instant().plus(LEASE);
    return IntStream.range(0, count).mapToObj(i -> new Lease("r" + i, end)).toList();
  }

  private static String failed(String... ids) {
    return List.of(ids).stream()
        .map(id -> "{\"Id\":\"%s\",\"Code\":\"InternalError\",\"SenderFault\":false}".formatted(id))
        .toList()
        .toString();
  }

  @Test
  void a_long_search_waits_for_a_second_and_a_short_search_does_not() {
    services.on("ReceiveMessage", request -> Answer.ok("{}"));
    aws.tokenQueue().reserve(bucket, 1, LEASE, Search.LONG);
    aws.tokenQueue().reserve(bucket, 1, LEASE, Search.SHORT);

    assertThat(services.requests("ReceiveMessage"))
        .satisfiesExactly(
            request -> assertThat(request.body()).containsPattern("\"WaitTimeSeconds\":1\\b"),
            request -> assertThat(request.body()).containsPattern("\"WaitTimeSeconds\":0\\b"));
  }

  @Test
  void a_receive_without_response_times_out() throws InterruptedException {
    CountDownLatch end = new CountDownLatch(1);
    services.on(
        "ReceiveMessage",
        request -> {
          await(end);
          return Answer.ok("{}");
        });

    assertThatThrownBy(() -> aws.tokenQueue().reserve(bucket, 1, LEASE, Search.LONG))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("ReceiveMessage");
    end.countDown();

    assertThat(services.requests("ReceiveMessage")).hasSize(1);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void put_returns_the_tokens_that_failed() {
    services.on(
        "SendMessageBatch", request -> Answer.ok("{\"Failed\":%s}".formatted(failed("1", "9"))));
    List<Token> tokens = tokens(10);

    assertThat(aws.tokenQueue().put(bucket, tokens)).containsExactly(tokens.get(1), tokens.get(9));
  }

  @Test
  void put_returns_all_tokens_of_a_refused_batch() {
    services.on(
        "SendMessageBatch",
        request ->
            request.body().contains("\\\"t15\\\"")
                ? Answer.failure(403, "RequestThrottled")
                : Answer.ok("{}"));
    List<Token> tokens = tokens(25);

    assertThat(aws.tokenQueue().put(bucket, tokens)).isEqualTo(tokens.subList(10, 20));
  }

  @Test
  void put_returns_all_tokens_if_every_batch_is_refused() {
    services.on("SendMessageBatch", request -> Answer.failure(403, "RequestThrottled"));
    List<Token> tokens = tokens(25);

    assertThat(aws.tokenQueue().put(bucket, tokens)).isEqualTo(tokens);
  }

  @Test
  void put_to_a_queue_that_some_servers_do_not_know_returns_their_tokens() {
    List<Token> tokens = tokens(25);
    services.on(
        "SendMessageBatch",
        request -> request.body().contains("\\\"t15\\\"") ? noQueue() : Answer.ok("{}"));

    assertThat(aws.tokenQueue().put(bucket, tokens)).isEqualTo(tokens.subList(10, 20));

    services.on("SendMessageBatch", request -> noQueue());
    assertThatThrownBy(() -> aws.tokenQueue().put(bucket, tokens)).isInstanceOf(MissingQueue.class);
  }

  @Test
  void put_does_not_return_tokens_that_it_may_have_put() {
    services.on(
        "SendMessageBatch",
        request ->
            request.body().contains("\\\"t15\\\"")
                ? Answer.failure(500, "InternalFailure")
                : Answer.ok("{}"));

    assertThat(aws.tokenQueue().put(bucket, tokens(25))).isEmpty();
  }

  @Test
  void put_without_any_known_result_is_unavailable() {
    services.on("SendMessageBatch", request -> Answer.failure(500, "InternalFailure"));

    assertThatThrownBy(() -> aws.tokenQueue().put(bucket, tokens(25)))
        .isInstanceOf(Unavailable.class);
  }

  @Test
  void settle_and_give_back_return_the_failed_leases() {
    services.on(
        "DeleteMessageBatch", request -> Answer.ok("{\"Failed\":%s}".formatted(failed("2"))));
    services.on(
        "ChangeMessageVisibilityBatch",
        request -> Answer.ok("{\"Failed\":%s}".formatted(failed("0"))));
    List<Lease> leases = leases(3);

    assertThat(aws.tokenQueue().settle(bucket, leases)).containsExactly(leases.get(2));
    assertThat(aws.tokenQueue().giveBack(bucket, leases)).containsExactly(leases.get(0));
  }

  @Test
  void a_claim_of_up_to_n_counts_the_tokens_that_were_certainly_spent() {
    services.on(
        "ReceiveMessage",
        request ->
            Answer.ok(
                """
                {"Messages":[%s,%s,%s]}"""
                    .formatted(received("a"), received("b"), received("c"))));
    services.on(
        "DeleteMessageBatch", request -> Answer.ok("{\"Failed\":%s}".formatted(failed("1"))));

    SpendResult spent =
        new Claims(
                aws.buckets(),
                aws.tokenQueue(),
                aws.fillRequests(),
                Runnable::run,
                pause -> {},
                clock)
            .spendUpTo(bucket, Optional.of(Samples.bucket(bucket)), 3);

    assertThat(spent.tokens()).isEqualTo(2);
    assertThat(spent.shortfall()).containsInstanceOf(ClaimResult.Denied.class);
    assertThat(services.operations())
        .containsExactly("AssumeRole", "ReceiveMessage", "DeleteMessageBatch");
  }

  private static String received(String receipt) {
    return """
        {"MessageId":"m","ReceiptHandle":"%s","Body":"a",
         "MD5OfBody":"0cc175b9c0f1b6a831c399e269772661"}"""
        .formatted(receipt);
  }

  @Test
  void an_expired_lease_is_not_requested() {
    List<Lease> ended = leases(2);
    clock.advance(LEASE);

    assertThat(aws.tokenQueue().settle(bucket, ended)).isEqualTo(ended);
    assertThat(aws.tokenQueue().giveBack(bucket, ended)).isEqualTo(ended);

    assertThat(services.operations()).containsOnly("AssumeRole");
  }
}
