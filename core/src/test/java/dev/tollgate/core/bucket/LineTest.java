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
}
