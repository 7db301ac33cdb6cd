package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BucketTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
  private static final BucketId ID = new BucketId(new TenantId("acme"), Action.CONNECT);

  private static BucketSpec spec(String perMinute, long capacity, FillMode mode) {
    return new BucketSpec(
        Rate.perMinute(new BigDecimal(perMinute)), capacity, new FillPolicy(mode, 15));
  }

  /** A bucket that the token producer has filled for ten minutes. */
  private static Bucket bucket(BucketSpec spec, Ledger ledger, long level) {
    return new Bucket(
        ID,
        spec,
        ledger,
        level,
        Optional.empty(),
        new FillState(FillState.State.PRODUCED, at(-600), Optional.empty()),
        1);
  }

  private static Bucket bucket(String perMinute, long capacity, Ledger ledger, long level) {
    return bucket(spec(perMinute, capacity, FillMode.PRODUCER), ledger, level);
  }

  private static Instant at(double second) {
    return START.plusMillis(Math.round(second * 1_000));
  }

  /** A bucket with the five tokens of the day, which is UTC's. */
  private static Bucket ofToday() {
    Calendar day = Calendar.of("DAY", Optional.empty(), "00:00", "UTC", false);
    BucketSpec daily = new BucketSpec(day, 5, new FillPolicy(FillMode.SHARED, 15));
    return bucket(daily, Ledger.balanced(daily, START), 5);
  }

  /** A bucket of 3 a minute that was drained and filled at the start. */
  private static Bucket ahead() {
    return bucket("3", 3, new RateLedger(at(60), 0, START), 3);
  }

  private static Bucket foundEmpty(Bucket bucket, Instant now, long held) {
    return new Bucket(
        bucket.id(),
        bucket.spec(),
        bucket.ledger(),
        bucket.level(),
        Optional.of(bucket.at(now).hintWhenEmpty(held)),
        bucket.fillState(),
        bucket.version());
  }

  @Test
  void switch_of_the_line_changes_nothing_else() {
    Bucket direct =
        bucket(spec("6", 12, FillMode.DIRECT), RateLedger.balanced(START), 5).direct(START);

    Bucket off = direct.retuned(direct.spec().withLine(false), at(10));

    assertThat(off.fillState()).isEqualTo(direct.fillState());
    assertThat(off.ledger()).isEqualTo(direct.ledger());
    assertThat(off.level()).isEqualTo(direct.level());
    assertThat(off.version()).isEqualTo(direct.version() + 1);
    assertThat(off.retuned(direct.spec(), at(20)).spec()).isEqualTo(direct.spec());
    Bucket suspended = direct.suspended(direct.spec(), at(10));
    assertThat(suspended.retuned(direct.spec().withLine(false), at(20)).fillState().state())
        .isEqualTo(FillState.State.PRODUCED);
  }

  private static Bucket filled(Bucket bucket, long found, Instant now) {
    return bucket.filled(bucket.step(now, found), found, now);
  }

  // When the next token appears.

  @ParameterizedTest
  @CsvSource({"0,21", "5,21", "19.999,21", "20,41", "45,61", "60,81", "79.5,81"})
  void next_token_of_an_empty_bucket_is_announced_a_second_after_it_is_due(
      double now, double reported) {
    assertThat(ahead().at(at(now)).nextToken()).isEqualTo(at(reported));
  }

  @Test
  void unminted_tokens_are_announced_like_minted_ones() {
    assertThat(ahead().at(at(5)).nextTokens(3)).isEqualTo(at(61));
    assertThat(bucket("3", 6, new RateLedger(at(60), 0, START), 3).at(at(5)).nextTokens(5))
        .isEqualTo(at(101));
  }

  @Test
  void owed_token_is_announced_within_a_second() {
    assertThat(bucket("3", 3, new RateLedger(START, 0), 3).at(at(30)).nextToken())
        .isEqualTo(at(31));
    assertThat(bucket("3", 3, new RateLedger(START, 0), 3).at(at(30)).nextTokens(2))
        .isEqualTo(at(41));
  }

  @Test
  void slow_bucket_announces_the_next_whole_token() {
    assertThat(bucket("0.2", 5, new RateLedger(START, 0), 0).at(at(10)).nextToken())
        .isEqualTo(at(301));
  }

  @Test
  void bucket_whose_row_was_unreadable_is_owed_nothing() {
    Bucket recreated = Bucket.recreated(ID, ahead().spec(), START);

    assertThat(recreated.at(at(5)).nextToken()).isEqualTo(at(21));
    assertThat(recreated.level()).isZero();
  }

  @Test
  void hibernating_bucket_announces_tokens_as_if_woken_now() {
    Bucket asleep = bucket("3", 3, RateLedger.balanced(START), 3).hibernating(START);
    assertThat(asleep.at(at(3_600)).nextToken()).isEqualTo(at(3_621));
    assertThat(foundEmpty(asleep, at(3_600), 0).at(at(3_610)).nextToken()).isEqualTo(at(3_621));
    Instant late = START.plus(Duration.ofDays(20));
    assertThat(asleep.at(late).nextTokens(3)).isEqualTo(late.plusSeconds(1));
  }

  @Test
  void bucket_with_a_schedule_announces_whole_minutes() {
    Bucket direct =
        bucket(spec("6", 12, FillMode.DIRECT), RateLedger.balanced(START), 0).direct(START);
    assertThat(direct.at(at(10)).nextToken()).isEqualTo(at(71));
    assertThat(direct.at(at(10)).nextTokens(6)).isEqualTo(at(71));
    assertThat(direct.at(at(10)).nextTokens(7)).isEqualTo(at(131));
    assertThat(direct.at(at(10)).nextTokens(1_000)).isEqualTo(at(131));
  }

  // Empty hints.

  @Test
  void empty_hint_lasts_until_the_next_token() {
    assertThat(ahead().at(at(12)).hintWhenEmpty(0)).isEqualTo(new EmptyHint(at(12), at(21), 0));
    Bucket empty = foundEmpty(ahead(), at(12), 0);
    assertThat(empty.at(at(20.999)).isKnownEmpty()).isTrue();
    assertThat(empty.at(at(21)).isKnownEmpty()).isFalse();
    assertThat(empty.at(at(20)).emptyUntil()).contains(at(21));
    assertThat(empty.at(at(21)).emptyUntil()).isEmpty();
  }

  @Test
  void token_due_within_the_last_second_may_still_appear() {
    assertThat(ahead().at(at(20.4)).hintWhenEmpty(0).until()).isEqualTo(at(21));
    assertThat(foundEmpty(ahead(), at(20.4), 0).at(at(20.4)).nextToken()).isEqualTo(at(41));
  }

  @Test
  void token_due_during_an_empty_hint_is_still_announced() {
    assertThat(foundEmpty(ahead(), at(12), 0).at(at(20.4)).nextToken()).isEqualTo(at(21));
    assertThat(foundEmpty(ahead(), at(12), 0).at(at(20.4)).nextTokens(2)).isEqualTo(at(41));
  }

  @ParameterizedTest
  @CsvSource({"0,10", "1,1", "7,1"})
  void empty_hint_lasts_at_most_ten_seconds_and_one_second_while_tokens_are_held(
      long held, int seconds) {
    Bucket slow = bucket("0.2", 5, new RateLedger(START, 0), 0);
    assertThat(slow.at(at(5)).hintWhenEmpty(held).until()).isEqualTo(at(5 + seconds));
  }

  @Test
  void empty_hint_of_a_bucket_with_a_schedule_lasts_five_seconds() {
    Bucket direct =
        bucket(spec("6", 12, FillMode.DIRECT), RateLedger.balanced(START), 0).direct(START);
    assertThat(direct.at(at(10)).hintWhenEmpty(0).until()).isEqualTo(at(15));
  }

  @Test
  void fill_that_adds_tokens_or_finds_the_bucket_full_clears_the_empty_hint() {
    Bucket empty = foundEmpty(bucket("3", 3, new RateLedger(START, 0), 3), at(5), 0);
    assertThat(filled(empty, 0, at(10)).emptyHint()).as("on the way").isPresent();
    assertThat(filled(empty, 0, at(20)).emptyHint()).as("owed").isEmpty();
    assertThat(filled(empty, 3, at(10)).emptyHint()).as("full").isEmpty();
    assertThat(empty.retuned(empty.spec(), at(10)).emptyHint()).as("retuned").isEmpty();
  }

  @Test
  void last_pending_token_may_still_appear_within_a_second() {
    assertThat(ahead().at(at(60.4)).hintWhenEmpty(0).until()).isEqualTo(at(61));
  }

  // Lines.

  /** Slots at 21, 41, 61 and 81 seconds. */
  private static Line line() {
    return Line.opened(7, Rate.perMinute(3), at(21), at(21), START).withIssued(4);
  }

  @Test
  void caller_waits_for_the_slot_behind_the_line_unless_one_is_freed_or_a_token_is_spare() {
    Bucket bucket = ahead().with(line());
    Line freed = line().withFreed(Set.of(new Place(7, 3)));
    Line spare =
        new Line(7, 4, 1, at(21), at(21), line().rate(), line().rate(), 1, START, Set.of());

    assertThat(ahead().at(START).lineWait()).isZero();
    assertThat(ahead().at(START).waiting()).isZero();
    assertThat(bucket.at(START).lineWait()).isEqualTo(Duration.ofSeconds(101));
    assertThat(bucket.at(START).waiting()).isEqualTo(4);
    assertThat(bucket.at(at(41)).waiting()).isEqualTo(2);
    assertThat(bucket.with(freed).at(START).lineWait()).isEqualTo(Duration.ofSeconds(61));
    assertThat(bucket.with(spare).at(START).lineWait()).isZero();
    Line brief = Line.opened(7, Rate.perMinute(60), at(21), at(21), START);
    assertThat(bucket.with(brief).at(at(23)).lineWait()).as("the slot has come").isZero();
  }

  @Test
  void line_begins_at_the_next_token_although_its_first_caller_waits_longer() {
    assertThat(ahead().at(at(12)).lineOpened(at(41)).slot(2)).isEqualTo(at(41));
    assertThat(ahead().at(at(12)).lineOpened(at(41)).slot(3)).isEqualTo(at(61));
  }

  @Test
  void line_of_a_hibernating_bucket_begins_as_if_woken_now() {
    Bucket asleep = bucket("3", 3, RateLedger.balanced(START), 3).hibernating(START);

    assertThat(asleep.at(at(3_600)).lineOpened(at(3_621)).slot(2)).isEqualTo(at(3_641));
  }

  /** A late fill sends three owed tokens together. */
  @Test
  void line_of_a_bucket_whose_fill_is_late_begins_with_the_tokens_that_it_can_hold() {
    Line line = bucket("3", 3, new RateLedger(START, 0), 0).at(at(100)).lineOpened(at(101));

    assertThat(line.slot(3)).isEqualTo(at(102));
    assertThat(line.slot(4)).isEqualTo(at(122));
  }

  @Test
  void next_slot_is_known_only_if_its_token_is_minted() {
    Bucket bucket = ahead().with(line());

    assertThat(bucket.at(START).nextMintedSlot(new Place(7, 1))).contains(at(41));
    assertThat(bucket.at(START).nextMintedSlot(new Place(7, 3))).isEmpty();
  }

  @Test
  void line_with_slots_at_two_rates_waits_before_it_becomes_faster_again() {
    Line faster = line().retuned(Rate.perMinute(6), START, START);
    Bucket bucket = bucket("12", 12, new RateLedger(START, 0), 0).with(faster);

    assertThat(bucket.at(START).lineRetuned()).isEmpty();
    assertThat(bucket.at(faster.slot(5).plusSeconds(10)).lineRetuned()).isPresent();
  }

  @Test
  void tokens_are_prefetched_from_a_bucket_that_is_half_full() {
    Ledger ledger = new RateLedger(at(60), 0, START);

    assertThat(bucket("3", 4, ledger, 5).at(START).allowsPrefetch()).isTrue();
    assertThat(bucket("3", 4, ledger, 4).at(START).allowsPrefetch()).isFalse();
  }

  // Which claims request a fill.

  @Test
  void empty_bucket_needs_a_fill_if_no_token_is_pending() {
    assertThat(ahead().at(at(59.999)).needsFill()).isFalse();
    assertThat(ahead().at(at(60)).needsFill()).isTrue();
    Bucket asleep = ahead().hibernating(at(60));
    assertThat(asleep.at(at(60)).needsFill()).isTrue();
    assertThat(ahead().suspended(ahead().spec(), at(60)).at(at(600)).needsFill()).isFalse();
    Bucket direct = bucket(spec("6", 12, FillMode.DIRECT), RateLedger.balanced(START), 0);
    assertThat(direct.at(at(180)).needsFill()).as("schedule on time").isFalse();
    assertThat(direct.at(at(181)).needsFill()).as("schedule overdue").isTrue();
    assertThat(direct.direct(START).at(at(6_000)).needsFill()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"15,20145", "10080,10080"})
  void hibernating_bucket_needs_waking_if_its_tokens_may_have_expired(
      long hibernateAfterMinutes, int minutes) {
    Bucket asleep =
        bucket(
                new BucketSpec(
                    Rate.perMinute(3), 3, new FillPolicy(FillMode.PRODUCER, hibernateAfterMinutes)),
                RateLedger.balanced(START),
                3)
            .hibernating(START);
    assertThat(asleep.at(at(60 * minutes - 1)).needsWaking()).isFalse();
    assertThat(asleep.at(at(60 * minutes)).needsWaking()).isTrue();
    assertThat(ahead().at(at(60 * minutes)).needsWaking()).isFalse();
  }

  // Levels.

  @Test
  void level_after_an_empty_hint_counts_tokens_due_since_then_and_ignores_the_queues_count() {
    TokenQueue.Level reported = new TokenQueue.Level(3, 0, 0);
    assertThat(ahead().levelAt(reported, at(80))).isEqualTo(3);
    assertThat(foundEmpty(ahead(), at(5), 0).levelAt(reported, at(80))).isEqualTo(3);
    assertThat(foundEmpty(ahead(), at(25), 0).levelAt(reported, at(80))).isEqualTo(2);
    assertThat(foundEmpty(ahead(), at(45), 0).levelAt(reported, at(80))).isEqualTo(1);
    assertThat(foundEmpty(ahead(), at(65), 0).levelAt(reported, at(80))).isZero();
    assertThat(foundEmpty(ahead(), at(65), 2).levelAt(reported, at(80))).as("held").isEqualTo(2);
    assertThat(foundEmpty(ahead(), at(5), 0).levelAt(new TokenQueue.Level(0, 1, 0), at(80)))
        .isEqualTo(1);
  }

  @Test
  void level_after_an_empty_hint_includes_tokens_of_several_fills() {
    Bucket bucket = foundEmpty(bucket("3", 30, new RateLedger(at(60), 0, START), 3), at(5), 0);
    for (int minute = 1; minute <= 5; minute++) {
      bucket = filled(bucket, 3L * minute, at(60 * minute));
    }
    assertThat(bucket.emptyHint()).isPresent();
    assertThat(bucket.levelAt(new TokenQueue.Level(100, 0, 0), at(310))).isEqualTo(18);
  }

  @Test
  void level_of_a_calendar_is_the_queues_until_all_its_tokens_are_void() {
    TokenQueue.Level reported = new TokenQueue.Level(1, 2, 4);
    Instant tomorrow = Instant.parse("2026-03-02T00:00:00Z");

    assertThat(ofToday().levelAt(reported, tomorrow.minusMillis(1))).isEqualTo(7);
    assertThat(ofToday().levelAt(reported, tomorrow)).isZero();
  }

  @Test
  void tokens_of_a_suspended_bucket_count_until_they_expire() {
    Bucket suspended = ahead().suspended(ahead().spec(), START);
    Instant expiry = START.plus(DirectFill.LONGEST_LIFETIME);

    assertThat(suspended.retuned(ahead().spec(), expiry.minusMillis(1)).level()).isEqualTo(3);
    assertThat(suspended.retuned(ahead().spec(), expiry).level()).isZero();
  }

  @Test
  void level_right_after_a_retune_is_the_queues() {
    Bucket retuned = ahead().retuned(spec("6", 6, FillMode.PRODUCER), at(10));
    TokenQueue.Level reported = new TokenQueue.Level(0, 3, 0);
    assertThat(foundEmpty(retuned, at(50), 0).levelAt(reported, at(80))).isEqualTo(3);
    assertThat(foundEmpty(retuned, at(70.001), 0).levelAt(reported, at(80))).isZero();
  }

  @Test
  void claimable_tokens_are_those_that_have_appeared() {
    assertThat(ahead().at(at(20.9)).available()).isZero();
    assertThat(ahead().at(at(21)).available()).isEqualTo(1);
    assertThat(ahead().at(at(61)).available()).isEqualTo(3);
    assertThat(foundEmpty(ahead(), at(30), 0).at(at(35)).available()).isZero();
    assertThat(bucket("3", 3, RateLedger.balanced(START), 3).at(at(5)).available()).isEqualTo(3);
  }

  @Test
  void a_hint_that_ends_later_than_any_claim_stores_is_ignored() {
    Bucket forged = ahead().with(new EmptyHint(at(0), Instant.parse("2100-01-01T00:00:00Z"), 0));

    assertThat(forged.at(at(1)).isKnownEmpty()).isFalse();
    assertThat(forged.at(at(1)).nextToken()).isEqualTo(ahead().at(at(1)).nextToken());
  }

  @Test
  void a_hint_of_the_future_does_not_lower_the_level() {
    TokenQueue.Level reported = new TokenQueue.Level(3, 0, 0);
    Instant far = Instant.parse("2100-01-01T00:00:00Z");

    assertThat(ahead().with(new EmptyHint(far, far, 0)).levelAt(reported, at(65))).isEqualTo(3);
    assertThat(ahead().with(new EmptyHint(at(65), far, 0)).levelAt(reported, at(65))).isZero();
  }

  @Test
  void claimable_tokens_of_a_count_are_no_more_than_the_empty_hint_leaves() {
    Bucket empty = foundEmpty(ahead(), at(25), 2);

    assertThat(empty.availableIn(new TokenQueue.Level(5, 1, 1), at(80))).isEqualTo(2);
    assertThat(empty.availableIn(new TokenQueue.Level(1, 0, 0), at(80))).isEqualTo(1);
    assertThat(empty.availableIn(new TokenQueue.Level(5, 3, 3), at(80))).isZero();
  }

  // What fills a bucket.

  private static Bucket filledBy(FillMode mode) {
    return bucket(spec("6", 12, mode), RateLedger.balanced(START), 12);
  }

  @Test
  void shard_looks_at_the_buckets_that_it_fills_or_that_may_hibernate() {
    Bucket shared = filledBy(FillMode.SHARED);
    Bucket direct = filledBy(FillMode.DIRECT);
    BucketSpec wakeful = new BucketSpec(Rate.perMinute(6), 12, new FillPolicy(FillMode.DIRECT, 0));

    assertThat(shared.shardDueAt()).contains(Instant.EPOCH);
    assertThat(shared.hibernating(START).shardDueAt()).isEmpty();
    assertThat(ofToday().shardDueAt()).contains(Instant.parse("2026-03-02T00:00:00Z"));
    assertThat(direct.shardDueAt()).isEmpty();
    assertThat(direct.direct(START).shardDueAt()).contains(at(15 * 60));
    assertThat(bucket(wakeful, RateLedger.balanced(START), 12).direct(START).shardDueAt())
        .isEmpty();
    assertThat(filledBy(FillMode.PRODUCER).shardDueAt()).isEmpty();
  }

  @Test
  void schedule_depends_on_the_specification_and_without_a_shard_on_what_fills_the_bucket() {
    for (FillMode mode : FillMode.values()) {
      Bucket bucket = filledBy(mode);
      Bucket larger = bucket.retuned(spec("6", 18, mode), START);
      assertThat(bucket.hasSameScheduleAs(bucket.inspected(3, START))).as("%s", mode).isTrue();
      assertThat(bucket.hasSameScheduleAs(larger)).as("%s", mode).isFalse();
      assertThat(bucket.hasSameScheduleAs(bucket.hibernating(START)))
          .as("%s", mode)
          .isEqualTo(mode == FillMode.SHARED);
    }
  }

  /** Its tokens live for two minutes once they are of all ages. */
  @Test
  void tokens_live_as_long_as_direct_filling_needs_once_they_are_of_all_ages() {
    Duration shorter = Duration.ofMinutes(2);
    Bucket produced = filledBy(FillMode.DIRECT).retuned(spec("6", 12, FillMode.DIRECT), START);
    Bucket suspended = produced.suspended(produced.spec(), START);

    assertThat(produced.tokenLifetimeAt(at(119))).isEqualTo(DirectFill.LONGEST_LIFETIME);
    assertThat(produced.tokenLifetimeAt(at(120))).isEqualTo(shorter);
    assertThat(produced.direct(START).tokenLifetimeAt(START)).isEqualTo(shorter);
    assertThat(suspended.tokenLifetimeAt(at(600))).isEqualTo(DirectFill.LONGEST_LIFETIME);
    assertThat(filledBy(FillMode.SHARED).tokenLifetimeAt(at(600)))
        .isEqualTo(DirectFill.LONGEST_LIFETIME);
  }

  @ParameterizedTest
  @CsvSource({
    "PRODUCED, true, true",
    "HIBERNATING, true, true",
    "DIRECT, true, false",
    "SUSPENDED, false, true"
  })
  void queue_of_a_bucket_with_direct_filling_may_have_the_lifetimes_of_its_state(
      FillState.State state, boolean shorter, boolean longest) {
    Bucket bucket = filledBy(FillMode.DIRECT);
    Bucket entered =
        switch (state) {
          case PRODUCED -> bucket;
          case HIBERNATING -> bucket.hibernating(START);
          case DIRECT -> bucket.direct(START);
          case SUSPENDED -> bucket.suspended(bucket.spec(), START);
        };

    assertThat(entered.allowsTokenLifetime(Duration.ofMinutes(2))).isEqualTo(shorter);
    assertThat(entered.allowsTokenLifetime(DirectFill.LONGEST_LIFETIME)).isEqualTo(longest);
    assertThat(entered.allowsTokenLifetime(Duration.ofMinutes(3))).isFalse();
    assertThat(filledBy(FillMode.SHARED).allowsTokenLifetime(Duration.ofMinutes(2))).isFalse();
    assertThat(filledBy(FillMode.SHARED).allowsTokenLifetime(DirectFill.LONGEST_LIFETIME)).isTrue();
  }

  @Test
  void schedule_alone_fills_a_bucket_after_a_lifetime_and_the_delay_of_the_retention() {
    Bucket produced = filledBy(FillMode.DIRECT).retuned(spec("6", 18, FillMode.DIRECT), START);
    Instant settled = START.plus(Duration.ofMinutes(3 + 15));

    assertThat(produced.isReadyForDirectAt(settled.minusMillis(1))).isFalse();
    assertThat(produced.isReadyForDirectAt(settled)).isTrue();
    assertThat(produced.direct(START).isReadyForDirectAt(settled)).isFalse();
    assertThat(filledBy(FillMode.SHARED).isReadyForDirectAt(at(100_000))).isFalse();
  }

  @Test
  void bucket_hibernates_after_it_was_found_full_for_fifteen_minutes() {
    Bucket bucket = filledBy(FillMode.PRODUCER);
    Bucket full = bucket.inspected(12, START).inspected(13, at(60));

    assertThat(full.isDueToHibernateAt(at(15 * 60 - 1))).isFalse();
    assertThat(full.isDueToHibernateAt(at(15 * 60))).isTrue();
    assertThat(full.inspected(11, at(120)).isDueToHibernateAt(at(15 * 60))).isFalse();
    assertThat(bucket.isDueToHibernateAt(at(15 * 60))).isFalse();
  }

  @Test
  void fill_that_changed_nothing_but_the_versions_needs_no_write() {
    Bucket bucket = ahead();
    Bucket same = bucket.inspected(3, START).inspected(2, START).inspected(3, START);

    assertThat(bucket.inspected(2, START).inspected(3, START).differsOnlyInVersionFrom(same))
        .as("the state, full since")
        .isTrue();
    assertThat(bucket.inspected(2, START).differsOnlyInVersionFrom(bucket)).isFalse();
    assertThat(same.differsOnlyInVersionFrom(bucket)).as("full since").isFalse();
    assertThat(foundEmpty(bucket, at(5), 0).differsOnlyInVersionFrom(bucket)).isFalse();
    assertThat(filled(bucket, 2, at(65)).differsOnlyInVersionFrom(bucket)).isFalse();
  }

  @Test
  void tokens_that_could_not_be_sent_are_neither_in_the_bucket_nor_counted_as_minted() {
    Bucket filled = filled(bucket("6", 12, new RateLedger(START, 0), 0), 0, at(30));
    assertThat(filled.level()).isEqualTo(9);
    assertThat(filled.minted()).isEqualTo(9);

    Bucket owing = filled.withUnsent(5, at(30));

    assertThat(owing.level()).isEqualTo(4);
    assertThat(owing.minted()).isEqualTo(4);
    assertThat(owing.step(at(30), 4).tokens()).isEqualTo(5);
    assertThat(owing.withUnsent(9, at(30)).level()).isZero();
    assertThat(owing.withUnsent(9, at(30)).minted()).isZero();
  }

  @Test
  void place_was_taken_if_the_present_line_has_issued_its_number() {
    Bucket bucket = ahead().with(line());

    assertThat(bucket.hasIssued(new Place(7, 4))).isTrue();
    assertThat(bucket.hasIssued(new Place(7, 5))).isFalse();
    assertThat(bucket.hasIssued(new Place(6, 4))).isFalse();
    assertThat(ahead().hasIssued(new Place(7, 4))).isFalse();
  }

  @Test
  void prefetched_tokens_keep_the_bound_until_level_and_balance_exceed_a_minutes_tokens() {
    Bucket bucket = bucket("3", 30, new RateLedger(START, 0), 28);

    // Two tokens of room and three of a minute accrue in 100 seconds.
    assertThat(bucket.keepsBoundUntil(at(100))).isTrue();
    assertThat(bucket.keepsBoundUntil(at(100.001))).isFalse();
  }

  @Test
  void bucket_counts_all_tokens_in_full_until_a_schedule_fills_it_alone() {
    Bucket counted = filledBy(FillMode.DIRECT).mintingInFull();

    assertThat(counted.mintedInFull()).isTrue();
    assertThat(counted.hibernating(START).mintedInFull()).isTrue();
    assertThat(counted.direct(START).mintedInFull()).isFalse();
    assertThat(filledBy(FillMode.DIRECT).hibernating(START).mintedInFull()).isFalse();
  }

  // The line of a bucket.

  @Test
  void bucket_with_a_line_needs_a_fill_ten_seconds_before_its_tokens_end() {
    Bucket waiting = ahead().with(line());

    assertThat(waiting.at(at(49.999)).needsFill()).isFalse();
    assertThat(waiting.at(at(50)).needsFill()).isTrue();
    assertThat(ahead().at(at(50)).needsFill()).isFalse();
  }

  @Test
  void line_ends_when_the_next_slots_have_come_and_its_last_place_is_no_longer_due() {
    Line brief = Line.opened(7, Rate.perMinute(60), at(21), at(21), START);

    assertThat(ahead().with(line()).at(START).lineEnds(1)).contains(at(101));
    assertThat(ahead().with(line()).at(START).lineEnds(2)).contains(at(121));
    assertThat(ahead().with(brief).at(START).lineEnds(2)).contains(at(31));
    assertThat(ahead().at(START).lineEnds(1)).isEmpty();
  }

  @Test
  void new_line_has_a_higher_epoch_than_any_line_before() {
    assertThat(ahead().with(line()).at(at(200)).lineOpened(at(221)).epoch()).isEqualTo(8);
    assertThat(ahead().at(at(200)).lineOpened(at(221)).epoch()).isEqualTo(at(200).getEpochSecond());
  }

  @Test
  void line_whose_slots_are_years_ahead_counts_as_absent() {
    Instant far = Instant.parse("2100-01-01T00:00:00Z");
    Line wrong = Line.opened(7, Rate.perMinute(3), far, far, START);

    assertThat(ahead().with(line()).at(START).line()).isPresent();
    assertThat(ahead().with(wrong).at(START).line()).isEmpty();
  }

  @Test
  void queue_of_a_bucket_may_be_missing_for_five_seconds() {
    Bucket opened = Bucket.opened(ID, ahead().spec(), START);

    assertThat(opened.at(at(4.999)).mayLackQueue()).isTrue();
    assertThat(opened.at(at(5)).mayLackQueue()).isFalse();
  }
}
