package dev.tollgate.core.testing.contract;

import static dev.tollgate.core.testing.Samples.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Ledger;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.RateLedger;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.Samples;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The contract of {@link Buckets}. */
public abstract class BucketsContract {
  private static final BucketSpec FASTER = BucketSpec.ofRate(Rate.perMinute(180));
  private static final BucketSpec SHARED =
      new BucketSpec(Rate.perMinute(60), 60, new FillPolicy(FillMode.SHARED, 15));

  /** The buckets under test; they may contain rows of other tests. */
  protected abstract Buckets buckets();

  private Bucket opened() {
    Bucket bucket = Samples.bucket(Samples.bucketId());
    assertThat(buckets().open(bucket)).isEqualTo(WriteResult.DONE);
    return bucket;
  }

  @Test
  void find_of_an_unknown_bucket_is_empty() {
    assertThat(buckets().find(Samples.bucketId())).isEmpty();
  }

  @Test
  void written_bucket_is_read_unchanged() {
    Bucket bucket =
        new Bucket(
            Samples.bucketId(),
            new BucketSpec(
                Rate.perMinute(new BigDecimal("0.000001")),
                100_000,
                new FillPolicy(FillMode.SHARED, 77)),
            new RateLedger(NOW, BucketSpec.MAX_CAPACITY * Ledger.UNIT - 1),
            77,
            Optional.of(new EmptyHint(NOW.plusNanos(1), NOW.plusMillis(1), 3)),
            new FillState(
                FillState.State.HIBERNATING, NOW.plusNanos(3), Optional.of(NOW.minusNanos(4))),
            0);

    buckets().open(bucket);

    assertThat(buckets().find(bucket.id())).contains(bucket);

    Bucket minting = Bucket.opened(Samples.bucketId(), FASTER, NOW).mintingInFull();
    buckets().open(minting);
    assertThat(buckets().find(minting.id())).contains(minting);
    Bucket direct = minting.direct(NOW);
    buckets().replace(direct);
    assertThat(direct.mintedInFull()).isFalse();
    assertThat(buckets().find(minting.id())).contains(direct);
  }

  @Test
  void bucket_of_a_calendar_is_read_unchanged_also_after_changes_from_and_to_a_rate() {
    Calendar week = Calendar.of("WEEK", Optional.of("SUNDAY"), "02:30", "Europe/Berlin", true);
    BucketSpec weekly = new BucketSpec(week, 1_000, new FillPolicy(FillMode.SHARED, 0));
    BucketSpec daily =
        new BucketSpec(Calendar.of("DAY", Optional.empty(), "00:00", "UTC", false), 5);
    Bucket bucket = Bucket.opened(Samples.bucketId(), weekly, NOW);
    buckets().open(bucket);
    assertThat(buckets().find(bucket.id())).contains(bucket);

    for (BucketSpec spec : List.of(daily, FASTER, weekly)) {
      bucket = bucket.retuned(spec, NOW);
      assertThat(buckets().replace(bucket)).isEqualTo(WriteResult.DONE);
      assertThat(buckets().find(bucket.id())).contains(bucket);
    }
  }

  @Test
  void shard_maintains_a_bucket_of_a_calendar_when_its_next_period_begins() {
    Calendar day = Calendar.of("DAY", Optional.empty(), "00:00", "UTC", false);
    BucketSpec spec = new BucketSpec(day, 5, new FillPolicy(FillMode.SHARED, 0));
    Bucket owed = Bucket.opened(Samples.bucketId(), spec, NOW);
    buckets().open(owed);
    Shard shard = Shard.of(owed.id().tenant());
    assertThat(due(shard, NOW)).contains(owed.id());

    Bucket full = owed.filled(owed.step(NOW, 0), 0, NOW);
    buckets().replace(full);
    assertThat(due(shard, day.next(NOW).minusMillis(1))).doesNotContain(owed.id());
    assertThat(due(shard, day.next(NOW))).contains(owed.id());
  }

  @Test
  void open_of_an_existing_bucket_changes_nothing() {
    Bucket bucket = opened();

    Bucket other = Bucket.opened(bucket.id(), FASTER, NOW.plusSeconds(1));
    assertThat(buckets().open(other)).isEqualTo(WriteResult.CONFLICT);

    assertThat(buckets().find(bucket.id())).contains(bucket);
  }

  @Test
  void replace_of_the_current_version_succeeds() {
    Bucket bucket = opened();
    Bucket next = bucket.retuned(FASTER, NOW.plusSeconds(1));

    assertThat(buckets().replace(next)).isEqualTo(WriteResult.DONE);

    assertThat(buckets().find(bucket.id())).contains(next);
  }

