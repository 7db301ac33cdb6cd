package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class BucketTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
  private static final BucketId ID = new BucketId(new TenantId("acme"), Action.CONNECT);
  private static final Upkeep FILLED = new Upkeep(Upkeep.State.PRODUCED, START, Optional.empty());

  private static Bucket bucket(String perMinute, long capacity, Ledger ledger, Drip drip) {
    BucketSpec spec = new BucketSpec(Rate.perMinute(new BigDecimal(perMinute)), capacity);
    return new Bucket(ID, spec, ledger, drip, 0, Optional.empty(), FILLED, 1);
  }

  @Test
  void a_drip_spreads_its_tokens_over_the_minute() {
    Drip drip = new Drip(START, 3, Duration.ZERO);
    assertThat(LongStream.range(0, 3).mapToInt(drip::delaySeconds)).containsExactly(0, 20, 40);
  }

  @Test
  void a_drip_tells_how_many_tokens_have_appeared_at_every_second() {
    for (long tokens : new long[] {0, 1, 3, 7, 60, 61, 180, 6_000}) {
      Drip drip = new Drip(START, tokens, Duration.ZERO);
      for (int second = -1; second <= 61; second++) {
        Instant now = START.plusSeconds(second);
        long appeared =
            LongStream.range(0, tokens).filter(i -> !drip.appearsAt(i).isAfter(now)).count();
        assertThat(drip.appearedAt(now))
            .as("%d tokens, second %d", tokens, second)
            .isEqualTo(appeared);
      }
    }
  }

  @Test
  void the_lag_to_be_expected_rises_at_once_stays_while_it_is_seen_and_falls_slowly() {
    Duration late = Duration.ofSeconds(40);
    Drip drip = new Drip(START, 3, Duration.ZERO);
    for (int minute = 1; minute < 4; minute++) {
      Instant due = START.plusSeconds(60L * minute);
      drip = drip.next(due, due.plus(late), 3);
      assertThat(drip.lag()).as("minute " + minute).isEqualTo(late);
    }
    Instant due = START.plusSeconds(240);
    assertThat(drip.next(due, due, 3).lag()).isEqualTo(Duration.ofSeconds(35));
  }

  @Test
  void a_fill_that_no_schedule_made_tells_nothing_of_the_lag() {
    Instant woken = START.plusSeconds(77);
    Drip drip = new Drip(START, 3, Duration.ofSeconds(40)).next(woken, woken, 3);
    assertThat(drip).isEqualTo(new Drip(woken, 3, Duration.ofSeconds(40)));
  }

  @Test
  void the_next_token_of_an_empty_bucket_is_the_next_of_the_drip() {
    Bucket bucket = bucket("3", 3, new Ledger(START, 0), new Drip(START, 3, Duration.ZERO));
    assertThat(bucket.nextTokenAt(START.plusSeconds(5))).isEqualTo(START.plusSeconds(21));
  }

  @Test
  void after_the_drip_it_is_the_first_of_the_next_fill() {
    Bucket bucket = bucket("3", 3, new Ledger(START, 0), new Drip(START, 3, Duration.ZERO));
    assertThat(bucket.nextTokenAt(START.plusSeconds(45))).isEqualTo(START.plusSeconds(61));
  }

  @Test
  void a_schedule_that_fires_late_in_its_minute_is_expected_late_again() {
    Bucket bucket =
        bucket(
            "1",
            1,
            new Ledger(START, 0),
            new Drip(START.plusSeconds(42), 1, Duration.ofSeconds(42)));
    assertThat(bucket.nextTokenAt(START.plusSeconds(50))).isEqualTo(START.plusSeconds(60 + 42 + 1));
  }

  @Test
  void a_slow_bucket_waits_for_the_fill_in_which_a_whole_token_is_owed() {
    Bucket bucket = bucket("0.2", 5, new Ledger(START, 0), new Drip(START, 0, Duration.ZERO));
    assertThat(bucket.nextTokenAt(START.plusSeconds(10))).isEqualTo(START.plusSeconds(301));
  }

  @Test
  void a_fill_that_is_overdue_is_expected_with_the_next_tick() {
    Bucket bucket = bucket("3", 3, new Ledger(START, 0), new Drip(START, 3, Duration.ZERO));
    assertThat(bucket.nextTokenAt(START.plusSeconds(200))).isEqualTo(START.plusSeconds(241));
  }

  @Test
  void a_fill_forgets_that_the_bucket_was_empty_and_a_retune_too() {
    Bucket seenEmpty =
        new Bucket(
            ID,
            BucketSpec.ofRate(Rate.perMinute(60)),
            new Ledger(START, 0),
            new Drip(START, 0, Duration.ZERO),
            0,
            Optional.of(START.plusSeconds(60)),
            FILLED,
            1);
    Ledger.Step step = seenEmpty.ledger().step(seenEmpty.spec(), START.plusSeconds(60), 0);
    assertThat(seenEmpty.filled(step, 0, START.plusSeconds(60)).emptyUntil()).isEmpty();
    assertThat(seenEmpty.retuned(BucketSpec.ofRate(Rate.perMinute(180)), START).emptyUntil())
        .isEmpty();
    assertThat(seenEmpty.knownEmptyAt(START.plusSeconds(59))).isTrue();
    assertThat(seenEmpty.knownEmptyAt(START.plusSeconds(60))).isFalse();
  }

  @Test
  void a_fill_without_tokens_also_tells_how_late_fills_come() {
    Bucket slow = bucket("0.2", 5, new Ledger(START, 0), new Drip(START, 0, Duration.ZERO));
    Instant late = START.plusSeconds(60 + 17);
    Ledger.Step step = slow.ledger().step(slow.spec(), START.plusSeconds(60), 0);
    assertThat(slow.filled(step, 0, late).nextTokenAt(late))
        .isEqualTo(START.plusSeconds(300 + 17 + 1));
  }

  @Test
  void a_bucket_that_was_opened_within_a_minute_expects_its_fills_on_the_minute() {
    Instant opened = START.plusSeconds(9);
    Bucket bucket = Bucket.opened(ID, BucketSpec.ofRate(Rate.perMinute(5)), opened);
    Ledger.Step step = bucket.ledger().step(bucket.spec(), opened.plusSeconds(1), 0);
    assertThat(bucket.filled(step, 0, opened.plusSeconds(1)).nextTokenAt(opened.plusSeconds(5)))
        .isEqualTo(START.plusSeconds(61));
  }

  @Test
  void the_lag_to_be_expected_rises_at_once_and_falls_slowly() {
    Drip drip = new Drip(START, 0, Duration.ZERO).next(START, START.plusSeconds(40), 0);
    assertThat(drip.lag()).isEqualTo(Duration.ofSeconds(40));
    Instant minute = START.plusSeconds(60);
    assertThat(drip.next(minute, minute.plusSeconds(2), 0).lag()).isEqualTo(Duration.ofSeconds(35));
    assertThat(drip.next(minute, minute.plusSeconds(300), 0).lag())
        .isEqualTo(Duration.ofMillis(59_999));
  }

  @Test
  void a_bucket_that_was_found_empty_holds_what_has_not_appeared_whatever_the_queue_tells() {
    Bucket bucket = bucket("3", 3, new Ledger(START, 0), new Drip(START, 3, Duration.ZERO));
    Instant now = START.plusSeconds(25);
    assertThat(bucket.levelAt(now, new TokenQueue.Level(3, 0))).isEqualTo(3);
    Bucket seenEmpty =
        new Bucket(
            bucket.id(),
            bucket.spec(),
            bucket.ledger(),
            bucket.drip(),
            3,
            Optional.of(START.plusSeconds(41)),
            FILLED,
            1);
    assertThat(seenEmpty.levelAt(now, new TokenQueue.Level(3, 0))).isEqualTo(1);
    assertThat(seenEmpty.levelAt(START.plusSeconds(60), new TokenQueue.Level(3, 0))).isZero();
  }
}
