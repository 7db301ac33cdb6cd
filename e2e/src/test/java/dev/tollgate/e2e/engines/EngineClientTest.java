package dev.tollgate.e2e.engines;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.client.Claim;
import dev.tollgate.client.ClaimListener;
import dev.tollgate.client.TokenBucket;
import dev.tollgate.client.TollgateClient;
import dev.tollgate.client.TollgateClientContract;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.testing.limiter.TollgateLimiter;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.testing.ManualClock;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** The contract of the client, on the engines of the local cloud. */
class EngineClientTest extends TollgateClientContract {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private static final ManualClock CLOCK = new ManualClock(Instant.parse("2026-03-01T12:00:00.5Z"));
  private static final BucketCloud CLOUD = BucketCloud.start(FaultPlan.none(), CLOCK);

  private final TollgateLimiter.Ports ports = CLOUD.ports();
  private final BucketFill fill = new BucketFill(ports.buckets(), ports.queue(), CLOCK);
  private final List<BucketId> opened = new ArrayList<>();

  @AfterAll
  static void stop() {
    CLOUD.close();
  }

  @Override
  protected TollgateClient open(ClaimListener listener) {
    return TollgateClient.builder()
        .environment(CLOUD.environment())
        .clock(CLOCK)
        .listener(listener)
        .build();
  }

  @Override
  protected void put(String tenantId, String action, double ratePerMinute, long capacity) {
    TenantId tenant = new TenantId(tenantId);
    open(new BucketId(tenant, Action.CONNECT), BucketSpec.ofRate(Rate.perMinute(1)));
    open(
        new BucketId(tenant, new Action(action)),
        new BucketSpec(Rate.perMinute(BigDecimal.valueOf(ratePerMinute)), capacity));
  }

  @Override
  protected void putDaily(String tenantId, String action, long capacity) {
    open(
        new BucketId(new TenantId(tenantId), new Action(action)),
        new BucketSpec(Calendar.of("DAY", Optional.empty(), "00:00", "UTC", false), capacity));
  }

  private void open(BucketId id, BucketSpec spec) {
    ports.queues().ensure(id, Duration.ofDays(14));
    ports.buckets().open(Bucket.opened(id, spec, CLOCK.instant()));
    fill.fill(id);
    opened.add(id);
  }

  @Override
  protected Instant now() {
    return CLOCK.instant();
  }

  @Override
  protected void advance(Duration by) {
    Instant end = now().plus(by);
    while (now().isBefore(end)) {
      Instant next = now().plus(MINUTE);
      CLOCK.set(next.isBefore(end) ? next : end);
      opened.forEach(fill::fill);
    }
  }

  /** The operations of a call, in alphabetical order. */
  private static List<String> operationsOf(Runnable call) {
    CLOUD.requests().clear();
    call.run();
    return CLOUD.requests().list().stream()
        .map(RecordedRequests.Request::operation)
        .sorted()
        .toList();
  }

  @Test
  void claims_cost_two_requests_and_refusals_none() {
    put("counted", "send-email", 60, 100);
    try (TollgateClient tollgate = open(new ClaimListener() {})) {
      TokenBucket bucket = tollgate.bucket("counted", "send-email");
      bucket.tryClaim();
      assertThat(operationsOf(bucket::tryClaim))
          .containsExactly("DeleteMessageBatch", "ReceiveMessage");
      assertThat(operationsOf(() -> bucket.tryClaim(5)))
          .containsExactly("DeleteMessageBatch", "ReceiveMessage");
      advance(Duration.ofSeconds(1));
      assertThat(operationsOf(bucket::tryClaim))
          .containsExactly("DeleteMessageBatch", "GetItem", "ReceiveMessage");

      while (bucket.tryClaim() instanceof Claim.Granted) {
        // Until the bucket is empty.
      }
      assertThat(operationsOf(() -> assertThat(bucket.tryClaim()).isInstanceOf(Claim.Denied.class)))
          .isEmpty();
    }
  }

  @Test
  void ten_prefetched_claims_cost_two_requests() {
    put("prefetched", "send-email", 60_000, 2_000);
    try (TollgateClient tollgate =
        TollgateClient.builder()
            .environment(CLOUD.environment())
            .clock(CLOCK)
            .prefetch(10)
            .build()) {
      TokenBucket bucket = tollgate.bucket("prefetched", "send-email");
      for (int i = 0; i < 100; i++) {
        assertThat(bucket.tryClaim()).isEqualTo(new Claim.Granted(1));
      }
      List<String> operations =
          operationsOf(
              () -> {
                for (int i = 0; i < 100; i++) {
                  assertThat(bucket.tryClaim()).isEqualTo(new Claim.Granted(1));
                }
              });
      assertThat(operations).hasSize(20).containsOnly("DeleteMessageBatch", "ReceiveMessage");
    }
  }
}