  @Test
  void replace_of_an_old_version_changes_nothing() {
    Bucket bucket = opened();
    Bucket next = bucket.retuned(FASTER, NOW.plusSeconds(1));
    buckets().replace(next);

    Bucket late = bucket.retuned(bucket.spec(), NOW.plusSeconds(2));
    assertThat(buckets().replace(late)).isEqualTo(WriteResult.CONFLICT);

    assertThat(buckets().find(bucket.id())).contains(next);
  }

  @Test
  void replace_never_creates_a_bucket() {
    Bucket next = Samples.bucket(Samples.bucketId()).retuned(FASTER, NOW);

    assertThat(buckets().replace(next)).isEqualTo(WriteResult.CONFLICT);

    assertThat(buckets().find(next.id())).isEmpty();
  }

  @Test
  void one_of_many_concurrent_writes_of_a_version_succeeds() {
    Bucket bucket = opened();

    List<WriteResult> answers =
        Race.of(8, i -> buckets().replace(bucket.retuned(FASTER, NOW.plusSeconds(i))));

    assertThat(Collections.frequency(answers, WriteResult.DONE)).isEqualTo(1);
  }

  private static final Line LINE =
      new Line(
          2,
          5,
          3,
          NOW.plusNanos(1),
          NOW.plusSeconds(1),
          new Rate(1),
          new Rate(2),
          4,
          NOW.minusSeconds(9),
          Set.of());

  /** A bucket with this line. */
  private Bucket with(Line line) {
    Bucket bucket = opened();
    assertThat(buckets().changeLine(bucket.id(), Optional.empty(), line)).contains(line);
    return bucket.with(line);
  }

  private Optional<Line> line(Bucket bucket) {
    return buckets().find(bucket.id()).orElseThrow().line();
  }

  @Test
  void line_is_read_as_written_and_changes_no_version() {
    Bucket bucket = with(LINE);

    assertThat(buckets().find(bucket.id())).contains(bucket);
    assertThat(buckets().replace(bucket.retuned(FASTER, NOW))).isEqualTo(WriteResult.DONE);
    assertThat(line(bucket)).contains(LINE);
  }

  @Test
  void replace_leaves_the_stored_line() {
    Bucket bucket = with(LINE);
    Bucket stale = bucket.with(LINE.extended());

    assertThat(buckets().replace(stale.retuned(FASTER, NOW))).isEqualTo(WriteResult.DONE);

    assertThat(line(bucket)).contains(LINE);
  }

  @Test
  void replace_removes_what_the_next_state_does_not_have() {
    Bucket bucket = opened();
    buckets().rememberEmpty(bucket, seconds(1));
    Bucket shared = bucket.retuned(SHARED, NOW);
    assertThat(buckets().replace(shared)).isEqualTo(WriteResult.DONE);

    Bucket next = shared.retuned(FASTER, NOW.plusSeconds(1));
    assertThat(buckets().replace(next)).isEqualTo(WriteResult.DONE);

    assertThat(buckets().find(bucket.id())).contains(next);
    assertThat(due(Shard.of(bucket.id().tenant()), NOW.plusSeconds(60)))
        .doesNotContain(bucket.id());
  }

  @Test
  void line_is_not_opened_or_changed_if_another_caller_was_first() {
    Bucket bucket = with(LINE);
    Line moved = movedTo(4);

    assertThat(buckets().changeLine(bucket.id(), Optional.empty(), moved)).isEmpty();
    assertThat(buckets().changeLine(bucket.id(), Optional.of(moved), LINE)).isEmpty();
    assertThat(line(bucket)).contains(LINE);

    assertThat(buckets().changeLine(bucket.id(), Optional.of(LINE), moved)).contains(moved);
    assertThat(line(bucket)).contains(moved);
  }

  /** {@link #LINE} with another anchor and other slots. */
  private static Line movedTo(long anchor) {
    return new Line(
        2, 5, anchor, NOW, NOW, LINE.rate(), LINE.before(), 4, NOW.minusSeconds(9), Set.of());
  }

  @Test
  void freed_place_is_taken_once() {
    Bucket bucket = with(LINE);
    Set<Place> freed = Set.of(new Place(2, 3), new Place(2, 4), new Place(1, 9));

    freed.forEach(place -> buckets().freePlace(bucket.id(), place));

    assertThat(line(bucket)).contains(LINE.withFreed(freed));
    Set<Place> passed = Set.of(new Place(1, 9), new Place(1, 7));
    assertThat(
            Race.of(
                8,
                i -> buckets().takeFreed(bucket.id(), new Place(2, 3), i == 0 ? passed : Set.of())))
        .containsOnlyOnce(WriteResult.DONE);
    buckets().takeFreed(bucket.id(), new Place(2, 4), passed);
    assertThat(line(bucket)).contains(LINE);
  }

