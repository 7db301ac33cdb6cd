package dev.tollgate.core.bucket.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.claim.ClaimPolicy.Enter;
import dev.tollgate.core.bucket.claim.ClaimPolicy.Receive;
import dev.tollgate.core.bucket.claim.ClaimPolicy.Redeem;
import dev.tollgate.core.bucket.claim.ClaimPolicy.Refuse;
import dev.tollgate.core.bucket.claim.ClaimPolicy.Request;
import dev.tollgate.core.bucket.claim.ClaimPolicy.Step;
import dev.tollgate.core.bucket.claim.ClaimPolicy.TakeSpare;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The rate is one token in two seconds. Places 1 to 5 of the line have slots from START + 2 s. */
final class ClaimPolicyTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final BucketSpec SPEC =
      new BucketSpec(Rate.perMinute(30), 30, new FillPolicy(FillMode.PRODUCER, 0));
  private static final long EPOCH = START.getEpochSecond();

  private static final Bucket EMPTY_LINE = filled(SPEC);
  private static final Bucket WAITING = EMPTY_LINE.with(line(0));
  private static final Bucket SPARE = EMPTY_LINE.with(line(1));
  private static final Bucket SWITCHED_OFF = filled(SPEC.withLine(false)).with(line(1));

  /** A bucket whose tokens until START + 1 minute are minted, after its first ones were claimed. */
  private static Bucket filled(BucketSpec spec) {
    BucketId id = new BucketId(new TenantId("acme"), Action.CONNECT);
    Bucket opened = Bucket.opened(id, spec, START);
    Bucket full = opened.filled(opened.step(START, 0), 0, START);
    return full.filled(full.step(START, 0), 0, START);
  }

  private static Line line(long spare) {
    Instant slot = at(2);
    Rate rate = SPEC.rate();
    return new Line(EPOCH, 5, 1, slot, slot, rate, rate, spare, START.minusSeconds(60), Set.of());
  }

  private static Instant at(int seconds) {
    return START.plusSeconds(seconds);
  }

  private static Optional<Place> place(long number) {
    return Optional.of(new Place(EPOCH, number));
  }

  private static Request waits(long number) {
    return new Request(1, place(number), true);
  }

  private static final Request NEW = new Request(1, Optional.empty(), true);
  private static final Request OLD = new Request(1, Optional.of(new Place(EPOCH - 1, 1)), true);
  private static final Request ONE = Request.withoutPlace(1);
  private static final Request THREE = Request.withoutPlace(3);

  private static Step refuse(int seconds) {
    return new Refuse(new Denied(at(seconds)));
  }

  private static Step refuse(int seconds, long number) {
    return new Refuse(new Denied(at(seconds), place(number)));
  }

  static Stream<Arguments> steps() {
    Line waiting = line(0);
    return Stream.of(
        Arguments.of("nobody waits", EMPTY_LINE, 0, NEW, new Receive()),
        Arguments.of("nobody waits", EMPTY_LINE, 0, waits(1), new Receive()),
        Arguments.of("nobody waits", EMPTY_LINE, 0, THREE, new Receive()),
        Arguments.of("all places have passed", WAITING, 600, NEW, new Receive()),
        Arguments.of("the line is off", SWITCHED_OFF, 0, waits(5), new Receive()),
        Arguments.of("a place is due", WAITING, 4, waits(2), new Redeem(place(2).orElseThrow())),
        Arguments.of("a place is early", WAITING, 0, waits(5), refuse(10, 5)),
        Arguments.of("a place of another line", WAITING, 0, OLD, new Enter(waiting)),
        Arguments.of("a new caller", WAITING, 0, NEW, new Enter(waiting)),
        Arguments.of("no place, early", WAITING, 0, ONE, refuse(12)),
        Arguments.of("no place, next slot", WAITING, 12, ONE, new Enter(waiting)),
        Arguments.of("several tokens", WAITING, 0, THREE, new Refuse(new Denied(untilLineEnds()))),
        Arguments.of("a spare token", SPARE, 0, NEW, new TakeSpare(new Enter(line(1)))),
        Arguments.of("a spare token", SPARE, 0, ONE, new TakeSpare(refuse(12))),
        Arguments.of("a spare token", SPARE, 0, waits(5), new TakeSpare(refuse(10, 5))),
        Arguments.of("a due place", SPARE, 4, waits(2), new Redeem(place(2).orElseThrow())),
        Arguments.of(
            "a spare token, several", SPARE, 0, THREE, new Refuse(new Denied(untilLineEnds()))));
  }

  /** The last place is due for ten seconds. */
  private static Instant untilLineEnds() {
    return at(10).plusSeconds(10);
  }

  @ParameterizedTest(name = "{0}: {3}")
  @MethodSource("steps")
  void step_follows_from_the_row(String label, Bucket row, int second, Request request, Step step) {
    assertThat(ClaimPolicy.next(row.at(at(second)), request)).isEqualTo(step);
  }

  static Stream<Arguments> refusals() {
    Bucket empty = EMPTY_LINE.with(new EmptyHint(at(59), at(62), 0));
    Bucket emptyWithoutLine = filled(SPEC.withLine(false)).with(new EmptyHint(at(59), at(62), 0));
    return Stream.of(
        Arguments.of("it may have tokens", EMPTY_LINE, 0, THREE, Optional.empty()),
        Arguments.of("it opens the line", empty, 60, NEW, Optional.empty()),
        Arguments.of("it opens none", emptyWithoutLine, 60, NEW, Optional.of(at(62))),
        Arguments.of("it takes no place", empty, 60, ONE, Optional.of(at(62))),
        Arguments.of("the hint has ended", empty, 62, ONE, Optional.empty()),
        Arguments.of("a place is early", WAITING, 0, waits(5), Optional.of(at(10))),
        Arguments.of("a place is due", WAITING, 4, waits(2), Optional.empty()),
        Arguments.of("it takes a place", WAITING, 0, NEW, Optional.empty()),
        Arguments.of("it takes a spare token", SPARE, 0, waits(5), Optional.empty()),
        Arguments.of("several tokens", WAITING, 0, THREE, Optional.of(untilLineEnds())));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refusals")
  void old_row_refuses_only_who_need_not_write(
      String label, Bucket known, int second, Request request, Optional<Instant> retryAt) {
    assertThat(ClaimPolicy.refusal(known.at(at(second)), request).map(Denied::retryAt))
        .isEqualTo(retryAt);
  }

  @Test
  void old_row_whose_line_needs_a_fill_or_another_rate_refuses_nobody() {
    Instant late = at(60);
    Bucket due = EMPTY_LINE.with(line(0).withIssued(60));
    Bucket faster = due.retuned(new BucketSpec(Rate.perMinute(60), 30, SPEC.fillPolicy()), START);

    assertThat(ClaimPolicy.refusal(due.at(START), waits(55))).isPresent();
    assertThat(ClaimPolicy.refusal(due.at(late), waits(55))).isEmpty();
    assertThat(ClaimPolicy.refusal(faster.at(START), waits(55))).isEmpty();
  }

  @Test
  void place_without_a_token_stays_due_for_a_while_and_moves_then() {
    Place place = place(2).orElseThrow();

    assertThat(ClaimPolicy.moved(WAITING.at(at(5)), place, at(6))).isEmpty();
    assertThat(ClaimPolicy.moved(WAITING.at(at(8)), place, at(9)))
        .hasValueSatisfying(moved -> assertThat(moved.slot(2)).isEqualTo(at(9)));
  }

  @Test
  void places_whose_tokens_no_fill_has_minted_stay_while_the_fill_is_late() {
    Place owed = new Place(EPOCH, 40);
    Bucket late = EMPTY_LINE.with(line(0).withIssued(40));

    assertThat(ClaimPolicy.moved(late.at(at(85)), owed, at(86))).isEmpty();
    assertThat(Duration.between(at(80), late.line().orElseThrow().slot(40))).isZero();
  }
}
