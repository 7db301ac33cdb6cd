package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Attacks: each test states what the API promises, and fails. */
final class AttackClientTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  /** Drains eight buckets at 10 a minute, lets ten minutes pass: each is owed 100 of 1,000. */
  @Test
  void every_bucket_in_memory_fills_at_its_rate() {
    InMemoryTollgate tollgate = new InMemoryTollgate(START, new ClaimListener() {});
    for (int i = 0; i < 8; i++) {
      tollgate.put("t" + i, "send-email", 10, 1_000);
      assertThat(tollgate.bucket("t" + i, "send-email").tryClaim(1_000))
          .isInstanceOf(Claim.Granted.class);
    }
    tollgate.advance(Duration.ofMinutes(10));
    Map<String, Integer> got = new HashMap<>();
    for (int i = 0; i < 8; i++) {
      got.put("t" + i, tollgate.bucket("t" + i, "send-email").claimUpTo(1_000).tokens());
    }
    assertThat(got.values()).as("%s", got).allMatch(tokens -> tokens >= 99);
  }

  /** A reservation whose stage was cancelled, or timed out, is held by nobody for its lease. */
  @Test
  void reservation_of_a_stage_that_was_cancelled_is_returned() throws Exception {
    CountDownLatch reserved = new CountDownLatch(1);
    CountDownLatch cancelled = new CountDownLatch(1);
    InMemoryTollgate tollgate =
        new InMemoryTollgate(
            START,
            new ClaimListener() {
              @Override
              public void reserved(Call call) {
                reserved.countDown();
                try {
                  cancelled.await(5, TimeUnit.SECONDS);
                } catch (InterruptedException interrupted) {
                  Thread.currentThread().interrupt();
                }
              }
            });
    TokenBucket bucket = tollgate.put("acme", "send-email", 1, 20).bucket("acme", "send-email");
    CompletableFuture<ReserveResult> stage =
        bucket.reserveAsync(20, Duration.ofHours(12)).toCompletableFuture();
    reserved.await(5, TimeUnit.SECONDS);
    stage.cancel(true); // orTimeout does the same
    cancelled.countDown();
    Thread.sleep(500);
    tollgate.advance(Duration.ofSeconds(11));
    assertThat(bucket.tryClaim(20)).isEqualTo(new Claim.Granted(20));
  }

  /** A listener whose assertion fails loses the reservation. */
  @Test
  void listener_that_throws_an_error_changes_nothing() {
    InMemoryTollgate tollgate =
        new InMemoryTollgate(
            START,
            new ClaimListener() {
              @Override
              public void reserved(Call call) {
                throw new AssertionError("planted");
              }
            });
    TokenBucket bucket = tollgate.put("acme", "send-email", 1, 20).bucket("acme", "send-email");
    assertThat(bucket.reserve(20)).isInstanceOf(Reservation.class);
  }

  @Test
  void a_bucket_in_memory_that_is_not_available_settles_nothing() {
    InMemoryTollgate tollgate = new InMemoryTollgate(START, new ClaimListener() {});
    TokenBucket bucket = tollgate.put("acme", "send-email", 1, 20).bucket("acme", "send-email");
    Reservation reservation = (Reservation) bucket.reserve(20);
    tollgate.setAvailable(false);
    assertThat(reservation.spend()).isInstanceOf(Settlement.Unknown.class);
  }

  @Test
  void advance_by_more_than_the_clock_can_show_is_refused() {
    InMemoryTollgate tollgate = new InMemoryTollgate(START, new ClaimListener() {});
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tollgate.advance(Duration.ofSeconds(Long.MAX_VALUE)));
  }

  /** A token in two years is what README says; how long does a test wait for it? */
  @Test
  void a_token_in_two_years_comes_within_a_second_of_the_test() {
    InMemoryTollgate tollgate = new InMemoryTollgate(START, new ClaimListener() {});
    TokenBucket bucket = tollgate.put("acme", "rare", 0.000001, 5).bucket("acme", "rare");
    bucket.tryClaim(5);
    Claim.Denied denied = (Claim.Denied) bucket.tryClaim();
    long begun = System.nanoTime();
    tollgate.advance(Duration.between(tollgate.now(), denied.retryAt()));
    assertThat(bucket.tryClaim()).isInstanceOf(Claim.Granted.class);
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(2));
  }
}