  @Test
  void line_records_a_thousand_freed_places() {
    Bucket bucket = with(LINE);
    for (int i = 1; i <= Line.MAX_FREED + 2; i++) {
      buckets().freePlace(bucket.id(), new Place(2, i));
    }
    assertThat(line(bucket).orElseThrow().freed()).hasSize(Line.MAX_FREED);
  }

  @Test
  void changes_of_a_line_leave_its_freed_places() {
    Bucket bucket = with(LINE);
    Set<Place> freed = Set.of(new Place(2, 3));
    buckets().freePlace(bucket.id(), new Place(2, 3));
    Line moved = movedTo(4).withFreed(freed);

    buckets().changeLine(bucket.id(), line(bucket), moved);

    assertThat(line(bucket)).contains(moved);
    Line cleared = LINE.cleared(NOW).withFreed(freed);
    buckets().clearLine(bucket.id(), moved, NOW);
    assertThat(line(bucket).orElseThrow().freed()).isEqualTo(cleared.freed());
  }

  @Test
  void missing_bucket_frees_no_place() {
    BucketId missing = Samples.bucketId();
    buckets().freePlace(missing, new Place(2, 3));
    assertThat(buckets().takeFreed(missing, new Place(2, 3), Set.of()))
        .isEqualTo(WriteResult.CONFLICT);
    assertThat(buckets().find(missing)).isEmpty();
  }

  @Test
  void places_that_are_taken_during_a_change_stay_taken() {
    Bucket bucket = with(LINE);
    assertThat(buckets().takePlace(bucket.id(), LINE)).contains(LINE.withIssued(6));
    Line moved = movedTo(4);

    assertThat(buckets().changeLine(bucket.id(), Optional.of(LINE), moved))
        .contains(moved.withIssued(6));

    assertThat(line(bucket)).contains(moved.withIssued(6));
  }

  @Test
  void no_other_line_is_opened_while_places_are_taken() {
    Bucket bucket = with(LINE);
    Line other = LINE.cleared(NOW).withIssued(1);
    buckets().takePlace(bucket.id(), LINE);

    assertThat(buckets().changeLine(bucket.id(), Optional.of(LINE), other)).isEmpty();
    assertThat(buckets().changeLine(bucket.id(), Optional.of(LINE.withIssued(6)), other))
        .contains(other);
  }

  @Test
  void concurrent_callers_take_different_places() {
    Bucket bucket = with(LINE);

    List<Optional<Line>> taken = Race.of(12, i -> buckets().takePlace(bucket.id(), LINE));

    assertThat(taken.stream().map(line -> line.orElseThrow().issued()).distinct()).hasSize(12);
    assertThat(line(bucket)).contains(LINE.withIssued(17));
  }

  @Test
  void several_places_are_taken_at_once() {
    Bucket bucket = with(LINE);

    assertThat(buckets().takePlaces(bucket.id(), LINE, 7)).contains(LINE.withIssued(12));
    assertThat(buckets().takePlaces(bucket.id(), LINE, 2)).contains(LINE.withIssued(14));

    assertThat(line(bucket)).contains(LINE.withIssued(14));
  }

  @Test
  void no_place_is_taken_in_another_line_or_without_one() {
    Bucket bucket = with(LINE);
    Line cleared = LINE.cleared(NOW);

    assertThat(buckets().takePlace(bucket.id(), cleared)).isEmpty();
    assertThat(buckets().takePlace(opened().id(), LINE)).isEmpty();
    assertThat(buckets().takePlace(Samples.bucketId(), LINE)).isEmpty();
    assertThat(line(bucket)).contains(LINE);
  }

  @Test
  void switch_of_the_line_is_stored_and_leaves_the_line() {
    Bucket bucket = with(LINE);
    Bucket off = bucket.retuned(bucket.spec().withLine(false), NOW);
    assertThat(buckets().replace(off)).isEqualTo(WriteResult.DONE);
    assertThat(buckets().find(bucket.id())).contains(off);
    assertThat(line(bucket)).contains(LINE);

    Bucket on = off.retuned(bucket.spec(), NOW);
    assertThat(buckets().replace(on)).isEqualTo(WriteResult.DONE);
    assertThat(buckets().find(bucket.id())).contains(on);
  }

