package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LedgerTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
  private static final int HISTORIES = 2_000;

  private static BucketSpec spec(String perMinute, long capacity) {
    return new BucketSpec(Rate.perMinute(new BigDecimal(perMinute)), capacity);
  }

  private static Ledger empty(Instant at) {
    return new Ledger(at, 0);
  }

  @Test
  void a_new_bucket_is_owed_its_capacity_at_once_and_unspread() {
    BucketSpec spec = spec("60", 60);
    Ledger.Step step = Ledger.opened(spec, START).step(spec, START, 0);
    assertThat(step).isEqualTo(new Ledger.Step(60, 0, empty(START), true));
  }

  @Test
  void a_minute_brings_the_rate_and_all_of_it_is_fresh() {
    Ledger.Step step = empty(START).step(spec("60", 100), START.plusSeconds(60), 10);
    assertThat(step).isEqualTo(new Ledger.Step(60, 60, empty(START.plusSeconds(60)), true));
  }

  @Test
  void a_fractional_rate_mints_when_a_whole_token_is_owed_and_not_before() {
    BucketSpec spec = spec("0.2", 5);
    Ledger ledger = empty(START);
    for (int minute = 1; minute <= 10; minute++) {
      Ledger.Step step = ledger.step(spec, START.plusSeconds(60L * minute), 0);
      assertThat(step.tokens()).as("minute %d", minute).isEqualTo(minute % 5 == 0 ? 1 : 0);
      ledger = step.after();
    }
  }

  @Test
  void a_tick_of_the_same_or_an_earlier_minute_mints_nothing() {
    BucketSpec spec = spec("60", 60);
    Ledger after = empty(START).step(spec, START.plusSeconds(60), 0).after();
    assertThat(after.step(spec, START.plusSeconds(60), 0).tokens()).isZero();
    assertThat(after.step(spec, START, 0)).isEqualTo(new Ledger.Step(0, 0, after, true));
  }

  @Test
  void missed_minutes_are_caught_up_in_steps_of_a_minutes_tokens() {
    BucketSpec spec = spec("60", 200);
    Ledger ledger = empty(START);
    Ledger.Step first = ledger.step(spec, START.plusSeconds(180), 0);
    assertThat(first.tokens()).isEqualTo(60);
    assertThat(first.complete()).isFalse();
    Ledger.Step second = first.after().step(spec, START.plusSeconds(180), 60);
    Ledger.Step third = second.after().step(spec, START.plusSeconds(180), 120);
    assertThat(first.fresh() + second.fresh()).isZero();
    assertThat(third).isEqualTo(new Ledger.Step(60, 60, empty(START.plusSeconds(180)), true));
  }

  @Test
  void a_full_bucket_overflows_and_its_remainder_too() {
    BucketSpec spec = spec("0.7", 5);
    Ledger.Step step = empty(START).step(spec, START.plusSeconds(60), 5);
    assertThat(step).isEqualTo(new Ledger.Step(0, 0, empty(START.plusSeconds(60)), true));
  }

  @Test
  void a_level_above_the_capacity_mints_nothing() {
    assertThat(empty(START).step(spec("60", 60), START.plusSeconds(60), 1_000).tokens()).isZero();
  }

  @Test
  void a_retune_keeps_what_the_old_rate_brought() {
    BucketSpec slow = spec("60", 60);
    BucketSpec fast = spec("180", 180);
    Instant half = START.plusSeconds(30);
    Ledger retuned = empty(START).retuned(slow, fast, half);
    assertThat(retuned).isEqualTo(new Ledger(half, 30 * Ledger.UNIT));
    assertThat(retuned.step(fast, START.plusSeconds(60), 0).tokens()).isEqualTo(30 + 90);
  }

  @Test
  void a_retune_to_a_smaller_bucket_owes_no_more_than_that_holds() {
    Ledger retuned =
        empty(START).retuned(spec("180", 180), spec("6", 6), START.plus(Duration.ofDays(1)));
    assertThat(retuned.carried()).isEqualTo(6 * Ledger.UNIT);
  }

  @Test
  void years_of_absence_do_not_overflow_the_arithmetic() {
    BucketSpec spec = spec("60000", 100_000);
    Ledger.Step step = empty(START).step(spec, START.plus(Duration.ofDays(36_500)), 99_000);
    assertThat(step)
        .extracting(Ledger.Step::tokens, Ledger.Step::complete)
        .containsExactly(1_000L, true);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "60001", "0.0000001", "1e400", "1e-400"})
  void a_rate_out_of_range_is_refused(String perMinute) {
    assertThatThrownBy(() -> Rate.perMinute(new BigDecimal(perMinute)))
        .isInstanceOf(InvalidValue.class)
        .hasMessageStartingWith("ratePerMinute: ");
  }

  /**
   * The law of the bucket, over random rates, capacities, and ticks that are missed, late, doubled
   * or out of order. The model is exact rational arithmetic. Claims empty the bucket at random.
   */
  @Test
  void never_more_than_capacity_plus_rate_times_time_and_never_a_lost_remainder() {
    for (long seed = 1; seed <= HISTORIES; seed++) {
      history(seed);
    }
  }

  private static void history(long seed) {
    Random random = new Random(seed);
    long micro = 1 + random.nextLong(random.nextBoolean() ? 300_000_000L : 2_000_000L);
    BucketSpec spec = new BucketSpec(new Rate(micro), 1 + random.nextInt(400));
    Ledger ledger = Ledger.opened(spec, START);
    long level = 0;
    long minted = 0;
    BigInteger overflowed = BigInteger.ZERO;
    BigInteger capacityUnits = units(spec.capacity());
    Instant through = START;
    for (int tick = 0; tick < 60; tick++) {
      Instant scheduled = START.plusSeconds(60L * (tick - (random.nextInt(8) == 0 ? 2 : 0)));
      if (random.nextInt(5) == 0) {
        continue;
      }
      for (int times = random.nextInt(6) == 0 ? 2 : 1; times > 0; times--) {
        while (true) {
          Ledger.Step step = ledger.step(spec, scheduled, level);
          BigInteger before = owed(spec, ledger, START).add(units(minted)).add(overflowed);
          assertThat(step.tokens()).as("seed %d", seed).isNotNegative();
          assertThat(step.fresh()).as("seed %d", seed).isBetween(0L, step.tokens());
          ledger = step.after();
          minted += step.tokens();
          level += step.tokens();
          BigInteger after = owed(spec, ledger, START).add(units(minted)).add(overflowed);
          BigInteger dropped = before.subtract(after);
          assertThat(dropped.signum()).as("seed %d: made from nothing", seed).isNotNegative();
          if (dropped.signum() > 0) {
            assertThat(level).as("seed %d: lost a remainder", seed).isEqualTo(spec.capacity());
            overflowed = overflowed.add(dropped);
          }
          assertThat(level).as("seed %d: over capacity", seed).isLessThanOrEqualTo(spec.capacity());
          if (step.complete()) {
            break;
          }
        }
        through = scheduled.isAfter(through) ? scheduled : through;
      }
      BigInteger law =
          capacityUnits.add(
              BigInteger.valueOf(micro)
                  .multiply(BigInteger.valueOf(Duration.between(START, through).toMillis())));
      assertThat(units(minted))
          .as("seed %d: more than the law allows", seed)
          .isLessThanOrEqualTo(law);
      level -= random.nextLong(level + 1);
    }
  }

  /** What a ledger stands for: what it carries, less what has been reckoned since the start. */
  private static BigInteger owed(BucketSpec spec, Ledger ledger, Instant start) {
    long elapsed = Duration.between(start, ledger.filledThrough()).toMillis();
    return BigInteger.valueOf(ledger.carried())
        .subtract(
            BigInteger.valueOf(spec.rate().microtokensPerMinute())
                .multiply(BigInteger.valueOf(elapsed)));
  }

  private static BigInteger units(long tokens) {
    return BigInteger.valueOf(tokens).multiply(BigInteger.valueOf(Ledger.UNIT));
  }
}
