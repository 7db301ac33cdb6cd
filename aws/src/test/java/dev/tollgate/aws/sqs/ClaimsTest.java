package dev.tollgate.aws.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Engines;
import dev.tollgate.aws.dynamodb.limit.DynamoDbBuckets;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Threads;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.claim.SpendResult;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.sqs.SqsClient;

/** Claims by a program, on the engines. */
@ExtendWith(Engines.class)
class ClaimsTest {
  private final Engines.Queues engine;
  private final SqsClient sqs;
  private final Buckets buckets;
  private final TokenQueue queue;
  private final Claims claims;
  private final BucketId bucket = Samples.bucketId();

  ClaimsTest(Engines.Tables tables, Engines.Queues engine) {
    this.engine = engine;
    this.sqs = engine.client();
    this.buckets = new DynamoDbBuckets(tables.client(), tables.limit(), Engines.ANYBODY);
    this.queue = new SqsTokenQueue(sqs, sqs, engine.urls(), Engines.ANYBODY, Runnable::run, engine);
    this.claims =
        new Claims(
            buckets, queue, new NoFills(), Threads.unbounded("claims"), Pause.real(), engine);
  }

  @BeforeEach
  void open() {
    engine.reset();
    new SqsBucketQueues(sqs, engine.urls(), Engines.ANYBODY, () -> "test")
        .ensure(bucket, Duration.ofDays(14));
    buckets.open(Bucket.opened(bucket, BucketSpec.ofRate(Rate.perMinute(30)), engine.instant()));
    new BucketFill(buckets, queue, engine).fill(bucket);
  }

  private boolean granted(int n) {
    return claims.spend(buckets.find(bucket).orElseThrow(), n, new Attempt())
        instanceof ClaimResult.Granted;
  }

  @Test
  void a_weighted_claim_takes_all_its_tokens_or_none() {
    assertThat(granted(25)).isTrue();
    assertThat(queue.level(bucket)).isEqualTo(5);
    assertThat(granted(6)).isFalse();
    assertThat(queue.level(bucket)).isEqualTo(5);
    assertThat(granted(5)).isTrue();
    assertThat(queue.level(bucket)).isZero();
  }

  @Test
  void concurrent_claims_of_three_tokens_get_all_or_none_and_lose_no_token() {
    long atOnce = Race.of(20, i -> granted(3)).stream().filter(done -> done).count();
    assertThat(atOnce).isLessThanOrEqualTo(10);
    assertThat(queue.level(bucket)).isEqualTo(30 - 3 * atOnce);
    long afterwards = 0;
    while (granted(3)) {
      afterwards++;
    }
    assertThat(atOnce + afterwards).isEqualTo(10);
  }

  private SpendResult upTo(int n) {
    return claims.spendUpTo(bucket, buckets.find(bucket), n);
  }

  @Test
  void a_claim_of_up_to_n_spends_the_available_tokens_and_caches_that_the_bucket_is_empty() {
    assertThat(upTo(10)).isEqualTo(new SpendResult(10, Optional.empty()));
    assertThat(queue.level(bucket)).isEqualTo(20);

    SpendResult rest = upTo(25);

    assertThat(rest.tokens()).isEqualTo(20);
    assertThat(rest.shortfall().orElseThrow()).isInstanceOf(ClaimResult.Denied.class);
    assertThat(buckets.find(bucket).orElseThrow().at(engine.instant()).isKnownEmpty()).isTrue();
    claims.held().putBack(bucket, 3);
    assertThat(queue.level(bucket)).isEqualTo(3);
  }

  @Test
  void concurrent_claims_of_up_to_ten_tokens_get_different_tokens() {
    assertThat(Race.of(8, i -> upTo(10)).stream().mapToInt(SpendResult::tokens).sum())
        .isLessThanOrEqualTo(30);
    assertThat(queue.level(bucket)).isZero();
  }

  /** Ignores requests for fills. The engine's clock does not move, so no fill is due. */
  private static final class NoFills implements FillRequests {
    @Override
    public void send(BucketId id) {}

    @Override
    public void sendAndWait(BucketId id) {}
  }
}