  @Test
  void cleared_line_has_no_places_and_another_epoch() {
    Bucket bucket = with(LINE);
    buckets().takePlace(bucket.id(), LINE);
    buckets().takeSpare(bucket.id(), LINE.epoch(), NOW);

    List<WriteResult> cleared = Race.of(5, i -> buckets().clearLine(bucket.id(), LINE, NOW));

    assertThat(Collections.frequency(cleared, WriteResult.DONE)).isEqualTo(1);
    assertThat(line(bucket)).contains(LINE.cleared(NOW));
    assertThat(buckets().takePlace(bucket.id(), LINE)).isEmpty();
    assertThat(buckets().clearLine(opened().id(), LINE, NOW)).isEqualTo(WriteResult.CONFLICT);
    assertThat(buckets().clearLine(Samples.bucketId(), LINE, NOW)).isEqualTo(WriteResult.CONFLICT);
  }

  @Test
  void no_more_spare_tokens_are_taken_than_there_are() {
    Bucket bucket = with(LINE);

    List<WriteResult> taken = Race.of(9, i -> buckets().takeSpare(bucket.id(), 2, NOW));

    assertThat(Collections.frequency(taken, WriteResult.DONE)).isEqualTo(4);
    assertThat(line(bucket).orElseThrow().spare()).isZero();
    assertThat(line(bucket).orElseThrow().spareTakenAt()).isEqualTo(NOW);
    assertThat(buckets().takeSpare(with(LINE).id(), 3, NOW)).isEqualTo(WriteResult.CONFLICT);
    assertThat(buckets().takeSpare(opened().id(), 0, NOW)).isEqualTo(WriteResult.CONFLICT);
  }

  private static EmptyHint seconds(long since) {
    return new EmptyHint(NOW.plusSeconds(since), NOW.plusSeconds(since + 7), 2);
  }

  private Optional<EmptyHint> remembered(Bucket bucket) {
    return buckets().find(bucket.id()).orElseThrow().emptyHint();
  }

  @Test
  void empty_hint_is_read_and_changes_no_version() {
    Bucket bucket = opened();

    assertThat(buckets().rememberEmpty(bucket, seconds(1))).isEqualTo(WriteResult.DONE);

    Bucket found = buckets().find(bucket.id()).orElseThrow();
    assertThat(found.emptyHint()).contains(seconds(1));
    assertThat(found.version()).isEqualTo(bucket.version());
    assertThat(found.hintVersion()).isEqualTo(bucket.hintVersion());
    assertThat(found.ledger()).isEqualTo(bucket.ledger());
  }

  @Test
  void one_of_many_concurrent_empty_hints_is_written() {
    Bucket bucket = opened();

    List<WriteResult> answers = Race.of(8, i -> buckets().rememberEmpty(bucket, seconds(i)));

    assertThat(Collections.frequency(answers, WriteResult.DONE)).isEqualTo(1);
  }

  @Test
  void empty_hint_is_replaced_by_a_newer_one() {
    Bucket bucket = opened();
    buckets().rememberEmpty(bucket, seconds(1));

    Bucket again = buckets().find(bucket.id()).orElseThrow();
    assertThat(buckets().rememberEmpty(again, seconds(9))).isEqualTo(WriteResult.DONE);

    assertThat(remembered(bucket)).contains(seconds(9));
  }

  @Test
  void empty_hint_for_an_old_version_is_not_written() {
    Bucket bucket = opened();
    buckets().replace(bucket.retuned(FASTER, NOW));

    assertThat(buckets().rememberEmpty(bucket, seconds(1))).isEqualTo(WriteResult.CONFLICT);

    assertThat(remembered(bucket)).isEmpty();
  }

  @Test
  void empty_hint_for_a_missing_bucket_creates_none() {
    Bucket bucket = opened();
    buckets().remove(bucket.id());

    assertThat(buckets().rememberEmpty(bucket, seconds(1))).isEqualTo(WriteResult.CONFLICT);
    buckets().forgetEmpty(bucket.id());

    assertThat(buckets().find(bucket.id())).isEmpty();
  }

  @Test
  void replace_clears_the_empty_hint() {
    Bucket bucket = opened();
    buckets().rememberEmpty(bucket, seconds(1));

    buckets().replace(bucket.retuned(FASTER, NOW));

    assertThat(remembered(bucket)).isEmpty();
  }

