package dev.tollgate.core.bucket.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ReturnSlotsTest {
  private static final BucketId ID = new BucketId(new TenantId("acme"), Action.MESSAGE);
  private static final BucketSpec SPEC =
      new BucketSpec(Rate.perMinute(30), 30, new FillPolicy(FillMode.PRODUCER, 0));
  private static final Duration INTERVAL = Duration.ofSeconds(2);

  private final AdmissionFixture ports = new AdmissionFixture();
  private final Claims claims = ports.claims();
  private final ReturnSlots slots = new ReturnSlots(ports.buckets(), ports.clock());

  ReturnSlotsTest() {
    ports.open(ID, SPEC);
    drain();
  }

  private void drain() {
    while (claims.spendUpTo(ID, Optional.of(row()), 1).tokens() > 0) {
      ports.clock().advance(Duration.ofMillis(1));
    }
  }

  private Bucket row() {
    return ports.buckets().find(ID).orElseThrow();
  }

  private List<Instant> take(int count) {
    return slots.take(row(), count);
  }

  private long issued() {
    return row().line().map(Line::issued).orElse(0L);
  }

  /** The slots of this many tokens from {@code first} on. */
  private static List<Instant> from(Instant first, int count) {
    return IntStream.range(0, count).mapToObj(i -> first.plus(INTERVAL.multipliedBy(i))).toList();
  }

  @Test
  void slots_follow_each_other_at_the_rate_in_batches_of_any_size() {
    Instant next = row().at(ports.clock().instant()).nextToken();
    List<Instant> taken = new ArrayList<>(take(1));
    taken.addAll(take(10));
    taken.addAll(take(3));

    assertThat(taken).isSorted().doesNotHaveDuplicates().hasSize(14);
    assertThat(taken.get(0)).isEqualTo(next);
    assertThat(taken.subList(1, 14)).isEqualTo(from(taken.get(1), 13));
    assertThat(Duration.between(next, taken.get(13)))
        .isBetween(INTERVAL.multipliedBy(12), INTERVAL.multipliedBy(13));
  }

  @Test
  void concurrent_batches_get_different_slots() {
    Bucket read = row();
    List<Instant> taken = new ArrayList<>(slots.take(read, 10));
    taken.addAll(slots.take(read, 10));

    assertThat(taken).hasSize(20).doesNotHaveDuplicates();
  }

  @Test
  void slots_begin_at_the_next_token_if_others_took_the_earlier_ones() {
    take(5);
    for (int i = 0; i < 16; i++) {
      ports.clock().advance(Duration.ofSeconds(1));
      ports.fill().fill(ID);
      drain();
    }
    Instant next = row().at(ports.clock().instant()).nextToken();

    assertThat(take(3)).isEqualTo(from(next, 3));
    assertThat(take(2)).isEqualTo(from(next.plus(INTERVAL.multipliedBy(3)), 2));
  }

  @Test
  void slots_stay_behind_those_that_have_not_come() {
    Instant third = take(3).get(2);
    Instant fourth = row().line().orElseThrow().slot(4);
    while (row().at(ports.clock().instant()).nextToken().isBefore(third)) {
      ports.clock().advance(Duration.ofSeconds(1));
      ports.fill().fill(ID);
      drain();
    }

    assertThat(take(1)).containsExactly(fourth);
  }

  @Test
  void slots_follow_a_lower_rate() {
    take(40);
    ports.retune(ID, new BucketSpec(Rate.perMinute(15), 30, SPEC.fillPolicy()));

    List<Instant> taken = take(3);

    assertThat(Duration.between(taken.get(0), taken.get(2))).isEqualTo(Duration.ofSeconds(8));
  }

  @Test
  void no_slot_is_later_than_five_minutes_after_the_next_token() {
    assertThat(take(140)).hasSize(140);
    assertThat(take(100)).isEmpty();
    assertThat(take(10_000)).isEmpty();
    assertThat(issued()).isEqualTo(140);
    assertThat(take(10)).hasSize(10);
  }

  @Test
  void no_slot_is_taken_while_the_line_is_switched_off_or_cannot_be_written() {
    ports.retune(ID, SPEC.withLine(false));
    assertThat(take(3)).isEmpty();
    ports.retune(ID, SPEC);
    ports.buckets().outage().begin("changeLine");
    assertThat(take(3)).isEmpty();

    assertThat(issued()).isZero();
  }
}
