package dev.tollgate.local.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.local.testing.ManualClock;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** The token buckets of API Gateway. */
class ThrottleTest {
  private final ManualClock clock = new ManualClock(Instant.parse("2026-03-12T19:03:58Z"));
  private long nanos;

  private Throttle throttle(String perSecond, int burst) {
    return new Throttle(RateLimit.of(new BigDecimal(perSecond), burst), clock, () -> nanos);
  }

  /** How many of the next requests are admitted. */
  private static int admitted(BooleanSupplier throttle, int requests) {
    int admitted = 0;
    for (int i = 0; i < requests; i++) {
      admitted += throttle.getAsBoolean() ? 1 : 0;
    }
    return admitted;
  }

  @Test
  void burst_is_admitted_and_then_the_rate() {
    Throttle throttle = throttle("2", 3);

    assertThat(admitted(throttle::admits, 5)).isEqualTo(3);
    clock.advance(Duration.ofMillis(499));
    assertThat(throttle.admits()).isFalse();
    clock.advance(Duration.ofMillis(1));
    assertThat(admitted(throttle::admits, 2)).isEqualTo(1);
    clock.advance(Duration.ofDays(3_000));
    assertThat(admitted(throttle::admits, 5)).isEqualTo(3);
  }

  @Test
  void parts_of_a_token_are_kept() {
    Throttle throttle = throttle("0.3", 2);
    assertThat(admitted(throttle::admits, 3)).isEqualTo(2);

    int later = 0;
    for (int i = 0; i < 10_000; i++) {
      clock.advance(Duration.ofMillis(1));
      later += throttle.admits() ? 1 : 0;
    }

    assertThat(later).isEqualTo(3);
  }

  @Test
  void real_time_fills_the_bucket_while_the_clock_stands_still() {
    Throttle throttle = throttle("2", 1);
    assertThat(admitted(throttle::admits, 2)).isEqualTo(1);

    nanos += 500_000_000;

    assertThat(admitted(throttle::admits, 2)).isEqualTo(1);
  }

  @Test
  void time_that_passes_on_both_counts_once_and_time_that_goes_back_takes_nothing() {
    Throttle throttle = throttle("2", 10);
    assertThat(admitted(throttle::admits, 10)).isEqualTo(10);

    nanos += 500_000_000;
    clock.advance(Duration.ofSeconds(1));
    assertThat(admitted(throttle::admits, 10)).isEqualTo(2);
    clock.set(Instant.EPOCH);
    assertThat(throttle.admits()).isFalse();
  }

  @Test
  void rate_or_burst_of_zero_admits_nothing_more() {
    Throttle noRate = throttle("0", 1);
    Throttle noBurst = throttle("5", 0);
    assertThat(noRate.admits()).isTrue();

    clock.advance(Duration.ofDays(1));

    assertThat(noRate.admits()).isFalse();
    assertThat(noBurst.admits()).isFalse();
    assertThatThrownBy(() -> new RateLimit(1, 1_000_001)).hasMessageContaining("1000001");
  }

  @Test
  void account_admits_500_new_connections_and_5000_requests_at_once() {
    Throttles account = new Throttles(clock, () -> nanos);

    assertThat(admitted(account::admitConnection, 501)).isEqualTo(500);
    assertThat(admitted(account::admitRequest, 5_001)).isEqualTo(5_000);
    clock.advance(Duration.ofMillis(1));
    assertThat(admitted(account::admitRequest, 20)).isEqualTo(10);
  }

  @Test
  void each_route_of_a_stage_has_a_bucket_of_its_own_within_the_accounts() {
    Throttles account = new Throttles(clock, () -> nanos);
    Predicate<String> stage =
        account.ofStage(
            new RouteLimits(
                RateLimit.of(BigDecimal.ONE, 2),
                Map.of("GET /a", RateLimit.of(BigDecimal.ONE, 4_997))));

    assertThat(admitted(() -> stage.test("GET /b"), 5)).isEqualTo(2);
    assertThat(admitted(() -> stage.test("GET /c"), 5)).isEqualTo(2);
    assertThat(admitted(() -> stage.test("GET /a"), 5_000)).isEqualTo(4_996);
  }
}