  @Test
  void forget_clears_the_empty_hint_and_conflicts_with_earlier_readers() {
    Bucket bucket = opened();
    buckets().forgetEmpty(bucket.id());
    buckets().rememberEmpty(bucket, seconds(1));

    buckets().forgetEmpty(bucket.id());

    Bucket current = buckets().find(bucket.id()).orElseThrow();
    assertThat(current.emptyHint()).isEmpty();
    assertThat(current.ledger()).isEqualTo(bucket.ledger());
    assertThat(buckets().rememberEmpty(bucket, seconds(1))).isEqualTo(WriteResult.CONFLICT);
    assertThat(buckets().replace(bucket.inspected(1, NOW))).isEqualTo(WriteResult.CONFLICT);
    assertThat(buckets().replace(current.inspected(1, NOW))).isEqualTo(WriteResult.DONE);
  }

  @Test
  void list_returns_only_the_tenants_buckets_by_action() {
    Bucket connect = opened();
    opened();
    Bucket mail = Samples.bucket(new BucketId(connect.id().tenant(), new Action("send-email")));
    Bucket answer = Samples.bucket(new BucketId(connect.id().tenant(), new Action("answer")));
    buckets().open(mail);
    buckets().open(answer);

    assertThat(buckets().list(connect.id().tenant()).buckets())
        .containsExactly(answer, connect, mail);
  }

  @Test
  void due_returns_the_shards_buckets_that_are_filled_together() {
    Bucket bucket = Bucket.opened(Samples.bucketId(), SHARED, NOW);
    Shard shard = Shard.of(bucket.id().tenant());
    buckets().open(bucket);
    Bucket otherBucket = opened();

    assertThat(due(shard, NOW)).contains(bucket.id()).doesNotContain(otherBucket.id());
    assertThat(due(new Shard((shard.number() + 1) % Shard.COUNT), NOW)).doesNotContain(bucket.id());

    buckets().replace(bucket.hibernating(NOW));
    assertThat(due(shard, NOW)).doesNotContain(bucket.id());
  }

  /** All due buckets of a shard, read in pages of two. */
  private List<BucketId> due(Shard shard, Instant now) {
    List<BucketId> all = new ArrayList<>();
    Optional<String> cursor = Optional.empty();
    do {
      Page<BucketId> page = buckets().due(shard, now, cursor, 2);
      assertThat(page.items()).hasSizeLessThanOrEqualTo(2);
      all.addAll(page.items());
      cursor = page.next();
      assertThat(cursor.orElse("a")).matches("[A-Za-z0-9%._+-]+");
    } while (cursor.isPresent());
    return all;
  }

  @Test
  void due_has_the_same_order_at_each_call_and_continues_after_buckets_that_are_gone() {
    BucketSpec shared = new BucketSpec(Rate.perMinute(6), 12, new FillPolicy(FillMode.SHARED, 15));
    TenantId tenant = Samples.bucketId().tenant();
    List<BucketId> all =
        IntStream.range(0, 7)
            .mapToObj(i -> new BucketId(tenant, new Action("action-" + i)))
            .toList();
    all.forEach(id -> buckets().open(Bucket.opened(id, shared, NOW)));
    Shard shard = Shard.of(tenant);
    List<BucketId> before = due(shard, NOW);
    before.retainAll(all);
    assertThat(before).containsExactlyInAnyOrderElementsOf(all);
    assertThat(due(shard, NOW)).containsSubsequence(before);

    Page<BucketId> first = buckets().due(shard, NOW, Optional.empty(), 1_000);
    List<BucketId> whole = first.items();
    Page<BucketId> start =
        buckets().due(shard, NOW, Optional.empty(), whole.indexOf(before.get(2)) + 1);
    buckets().remove(before.get(2));
    assertThat(
            buckets().due(shard, NOW, start.next(), 1_000).items().stream().filter(all::contains))
        .containsExactlyElementsOf(before.subList(3, 7));
  }

  @Test
  void due_returns_a_direct_bucket_when_its_check_is_due() {
    BucketSpec direct = new BucketSpec(Rate.perMinute(6), 12, new FillPolicy(FillMode.DIRECT, 15));
    Bucket bucket = Bucket.opened(Samples.bucketId(), direct, NOW);
    Shard shard = Shard.of(bucket.id().tenant());
    buckets().open(bucket);
    buckets().replace(bucket.direct(NOW));

    Instant turn = NOW.plus(Duration.ofMinutes(15));
    assertThat(due(shard, turn.minusNanos(1))).doesNotContain(bucket.id());
    assertThat(due(shard, turn)).contains(bucket.id());
  }

  @Test
  void remove_is_idempotent() {
    Bucket bucket = opened();

    buckets().remove(bucket.id());
    buckets().remove(bucket.id());

    assertThat(buckets().find(bucket.id())).isEmpty();
    assertThat(buckets().list(bucket.id().tenant()).buckets()).isEmpty();
  }
}
