package dev.tollgate.core.bucket.fill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.memory.InMemoryBuckets;
import dev.tollgate.core.testing.memory.InMemoryFillSchedules;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Schedules of a bucket whose row changes while its schedule is updated. */
final class BucketSchedulesTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final BucketId ID = new BucketId(new TenantId("acme"), Action.CONNECT);

  private final InMemoryBuckets rows = new InMemoryBuckets();
  private final InMemoryFillSchedules schedules = new InMemoryFillSchedules();
  private final Faults faults = new Faults();
  private final BucketSchedules followed =
      new BucketSchedules(faults.around(Buckets.class, rows), schedules);

  private static BucketSpec perMinute(int rate) {
    return BucketSpec.ofRate(Rate.perMinute(rate));
  }

  private Optional<Bucket> row() {
    return rows.find(ID);
  }

  private void retune(int rate) {
    rows.replace(row().orElseThrow().retuned(perMinute(rate), NOW));
  }

  private BucketSpec scheduled() {
    return schedules.schedules().get(ID).spec();
  }

  @Test
  void schedule_follows_a_row_that_changes_during_its_update() {
    rows.open(Bucket.opened(ID, perMinute(1), NOW));
    faults.plan(1, Faults.concurrently(() -> retune(2)));

    followed.follow(ID, row());

    assertThat(scheduled()).isEqualTo(perMinute(2));
    assertThat(faults.calls()).hasSize(2);
  }

  @Test
  void schedule_of_a_row_that_is_removed_during_its_update_is_deleted() {
    rows.open(Bucket.opened(ID, perMinute(1), NOW));
    faults.plan(1, Faults.concurrently(() -> rows.remove(ID)));

    followed.follow(ID, row());

    assertThat(schedules.has(ID)).isFalse();
  }

  @Test
  void schedule_of_a_row_that_is_opened_during_its_update_is_created() {
    faults.plan(1, Faults.concurrently(() -> rows.open(Bucket.opened(ID, perMinute(1), NOW))));

    followed.follow(ID, Optional.empty());

    assertThat(scheduled()).isEqualTo(perMinute(1));
  }

  @Test
  void row_that_changes_at_each_of_five_attempts_leaves_the_rest_to_the_next_event() {
    rows.open(Bucket.opened(ID, perMinute(1), NOW));
    int[] changes = {1};
    faults.each(() -> Optional.of(Faults.concurrently(() -> retune(++changes[0]))));

    assertThatThrownBy(() -> followed.follow(ID, row()))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("the bucket changed 5 times");
    assertThat(changes[0]).isEqualTo(1 + 5);
  }
}
