package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the contract against {@link InMemoryTollgate}, and tests its own methods. */
class InMemoryTollgateTest extends TollgateClientContract {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00.5Z");
  private static final int SEEDS = 100;

  private InMemoryTollgate tollgate = new InMemoryTollgate();

  @Override
  protected TollgateClient open(ClaimListener listener) {
    tollgate = new InMemoryTollgate(START, listener);
    return tollgate;
  }

  @Override
  protected void put(String tenantId, String action, double ratePerMinute, long capacity) {
    tollgate.put(tenantId, action, ratePerMinute, capacity);
  }

  @Override
  protected void putDaily(String tenantId, String action, long capacity) {
    tollgate.putDaily(tenantId, action, capacity, "00:00", "UTC");
  }

  @Override
  protected Instant now() {
    return tollgate.now();
  }

  @Override
  protected void advance(Duration by) {
    tollgate.advance(by);
  }

  @Test
  void tokens_of_a_day_are_void_in_the_next_one() {
    tollgate.put("globex", "connect", 60, 60).putDaily("globex", "export", 5, "00:00", "UTC");
    TokenBucket bucket = tollgate.bucket("globex", "export");
    assertThat(bucket.claimUpTo(2).tokens()).isEqualTo(2);

    advance(Duration.ofHours(12));

    assertThat(bucket.claimUpTo(9).tokens()).isEqualTo(5);
  }

  @Test
  void spent_tokens_are_replaced_if_those_of_another_bucket_cannot_be_spent() {
    ClaimListener outage =
        new ClaimListener() {
          @Override
          public void settled(Call call, Settlement settlement) {
            tollgate.setAvailable(false);
          }
        };
    try (TollgateClient failing = open(outage)) {
      tollgate.put("globex", "connect", 60, 60).putDaily("globex", "day", 5, "00:00", "UTC");
      tollgate.put("globex", "minute", 10, 10);

      assertThat(failing.tryClaimEach("globex", List.of("day", "minute"), 1))
          .isInstanceOf(Claim.Undecided.class);

      tollgate.setAvailable(true);
      advance(Duration.ofSeconds(31));
      assertThat(failing.bucket("globex", "day").claimUpTo(9).tokens()).isEqualTo(5);
      assertThat(failing.bucket("globex", "minute").claimUpTo(10).tokens()).isEqualTo(10);
    }
  }

  @Test
  void bucket_fills_at_its_rate_up_to_its_capacity() {
    TokenBucket bucket = tollgate.put("globex", "export", 0.2, 5).bucket("globex", "export");
    assertThat(bucket.claimUpTo(9).tokens()).isEqualTo(5);

    for (int minute = 1; minute <= 20; minute++) {
      advance(Duration.ofMinutes(1));
      assertThat(bucket.claimUpTo(9).tokens())
          .as("minute %d", minute)
          .isEqualTo(minute % 5 == 0 ? 1 : 0);
    }
    advance(Duration.ofDays(30));
    assertThat(bucket.claimUpTo(9).tokens()).isEqualTo(5);
  }

  @Test
  void every_bucket_fills_at_its_own_rate() {
    for (int i = 0; i < 8; i++) {
      tollgate.put("t" + i, "export", 10, 1_000).bucket("t" + i, "export").tryClaim(1_000);
    }
    advance(Duration.ofMinutes(10));
    for (int i = 0; i < 8; i++) {
      assertThat(tollgate.bucket("t" + i, "export").claimUpTo(1_000).tokens())
          .as("bucket %d", i)
          .isEqualTo(100);
    }
  }

