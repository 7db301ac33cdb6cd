package dev.tollgate.core.bucket.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.claim.BucketMemory.Mark;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class BucketMemoryTest {
  private static final BucketId ID = bucket(0);
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Instant START = Instant.parse("2026-03-01T10:00:00.400Z");

  private final ManualClock clock = new ManualClock(START);
  private final BucketMemory memory = new BucketMemory(clock);

  private static BucketId bucket(int number) {
    return new BucketId(new TenantId("tenant-" + number), Action.CONNECT);
  }

  @ParameterizedTest
  @EnumSource
  void a_mark_holds_until_its_end_for_its_bucket_alone(Mark mark) {
    memory.mark(ID, mark, START.plus(SECOND));

    assertThat(memory.until(ID, mark)).contains(START.plus(SECOND));
    assertThat(memory.hasAny(bucket(1), Mark.values())).isFalse();
    clock.advance(SECOND.minusNanos(1));
    assertThat(memory.hasAny(ID, Mark.values())).isTrue();
    clock.advance(Duration.ofNanos(1));
    assertThat(memory.hasAny(ID, Mark.values())).isFalse();
  }

  @Test
  void removing_a_mark_leaves_the_others() {
    memory.mark(ID, Mark.EMPTY, START.plus(SECOND));
    memory.mark(ID, Mark.REFUSED_BY_READ, START.plus(SECOND));

    memory.clear(ID, Mark.EMPTY);

    assertThat(memory.hasAny(ID, Mark.EMPTY, Mark.LINE, Mark.REFUSED)).isFalse();
    assertThat(memory.hasAny(ID, Mark.REFUSED_BY_READ)).isTrue();
  }

  @Test
  void a_row_is_as_old_as_its_read_even_if_something_was_found_since() {
    Bucket row = Samples.bucket(ID);
    memory.replace(row);
    assertThat(memory.row(ID, SECOND)).as("never read").isEmpty();

    memory.keep(row, START);
    clock.advance(SECOND.minusNanos(1));
    memory.replace(row.inspected(1, START));

    assertThat(memory.row(ID, SECOND)).contains(row.inspected(1, START));
    clock.advance(Duration.ofNanos(1));
    assertThat(memory.row(ID, SECOND)).isEmpty();
    assertThat(memory.row(ID, SECOND.plusNanos(1))).isPresent();
    memory.forgetRow(ID);
    assertThat(memory.row(ID, Duration.ofHours(1))).isEmpty();
  }

  @Test
  void too_few_tokens_apply_to_claims_for_the_same_number_until_the_second_ends() {
    memory.tooFew(ID, 3, START.plus(SECOND));

    assertThat(memory.retryAt(ID, 3)).contains(START.plus(SECOND));
    assertThat(memory.retryAt(ID, 2)).isEmpty();
    assertThat(memory.retryAt(bucket(1), 3)).isEmpty();
    clock.set(Instant.parse("2026-03-01T10:00:01Z"));
    assertThat(memory.retryAt(ID, 3)).isEmpty();
    memory.tooFew(ID, 2, START.plus(SECOND));
    assertThat(memory.retryAt(ID, 3)).as("of the second before").isEmpty();
  }

  @Test
  void a_fill_of_one_version_is_due_once_in_the_interval() {
    assertThat(memory.requestFill(ID, 7, SECOND)).isTrue();
    assertThat(memory.requestFill(ID, 7, SECOND)).isFalse();
    assertThat(memory.requestFill(bucket(1), 7, SECOND)).isTrue();
    assertThat(memory.requestFill(ID, 8, SECOND)).isTrue();
    clock.advance(SECOND);
    assertThat(memory.requestFill(ID, 8, SECOND)).isTrue();
  }

  @Test
  void only_the_ten_thousand_buckets_used_last_are_remembered() {
    IntStream.rangeClosed(0, 9_999)
        .forEach(i -> memory.mark(bucket(i), Mark.EMPTY, START.plus(SECOND)));
    assertThat(memory.hasAny(ID, Mark.EMPTY)).isTrue();

    memory.mark(bucket(10_000), Mark.EMPTY, START.plus(SECOND));

    assertThat(memory.hasAny(ID, Mark.EMPTY)).as("used after the second one").isTrue();
    assertThat(memory.hasAny(bucket(1), Mark.EMPTY)).isFalse();
  }
}
