package dev.tollgate.lawbook;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class AllowanceTest {
  private static final Instant START = Setting.START;

  private static Allowance allowance(Rate rate, long capacity) {
    return new Allowance(new Terms(rate, capacity), START);
  }

  @Test
  void token_spent_one_nanosecond_early_is_excess() {
    Allowance thirds = allowance(Rate.perMinute(1, 3), 1);
    thirds.spend(1, START);
    assertThat(thirds.excess()).isZero();
    thirds.spend(1, START.plus(Duration.ofMinutes(3)).minusNanos(1));
    assertThat(thirds.excess()).isEqualTo(1);
  }

  @Test
  void rate_of_a_third_a_minute_accrues_one_token_in_three_minutes() {
    Allowance thirds = allowance(Rate.perMinute(1, 3), 5);
    thirds.spend(5, START);
    for (int token = 1; token <= 1_000; token++) {
      thirds.spend(1, START.plus(Duration.ofMinutes(3L * token)));
      assertThat(thirds.excess()).isZero();
    }
  }

  @Test
  void unspent_tokens_accumulate_up_to_the_capacity() {
    Allowance ten = allowance(Rate.perMinute(10), 20);
    ten.spend(20, START.plus(Duration.ofDays(3)));
    assertThat(ten.excess()).isZero();
    ten.spend(3, START.plus(Duration.ofDays(3)));
    assertThat(ten.excess()).isEqualTo(3);
  }

  @Test
  void retune_keeps_tokens_up_to_the_new_capacity() {
    Allowance bucket = allowance(Rate.perMinute(60), 60);
    bucket.spend(30, START);
    bucket.retune(new Terms(Rate.perMinute(1, 7), 100), START);
    bucket.spend(30, START);
    assertThat(bucket.excess()).isZero();
    bucket.spend(1, START.plus(Duration.ofMinutes(7)));
    assertThat(bucket.excess()).isZero();
    bucket.retune(new Terms(Rate.perMinute(60), 10), START.plus(Duration.ofDays(7)));
    bucket.spend(11, START.plus(Duration.ofDays(7)));
    assertThat(bucket.excess()).isEqualTo(1);
  }

  @Test
  void surplus_after_a_retune_may_be_spent_until_the_grain_has_passed() {
    Terms small = new Terms(Rate.perMinute(1), 10, 0, Duration.ofMinutes(2));
    Allowance withinGrain = allowance(Rate.perMinute(60), 60);
    withinGrain.retune(small, START);
    withinGrain.spend(60, START.plusSeconds(60));
    assertThat(withinGrain.excess()).isZero();
    Allowance afterGrain = allowance(Rate.perMinute(60), 60);
    afterGrain.retune(small, START);
    afterGrain.spend(11, START.plusSeconds(120));
    assertThat(afterGrain.excess()).isEqualTo(1);
  }

  @Test
  void slack_stays_the_largest_of_all_terms() {
    Allowance bucket =
        new Allowance(new Terms(Rate.perMinute(5), 5, 5, Duration.ofMinutes(1)), START);
    bucket.spend(10, START);
    bucket.retune(new Terms(Rate.perMinute(1), 5, 1, Duration.ofMinutes(1)), START);
    assertThat(bucket.excess()).isZero();
    bucket.spend(1, START);
    assertThat(bucket.excess()).isEqualTo(1);
  }
}
