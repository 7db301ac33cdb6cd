package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class CalendarLedgerTest {
  private static final Instant NOON = Instant.parse("2026-06-10T12:00:00Z");
  private static final Instant TODAY = Instant.parse("2026-06-10T00:00:00Z");
  private static final Instant TOMORROW = Instant.parse("2026-06-11T00:00:00Z");

  private static BucketSpec spec(long capacity) {
    return new BucketSpec(Calendar.of("DAY", Optional.empty(), "00:00", "UTC", false), capacity);
  }

  private static BucketSpec carryingOver(long capacity) {
    return new BucketSpec(Calendar.of("DAY", Optional.empty(), "00:00", "UTC", true), capacity);
  }

  private static Ledger filled(Ledger ledger, BucketSpec spec, Instant now) {
    Ledger.Step step = ledger.step(spec, now, now, 0);
    while (!step.complete()) {
      step = step.after().step(spec, now, now, 0);
    }
    return step.after();
  }

  private static CalendarLedger of(Instant since, long minted) {
    return new CalendarLedger(since, minted, since);
  }

  @Test
  void new_bucket_is_owed_its_capacity_for_the_rest_of_the_period() {
    Ledger opened = Ledger.opened(spec(5), NOON);
    assertThat(opened.step(spec(5), NOON, NOON, 0))
        .isEqualTo(new Ledger.Step(5, of(NOON, 5), true));
    assertThat(of(NOON, 5).step(spec(5), NOON, NOON, 0).tokens()).isZero();
    assertThat(of(NOON, 5).mintedThrough(spec(5))).isEqualTo(TOMORROW);
    assertThat(opened.mintedThrough(spec(5))).isEqualTo(NOON);
  }

  @Test
  void recreated_bucket_is_owed_nothing_until_the_next_period_and_keeps_its_tokens() {
    Ledger recreated = Ledger.balanced(spec(5), NOON);
    assertThat(recreated).isEqualTo(of(TODAY, 5));
    assertThat(recreated.validFrom(spec(5), NOON)).isEqualTo(TODAY);
    assertThat(recreated.step(spec(5), TOMORROW, TOMORROW, 5).tokens()).isEqualTo(5);
  }

  @Test
  void step_mints_a_hundredth_so_that_a_crash_loses_no_more() {
    BucketSpec large = spec(100_000);
    assertThat(of(TODAY, 0).step(large, NOON, NOON, 0))
        .isEqualTo(new Ledger.Step(1_000, of(TODAY, 1_000), false));
    assertThat(of(TODAY, 99_500).step(large, NOON, NOON, 0))
        .isEqualTo(new Ledger.Step(500, of(TODAY, 100_000), true));
    assertThat(of(TODAY, 0).step(spec(25), NOON, NOON, 0).tokens()).isEqualTo(10);
  }

  @Test
  void whatever_is_in_the_bucket_the_next_period_mints_its_capacity_and_voids_older_tokens() {
    Ledger next = filled(of(TODAY, 5), spec(5), TOMORROW);
    assertThat(next).isEqualTo(of(TOMORROW, 5));
    assertThat(of(TODAY, 5).validFrom(spec(5), TOMORROW.minusMillis(1))).isEqualTo(TODAY);
    assertThat(of(TODAY, 5).validFrom(spec(5), TOMORROW)).isEqualTo(TOMORROW);
  }

  @Test
  void missed_periods_are_not_caught_up() {
    Instant later = TOMORROW.plus(Duration.ofDays(3)).plusSeconds(7);
    assertThat(filled(of(TODAY, 5), spec(5), later))
        .isEqualTo(of(TOMORROW.plus(Duration.ofDays(3)), 5));
  }

  @Test
  void tokens_that_are_carried_over_are_valid_in_one_more_period() {
    BucketSpec spec = carryingOver(5);
    Ledger next = filled(of(TODAY, 5), spec, TOMORROW);
    assertThat(next).isEqualTo(new CalendarLedger(TOMORROW, 5, TODAY));
    Instant after = TOMORROW.plus(Duration.ofDays(1));
    assertThat(filled(next, spec, after)).isEqualTo(new CalendarLedger(after, 5, TOMORROW));
    Instant late = after.plus(Duration.ofDays(1));
    assertThat(next.validFrom(spec, late)).as("a period was missed").isEqualTo(late);
  }

  @Test
  void higher_capacity_is_owed_the_difference_and_a_lower_one_removes_it() {
    Ledger full = of(TODAY, 5);
    Ledger higher = full.retuned(spec(5), spec(8), NOON);
    assertThat(higher.step(spec(8), NOON, NOON, 0).tokens()).isEqualTo(3);
    CalendarLedger lower = (CalendarLedger) full.retuned(spec(5), spec(2), NOON);
    assertThat(lower.excess(spec(2), NOON)).isEqualTo(3);
    assertThat(lower.step(spec(2), NOON, NOON, 0)).isEqualTo(new Ledger.Step(0, full, true));
    Ledger trimmed = lower.withTrimmed(spec(2), NOON, 3);
    assertThat(trimmed).isEqualTo(of(TODAY, 2));
    assertThat(trimmed.step(spec(5), NOON, NOON, 0).tokens()).as("raised again").isEqualTo(3);
    assertThat(lower.excess(spec(2), TOMORROW)).isZero();
    assertThat(full.withTrimmed(spec(5), TOMORROW, 4)).as("void tokens").isEqualTo(full);
  }

  @Test
  void another_calendar_or_a_rate_begins_anew() {
    BucketSpec rate = new BucketSpec(Rate.perMinute(60), 60);
    assertThat(of(TODAY, 5).retuned(spec(5), carryingOver(7), NOON))
        .isEqualTo(of(NOON.plusSeconds(5), 0));
    assertThat(of(TODAY, 5).retuned(spec(5), rate, NOON)).isEqualTo(RateLedger.balanced(NOON));
    assertThat(RateLedger.balanced(TODAY).retuned(rate, spec(5), NOON))
        .isEqualTo(of(NOON.plusSeconds(5), 0));
  }

  @Test
  void unsent_tokens_are_owed_again() {
    assertThat(of(TODAY, 5).withUnsent(spec(5), NOON, 2)).isEqualTo(of(TODAY, 3));
  }

  @Test
  void nth_next_token_is_owed_now_or_due_in_the_next_period() {
    assertThat(of(TODAY, 3).dueAfter(spec(5), NOON, 2)).isEqualTo(TODAY);
    assertThat(of(TODAY, 3).dueAfter(spec(5), NOON, 3)).isEqualTo(TOMORROW);
    assertThat(of(TODAY, 5).dueAfter(spec(5), TOMORROW, 5)).isEqualTo(TOMORROW);
  }

  @Test
  void tokens_are_minted_at_the_start_of_the_period_and_are_no_base_for_prefetching() {
    assertThat(of(TODAY, 3).mintedAfter(spec(5), TODAY.minusMillis(1))).isEqualTo(3);
    assertThat(of(TODAY, 3).mintedAfter(spec(5), TODAY)).isZero();
    assertThat(of(TODAY, 3).isOwedAtMost(spec(5), NOON, 5, 60_000)).isFalse();
  }

  @Test
  void refuses_impossible_numbers() {
    assertThatThrownBy(() -> of(TODAY, -1)).isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> new CalendarLedger(TODAY, 0, NOON)).isInstanceOf(InvalidValue.class);
  }

  @Test
  void tokens_are_void_once_a_period_began_in_which_none_was_minted() {
    CalendarLedger carried = new CalendarLedger(TOMORROW, 0, TODAY);

    assertThat(of(TODAY, 5).hasMintedNoValidToken(spec(5), NOON)).isFalse();
    assertThat(of(TODAY, 5).hasMintedNoValidToken(spec(5), TOMORROW)).isTrue();
    assertThat(of(TODAY, 0).hasMintedNoValidToken(spec(5), NOON)).isTrue();
    assertThat(carried.hasMintedNoValidToken(carryingOver(5), TOMORROW)).isFalse();
  }

  @Test
  void token_of_a_period_that_began_by_a_faster_clock_counts_as_minted_at_its_start() {
    assertThat(new Ledger.Step(1, of(TOMORROW, 1), true).mintedAt(NOON)).isEqualTo(TOMORROW);
    assertThat(new Ledger.Step(1, of(TODAY, 1), true).mintedAt(NOON)).isEqualTo(NOON);
    assertThat(new Ledger.Step(1, RateLedger.balanced(TOMORROW), true).mintedAt(NOON))
        .isEqualTo(NOON);
  }
}
