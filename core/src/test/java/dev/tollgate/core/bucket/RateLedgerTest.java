package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RateLedgerTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
  private static final int HISTORIES = 500 * Integer.getInteger("tests.times", 1);

  private static BucketSpec spec(String perMinute, long capacity) {
    return new BucketSpec(Rate.perMinute(new BigDecimal(perMinute)), capacity);
  }

  private static Ledger empty(Instant at) {
    return new RateLedger(at, 0);
  }

  /** The ledger after a fill at {@code now} minted all due tokens. */
  private static Ledger filled(Ledger ledger, BucketSpec spec, Instant now, Instant horizon) {
    Ledger.Step step = ledger.step(spec, now, horizon, 0);
    while (!step.complete()) {
      step = step.after().step(spec, now, horizon, 0);
    }
    return step.after();
  }

  private static Instant at(double second) {
    return START.plusMillis(Math.round(second * 1_000));
  }

  @Test
  void new_bucket_is_owed_its_capacity_at_once() {
    BucketSpec spec = spec("60", 60);
    Ledger.Step step = Ledger.opened(spec, START).step(spec, START, at(75), 0);
    assertThat(step).isEqualTo(new Ledger.Step(60, empty(START), true));
  }

  @Test
  void tokens_due_until_the_horizon_are_minted_ahead_with_their_due_second() {
    BucketSpec spec = spec("12", 100);
    Ledger before = empty(START);
    Ledger.Step step = before.step(spec, START, at(33), 0);
    assertThat(step)
        .isEqualTo(new Ledger.Step(6, new RateLedger(at(33), 3 * Ledger.UNIT / 5, START), true));
    assertThat(LongStream.rangeClosed(1, 3).mapToObj(i -> before.dueAt(spec, i)))
        .containsExactly(at(5), at(10), at(15));
  }

  @Test
  void next_fill_continues_where_the_last_one_ended() {
    BucketSpec spec = spec("7", 100);
    Ledger first = filled(empty(START), spec, START, at(75));
    Ledger.Step second = first.step(spec, at(60), at(135), 0);
    assertThat(second.tokens()).isEqualTo(7 * 135 / 60 - 7 * 75 / 60);
    assertThat(first.dueAt(spec, 1)).isEqualTo(empty(START).dueAt(spec, 9));
  }

  @Test
  void minting_ahead_stops_at_the_capacity_and_the_rest_stays_owed() {
    BucketSpec spec = spec("60", 20);
    Ledger.Step step = empty(START).step(spec, START, at(75), 5);
    assertThat(step).isEqualTo(new Ledger.Step(15, new RateLedger(at(15), 0, START), true));
    assertThat(step.after().step(spec, at(15), at(90), 0).tokens()).isEqualTo(20);
  }

  @Test
  void overflow_is_dropped_although_the_room_is_one_minutes_tokens() {
    assertThat(empty(START).step(spec("60", 60), at(300), at(360), 0))
        .isEqualTo(new Ledger.Step(60, empty(at(300)), true));
  }

  @Test
  void owed_tokens_are_compared_with_a_number_and_a_time() {
    Ledger owed = new RateLedger(START, 2 * Ledger.UNIT);
    assertThat(owed.isOwedAtMost(spec("60", 60), START, 1, 1_000)).isTrue();
    assertThat(owed.isOwedAtMost(spec("60", 60), START.plusMillis(1), 1, 1_000)).isFalse();
  }

  @Test
  void full_bucket_keeps_pending_tokens() {
    BucketSpec spec = spec("60", 20);
    Ledger ahead = empty(START).step(spec, START, at(75), 0).after();
    assertThat(ahead.step(spec, at(10), at(85), 20)).isEqualTo(new Ledger.Step(0, ahead, true));
  }

  @Test
  void fractional_rate_mints_only_whole_due_tokens() {
    BucketSpec spec = spec("0.2", 5);
    Ledger ledger = empty(START);
    for (int minute = 0; minute <= 20; minute++) {
      Ledger before = ledger;
      Instant now = at(60 * minute);
      Ledger.Step step = before.step(spec, now, now.plusSeconds(75), 0);
      assertThat(step.tokens()).as("minute %d", minute).isEqualTo(minute % 5 == 4 ? 1 : 0);
      if (step.tokens() == 1) {
        assertThat(before.dueAt(spec, 1)).isEqualTo(now.plusSeconds(60));
      }
      ledger = step.after();
    }
  }

  @Test
  void fill_of_the_same_or_an_earlier_instant_mints_nothing() {
    BucketSpec spec = spec("60", 100);
    Ledger after = empty(START).step(spec, at(60), at(60), 0).after();
    assertThat(after.step(spec, at(60), at(60), 60).tokens()).isZero();
    assertThat(after.step(spec, START, START, 60)).isEqualTo(new Ledger.Step(0, after, true));
  }

  @Test
  void missed_minutes_are_caught_up_one_minutes_tokens_at_a_time() {
    BucketSpec spec = spec("60", 200);
    Ledger.Step first = empty(START).step(spec, at(180), at(255), 0);
    assertThat(first).isEqualTo(new Ledger.Step(60, empty(at(60)), false));
    Ledger.Step second = first.after().step(spec, at(180), at(255), 60);
    Ledger.Step third = second.after().step(spec, at(180), at(255), 120);
    Ledger.Step last = third.after().step(spec, at(180), at(255), 180);
    assertThat(last).isEqualTo(new Ledger.Step(20, new RateLedger(at(200), 0, at(180)), true));
  }

  @Test
  void full_bucket_drops_overflow_and_remainder() {
    BucketSpec spec = spec("0.7", 5);
    Ledger.Step step = empty(START).step(spec, at(60), at(135), 5);
    assertThat(step).isEqualTo(new Ledger.Step(0, empty(at(60)), true));
  }

  @Test
  void level_above_the_capacity_mints_nothing() {
    assertThat(empty(START).step(spec("60", 60), at(60), at(135), 1_000).tokens()).isZero();
  }

  @Test
  void late_fill_owes_the_room_and_one_minutes_tokens() {
    BucketSpec spec = spec("60", 200);
    assertThat(empty(START).bounded(spec, at(600), 150))
        .isEqualTo(new RateLedger(at(600), (50 + 60) * Ledger.UNIT));
    assertThat(empty(START).bounded(spec, at(110), 150)).isEqualTo(empty(START));
  }

  @Test
  void nth_next_token_is_pending_or_due_after_the_pending_ones() {
    BucketSpec spec = spec("12", 100);
    Ledger ahead = filled(empty(START), spec, START, at(75));
    assertThat(ahead.pendingAt(spec, START)).isEqualTo(15);
    assertThat(ahead.pendingAt(spec, at(5))).isEqualTo(14);
    assertThat(ahead.pendingAt(spec, at(75))).isZero();
    assertThat(ahead.dueAfter(spec, at(7), 1)).isEqualTo(at(10));
    assertThat(ahead.dueAfter(spec, at(7), 14)).isEqualTo(at(75));
    assertThat(ahead.dueAfter(spec, at(7), 15)).isEqualTo(at(80));
  }

  @Test
  void tokens_minted_when_already_due_are_not_pending() {
    BucketSpec spec = spec("12", 100);
    Ledger late = filled(empty(START), spec, at(30), at(105));
    assertThat(late.pendingAt(spec, START)).isEqualTo(15);
    assertThat(late.pendingAt(spec, at(30))).isEqualTo(15);
  }

  @Test
  void unsent_tokens_are_owed_again() {
    BucketSpec spec = spec("12", 100);
    Ledger minted = filled(empty(START), spec, START, at(75));
    Ledger unsent = minted.withUnsent(spec, START, 15);
    assertThat(unsent).isEqualTo(empty(START));
    Ledger some = minted.withUnsent(spec, START, 4);
    assertThat(some.pendingAt(spec, START)).isEqualTo(11);
    assertThat(some.step(spec, START, at(75), 11).tokens()).isEqualTo(4);
    BucketSpec full = spec("12", 12);
    Ledger owed = Ledger.opened(full, START).step(full, START, START, 0).after();
    assertThat(owed.withUnsent(full, START, 7).step(full, START, START, 5).tokens()).isEqualTo(7);
  }

  @Test
  void retune_keeps_tokens_accrued_at_the_old_rate() {
    BucketSpec slow = spec("60", 60);
    BucketSpec fast = spec("180", 180);
    Ledger retuned = empty(START).retuned(slow, fast, at(30));
    assertThat(retuned).isEqualTo(new RateLedger(at(30), 30 * Ledger.UNIT));
    assertThat(retuned.step(fast, at(60), at(60), 0).tokens()).isEqualTo(30 + 90);
  }

  @Test
  void retune_to_a_smaller_bucket_owes_at_most_its_capacity() {
    Ledger retuned =
        empty(START).retuned(spec("180", 180), spec("6", 6), START.plus(Duration.ofDays(1)));
    assertThat(((RateLedger) retuned).carried()).isEqualTo(6 * Ledger.UNIT);
  }

  @Test
  void new_rate_applies_after_the_pending_tokens() {
    BucketSpec slow = spec("12", 12);
    BucketSpec fast = spec("60", 60);
    Ledger ahead = filled(empty(START), slow, START, at(60));
    Ledger retuned = ahead.retuned(slow, fast, at(10));
    assertThat(retuned.dueAt(fast, 1)).isEqualTo(at(61));
    assertThat(retuned.pendingAt(fast, at(10))).as("no due times after a retune").isZero();
  }

  @Test
  void fill_after_years_does_not_overflow() {
    BucketSpec spec = spec("60000", 100_000);
    Instant late = START.plus(Duration.ofDays(36_500));
    Ledger.Step step = empty(START).step(spec, late, late.plusSeconds(75), 99_000);
    assertThat(step)
        .extracting(Ledger.Step::tokens, Ledger.Step::complete)
        .containsExactly(1_000L, true);
    assertThat(new RateLedger(late, 0, START).pendingAt(spec, START))
        .isEqualTo(BucketSpec.MAX_CAPACITY);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "60001", "0.0000001", "1e400", "1e-400"})
  void rate_out_of_range_is_refused(String perMinute) {
    assertThatThrownBy(() -> Rate.perMinute(new BigDecimal(perMinute)))
        .isInstanceOf(InvalidValue.class)
        .hasMessageStartingWith("ratePerMinute: ");
  }

  /**
   * Compares the ledger with exact rational arithmetic, for random rates, capacities and claims,
   * and for fills that are missed, late, repeated, requested in between, or mint nothing ahead.
   */
  @Test
  void tokens_are_never_due_early_and_only_a_full_bucket_loses_any() {
    for (long seed = 1; seed <= HISTORIES; seed++) {
      new History(seed).run();
    }
  }

  private static final class History {
    private final long seed;
    private final Random random;
    private final BucketSpec spec;
    private Ledger ledger;
    private long level;
    private long minted;
    private BigInteger overflowed = BigInteger.ZERO;
    private Instant lastDue = Instant.MIN;

    History(long seed) {
      this.seed = seed;
      random = new Random(seed);
      long micro = 1 + random.nextLong(random.nextBoolean() ? 300_000_000L : 2_000_000L);
      spec = new BucketSpec(new Rate(micro), 1 + random.nextInt(400));
      ledger = Ledger.opened(spec, START);
    }

    void run() {
      Instant now = START;
      for (int tick = 0; tick < 60; tick++) {
        now = now.plusMillis(random.nextInt(5) == 0 ? random.nextInt(400_000) : 60_000);
        for (int times = random.nextInt(6) == 0 ? 2 : 1; times > 0; times--) {
          fill(now, now.plusSeconds(random.nextInt(5) == 0 ? 0 : 75));
        }
        level -= random.nextLong(level + 1);
      }
    }

    private void fill(Instant now, Instant horizon) {
      while (true) {
        Ledger before = ledger;
        Ledger.Step step = before.step(spec, now, horizon, level);
        ledger = step.after();
        level += step.tokens();
        for (long i = 1; i <= step.tokens(); i++) {
          due(before.dueAt(spec, i), now, horizon);
        }
        BigInteger dropped = owed(before).subtract(owed(ledger)).subtract(units(step.tokens()));
        assertThat(dropped.signum()).as("seed %d: created a token", seed).isNotNegative();
        if (dropped.signum() > 0) {
          assertThat(level).as("seed %d: lost a remainder", seed).isEqualTo(spec.capacity());
          overflowed = overflowed.add(dropped);
        }
        assertThat(level).as("seed %d: over capacity", seed).isLessThanOrEqualTo(spec.capacity());
        if (step.complete()) {
          return;
        }
      }
    }

    private void due(Instant due, Instant now, Instant horizon) {
      minted++;
      Instant from = due.isAfter(now) ? due : now;
      assertThat(due).as("seed %d: ahead of the horizon", seed).isBeforeOrEqualTo(horizon);
      assertThat(due).as("seed %d: before another", seed).isAfterOrEqualTo(lastDue);
      lastDue = due;
      BigInteger law =
          units(spec.capacity())
              .add(
                  BigInteger.valueOf(spec.rate().microtokensPerMinute())
                      .multiply(BigInteger.valueOf(Duration.between(START, from).toMillis())));
      assertThat(units(minted).add(overflowed))
          .as("seed %d: token %d before it is due", seed, minted)
          .isLessThanOrEqualTo(law);
    }

    /** The value of a ledger: its carried tokens less those accrued since the start. */
    private BigInteger owed(Ledger ledgerOf) {
      RateLedger of = (RateLedger) ledgerOf;
      long elapsed = Duration.between(START, of.mintedThrough()).toMillis();
      return BigInteger.valueOf(of.carried())
          .subtract(
              BigInteger.valueOf(spec.rate().microtokensPerMinute())
                  .multiply(BigInteger.valueOf(elapsed)));
    }

    private static BigInteger units(long tokens) {
      return BigInteger.valueOf(tokens).multiply(BigInteger.valueOf(Ledger.UNIT));
    }
  }

  @Test
  void large_slow_new_bucket_does_not_mint_in_the_past() {
    BucketSpec spec = new BucketSpec(new Rate(1), 1_000);
    Ledger opened = Ledger.opened(spec, START);
    Ledger.Step step = opened.step(spec, START, START.plusSeconds(60), 0);
    assertThat(step.tokens()).isEqualTo(10);
    assertThat(step.after()).isEqualTo(new RateLedger(START, 990 * Ledger.UNIT));
  }
}
