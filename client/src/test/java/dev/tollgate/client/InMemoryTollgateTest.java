package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The client for tests of applications: the contract, and what only it can do. */
class InMemoryTollgateTest extends TollgateClientContract {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00.5Z");

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
  protected Instant now() {
    return tollgate.now();
  }

  @Override
  protected void advance(Duration by) {
    tollgate.advance(by);
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
  void claims_are_undecided_while_buckets_are_not_available() {
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
  void bucket_that_is_put_again_is_full_again() {
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
  void bucket_out_of_range_is_refused(double rate, long capacity, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tollgate.put("globex", "export", rate, capacity))
        .withMessageStartingWith(message + " (expected: ");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tollgate.bucket("globex", "connect").tryClaim());
  }

  @Test
  void clock_never_goes_back() {
    assertThatIllegalArgumentException().isThrownBy(() -> advance(Duration.ofNanos(-1)));
    assertThat(now()).isEqualTo(START);
  }
}
