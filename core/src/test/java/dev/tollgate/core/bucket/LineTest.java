package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.bucket.Line.Standing;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The slots of a line after changes. */
class LineTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final Duration INTERVAL = Duration.ofSeconds(2);
  private static final Rate RATE = Rate.perMinute(30);

  /** A line of 600 places, opened now. */
  private static Line line() {
    return Line.opened(0, RATE, NOW, NOW, NOW).withIssued(600);
  }

  /** A line of one place after its only spare token was taken. */
  private static Line spareTaken(Instant at) {
    return new Line(0, 1, 1, NOW, NOW, RATE, RATE, 1, NOW, Set.of()).withoutSpare(at);
  }

  private static Standing standing(Line line, long number, Instant now) {
    return line.standing(new Place(0, number), now);
  }

  @Test
  void move_shifts_all_slots_alike_and_makes_no_expired_place_valid() {
    Line line = line();
    Instant late = line.slot(300).plusSeconds(5);
    Instant next = late.plusSeconds(1);

    Line moved = line.moved(new Place(0, 300), RATE, next);

    Duration shift = Duration.between(line.slot(300), next);
    for (long number : new long[] {299, 300, 301, 600}) {
      assertThat(Duration.between(line.slot(number).plus(shift), moved.slot(number)).abs())
          .as("slot %d", number)
          .isLessThanOrEqualTo(Duration.ofMillis(1));
    }
    for (long number : new long[] {1, 200, 290}) {
      assertThat(standing(line, number, late)).isEqualTo(Standing.VOID);
      assertThat(standing(moved, number, next)).as("place %d", number).isEqualTo(Standing.VOID);
    }
  }

  /** A program that claims tokens may write any time. */
  @Test
  void spare_tokens_are_counted_although_one_was_taken_in_the_far_future() {
    Instant far = Instant.parse("2100-01-01T00:00:00Z");
    assertThat(spareTaken(NOW).counted(10, NOW, NOW).spare()).isZero();
    assertThat(spareTaken(NOW.minusSeconds(5)).counted(10, NOW, NOW).spare()).isEqualTo(9);

    assertThat(spareTaken(far).counted(10, NOW, NOW).spare()).isEqualTo(9);
  }

  @Test
  void lower_rate_keeps_the_slots_of_minted_tokens_and_moves_those_behind() {
    Instant through = NOW.plus(INTERVAL.multipliedBy(20));
    Line line = line();

    Line slowed = line.retuned(Rate.perMinute(15), through, through.plusSeconds(4));

    for (long number = 1; number <= 21; number++) {
      assertThat(Duration.between(line.slot(number), slowed.slot(number)).abs())
          .as("slot %d", number)
          .isLessThanOrEqualTo(Duration.ofMillis(1));
    }
    assertThat(slowed.slot(31)).isEqualTo(slowed.slot(21).plusSeconds(40));
  }

  @Test
  void higher_rate_keeps_all_slots_and_new_places_follow_at_it() {
    Line line = line();

    Line faster = line.retuned(Rate.perMinute(600), NOW, NOW);

    for (long number : new long[] {1, 2, 300, 600}) {
      assertThat(Duration.between(line.slot(number), faster.slot(number)).abs())
          .as("slot %d", number)
          .isLessThanOrEqualTo(Duration.ofMillis(1));
    }
    Instant last = line.slot(600).plus(INTERVAL);
    assertThat(faster.slot(611)).isEqualTo(last.plusSeconds(1));
    // Slots at three rates cannot be told apart, so the next higher rate waits.
    assertThat(faster.mustKeepRate(Rate.perMinute(1_200), NOW)).isTrue();
    assertThat(faster.mustKeepRate(Rate.perMinute(300), NOW)).isFalse();
    assertThat(faster.mustKeepRate(Rate.perMinute(1_200), last.plusSeconds(11))).isFalse();
  }

  @Test
  void slots_kept_through_two_changes_of_the_rate() {
    Line line = line();
    Line faster = line.retuned(Rate.perMinute(600), NOW, NOW);

    Line atAnchor = faster.retuned(Rate.perMinute(15), faster.slot(601), faster.slot(602));
    Line behindAnchor = faster.retuned(Rate.perMinute(15), faster.slot(611), faster.slot(612));

    assertThat(Duration.between(line.slot(300), atAnchor.slot(300)).abs())
        .isLessThanOrEqualTo(Duration.ofMillis(1));
    assertThat(Duration.between(faster.slot(605), behindAnchor.slot(605)).abs())
        .isLessThanOrEqualTo(Duration.ofMillis(1));
  }

  @Test
  void rate_that_is_lowered_when_one_token_is_minted_keeps_its_slot() {
    Line slowed = line().retuned(Rate.perMinute(15), NOW, NOW.plusSeconds(4));

    assertThat(slowed.slot(1)).isEqualTo(NOW);
    assertThat(slowed.slot(2)).isEqualTo(NOW.plusSeconds(4));
  }

  @Test
  void rate_that_is_lowered_before_any_token_is_minted_moves_the_first_slot_and_never_back() {
    Instant first = NOW.plusSeconds(10);
    Line line = Line.opened(0, RATE, first, first, NOW);
    Rate lower = Rate.perMinute(15);

    assertThat(line.retuned(lower, NOW, NOW.plusSeconds(20)).slot(1))
        .isEqualTo(NOW.plusSeconds(20));
    assertThat(line.retuned(lower, NOW, NOW.plusSeconds(3)).slot(1)).isEqualTo(first);
  }

  @Test
  void each_place_is_called_at_its_slot_before_and_behind_a_moved_one() {
    Line moved = line().moved(new Place(0, 300), RATE, NOW.plusSeconds(700));

    for (long number = 290; number <= 310; number++) {
      assertThat(moved.calledAt(moved.slot(number))).isEqualTo(number);
    }
  }

  @Test
  void next_slot_is_behind_the_place_and_after_now() {
    Line line = line();

    assertThat(line.nextSlot(new Place(0, 300), NOW)).isEqualTo(line.slot(301));
    assertThat(line.nextSlot(new Place(0, 2), line.slot(300))).isEqualTo(line.slot(301));
  }

  @Test
  void token_after_the_next_slot_leaves_one_more_in_the_bucket() {
    Line line = line();
    Instant fill = NOW.plusSeconds(20);
    Instant next = line.slot(12);

    assertThat(line.counted(10, next, fill).spare()).as("places 7 to 11 are due").isEqualTo(5);
    assertThat(line.counted(10, next.plusMillis(1), fill).spare()).isEqualTo(4);
  }

  @Test
  void line_without_places_is_not_live() {
    assertThat(line().withIssued(0).isLiveAt(NOW)).isFalse();
  }

  @Test
  void line_is_full_if_a_thousand_wait_and_the_last_thousand_for_more_than_a_minute() {
    assertThat(line().withIssued(1_030).isFullAt(NOW)).isFalse();
    assertThat(line().withIssued(1_031).isFullAt(NOW)).isTrue();

    Instant late = NOW.plusSeconds(300);
    Line slow = Line.opened(0, Rate.perMinute(1), late, late, NOW);
    assertThat(slow.withIssued(999).isFullAt(NOW)).isFalse();
    assertThat(slow.withIssued(1_000).isFullAt(NOW)).isTrue();
  }

  @Test
  void line_that_goes_on_for_a_hundred_and_fifty_thousand_tokens_keeps_its_slots_apart() {
    Line line = Line.opened(0, Rate.perMinute(6_000), NOW, NOW, NOW).withIssued(150_000);

    assertThat(line.slot(150_000)).isEqualTo(line.slot(149_000).plusSeconds(10));
    assertThat(line.ahead(new Place(0, 150_000), line.slot(149_000))).isEqualTo(999);
    assertThat(standing(line, 150_000, line.slot(150_000))).isEqualTo(Standing.DUE);
    assertThat(line.isLiveAt(line.slot(150_000))).isTrue();
  }

  /** The anchor is then ahead of all places. */
  @Test
  void tokens_of_due_places_are_not_spare_after_a_change_of_the_rate_before_the_first_slot() {
    Instant first = NOW.plusSeconds(8);
    Line line = Line.opened(0, RATE, NOW, first, NOW).withIssued(4);
    Line retuned = line.retuned(Rate.perMinute(40), NOW.plusSeconds(60), NOW.plusSeconds(62));

    Instant fill = NOW.plusSeconds(9);
    assertThat(line.counted(4, fill, fill).spare()).isZero();
    assertThat(retuned.counted(4, fill, fill).spare()).isZero();
  }

  @Test
  void cleared_line_has_no_places_and_voids_those_before() {
    Line cleared = line().cleared(NOW);

    assertThat(cleared.epoch()).isEqualTo(1);
    assertThat(cleared.isLiveAt(NOW)).isFalse();
    assertThat(standing(line(), 1, NOW)).isEqualTo(Standing.DUE);
    assertThat(standing(cleared, 1, NOW)).isEqualTo(Standing.VOID);
  }
}