  /**
   * Compares two clients under the same random claims: one clock jumps, the other moves minute by
   * minute.
   */
  @Test
  void clock_steps_do_not_affect_fills() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      Random random = new Random(seed);
      double rate = (1 + random.nextInt(3_000)) / 100.0;
      int capacity = 1 + random.nextInt(100);
      InMemoryTollgate slow = new InMemoryTollgate(START, new ClaimListener() {});
      tollgate.put("globex", "export", rate, capacity);
      slow.put("globex", "export", rate, capacity);
      for (int round = 0; round < 10; round++) {
        int seconds = random.nextInt(600);
        advance(Duration.ofSeconds(seconds));
        for (int left = seconds; left > 0; left -= 60) {
          slow.advance(Duration.ofSeconds(Math.min(60, left)));
          fill(slow);
        }
        int tokens = 1 + random.nextInt(capacity);
        boolean reserves = random.nextInt(4) == 0;
        assertThat(take(tollgate, tokens, reserves))
            .as("seed %d, round %d: %s a minute, capacity %d", seed, round, rate, capacity)
            .isEqualTo(take(slow, tokens, reserves));
      }
    }
  }

  /** Triggers a fill by a claim that is too large. */
  private static void fill(InMemoryTollgate bucketsOf) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> bucketsOf.bucket("globex", "export").tryClaim(10_000));
  }

  private static Object take(InMemoryTollgate from, int tokens, boolean reserves) {
    TokenBucket bucket = from.bucket("globex", "export");
    return reserves
        ? bucket.reserve(tokens, Duration.ofMinutes(2)) instanceof Reservation
        : bucket.claimUpTo(tokens).tokens();
  }

  @Test
  void bucket_fills_over_centuries() {
    TokenBucket bucket = tollgate.put("globex", "rare", 0.000001, 1_000).bucket("globex", "rare");
    bucket.tryClaim(1_000);

    assertTimeoutPreemptively(Duration.ofSeconds(30), () -> advance(Duration.ofDays(693_750)));

    assertThat(bucket.claimUpTo(1_000).tokens()).isEqualTo(999);
  }

  @Test
  void nobody_can_make_a_line_longer_than_a_thousand_places_and_a_minute() {
    TokenBucket bucket = tollgate.put("acme", "send-email", 60, 30).bucket("acme", "send-email");
    bucket.tryClaim(30);
    for (int i = 0; i < 2_000; i++) {
      bucket.claimInLine();
    }

    Claim.Denied beyond = (Claim.Denied) bucket.claimInLine();

    assertThat(Duration.between(now(), beyond.retryAt()))
        .isBetween(Duration.ofSeconds(1_055), Duration.ofSeconds(1_065));
    assertThat(beyond.place()).isEmpty();
    advance(Duration.between(now(), beyond.retryAt()));
    assertThat(bucket.claimInLine()).isEqualTo(new Claim.Granted(1));
  }

  @Test
  void bucket_whose_line_is_switched_off_gives_no_places() {
    TokenBucket bucket = tollgate.put("acme", "send-email", 60, 30).bucket("acme", "send-email");
    bucket.tryClaim(30);
    Claim.Denied waiting = (Claim.Denied) bucket.claimInLine();
    tollgate.retune(ClaimsClient.id("acme", "send-email"), spec -> spec.withLine(false));

    Claim.Denied refused = (Claim.Denied) bucket.claim(waiting.place().orElseThrow());
    assertThat(refused.place()).isEmpty();
    advance(Duration.between(now(), refused.retryAt()));

    assertThat(bucket.tryClaim()).isEqualTo(new Claim.Granted(1));
  }

  @Test
  void claims_are_undecided_while_buckets_are_unavailable() {
    TokenBucket bucket = tollgate.put("acme", "send-email", 1, 20).bucket("acme", "send-email");
    tollgate.setAvailable(false);

    assertThat(bucket.tryClaim())
        .isEqualTo(new Claim.Undecided("bucket send-email_acme was made unavailable"));
    assertThat(bucket.claimUpTo(2).shortfall()).containsInstanceOf(Claim.Undecided.class);
    assertThat(bucket.reserve(2)).isInstanceOf(Claim.Undecided.class);

    tollgate.setAvailable(true);
    assertThat(bucket.tryClaim(20)).isEqualTo(new Claim.Granted(20));
  }

  @Test
  void reservations_are_not_settled_while_buckets_are_unavailable() {
    TokenBucket bucket = tollgate.put("acme", "send-email", 1, 20).bucket("acme", "send-email");
    Reservation spent = (Reservation) bucket.reserve(15);
    Reservation returned = (Reservation) bucket.reserve(5);
    tollgate.setAvailable(false);

    assertThat(spent.spend())
        .isEqualTo(new Settlement.Unknown("bucket send-email_acme was made unavailable"));
    returned.close();

    tollgate.setAvailable(true);
    assertThat(bucket.claimUpTo(20).tokens()).isZero();
    advance(Duration.ofSeconds(30));
    assertThat(bucket.tryClaim(20)).isEqualTo(new Claim.Granted(20));
  }

  @Test
  void bucket_put_again_is_full() {
    tollgate.put("acme", "send-email", 1, 20).bucket("acme", "send-email").tryClaim(20);
    tollgate.put("acme", "send-email", 60, 30);
    assertThat(tollgate.bucket("acme", "send-email").claimUpTo(99).tokens()).isEqualTo(30);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, ratePerMinute: 0.0",
    "-1, 1, ratePerMinute: -1.0",
    "NaN, 1, ratePerMinute: NaN",
    "Infinity, 1, ratePerMinute: Infinity",
    "60001, 1, ratePerMinute: 60001.0",
    "1, 0, capacity: 0",
    "1, 100001, capacity: 100001"
  })
  void bucket_with_values_out_of_range_is_rejected(double rate, long capacity, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tollgate.put("globex", "export", rate, capacity))
        .withMessageStartingWith(message + " (expected: ");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tollgate.bucket("globex", "connect").tryClaim());
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT-0.000000001S", "PT70000000H", "PT2562047788015215H30M7S"})
  void clock_rejects_moves_back_and_beyond_its_range(Duration by) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> advance(by))
        .withMessage("by: %s (expected: PT0S to PT69897179H59M59.5S)", by);
    assertThat(now()).isEqualTo(START);
  }
}
