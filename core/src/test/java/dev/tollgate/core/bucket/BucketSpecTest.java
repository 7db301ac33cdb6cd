package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which buckets keep a line, and what follows from a bucket's numbers. */
class BucketSpecTest {
  @ParameterizedTest(name = "{1} tokens, {0} a minute, filled by {2}: {3}")
  @CsvSource({
    "60, 60, PRODUCER, true",
    "10, 10, SHARED, true",
    "10, 10, DIRECT, false",
    "60, 30, PRODUCER, true",
    "60, 29, PRODUCER, false",
    "1, 3, PRODUCER, true",
    "1, 2, PRODUCER, false"
  })
  void bucket_that_holds_too_little_or_is_filled_directly_keeps_no_line(
      int perMinute, int capacity, FillMode mode, boolean keepsLine) {
    BucketSpec spec = new BucketSpec(Rate.perMinute(perMinute), capacity, new FillPolicy(mode, 0));

    assertThat(spec.keepsLine()).isEqualTo(keepsLine);
    assertThat(spec.withLine(false).keepsLine()).isFalse();
  }

  @Test
  void lead_of_a_line_is_a_quarter_of_the_time_in_which_the_bucket_fills_but_at_most_ten_seconds() {
    assertThat(new BucketSpec(Rate.perMinute(60), 30).lineLead())
        .isEqualTo(Duration.ofMillis(7_500));
    assertThat(new BucketSpec(Rate.perMinute(60), 60).lineLead()).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void step_of_a_fill_sends_a_minutes_tokens_or_a_batch_and_no_more_than_the_capacity() {
    assertThat(new BucketSpec(Rate.perMinute(60), 100).largestStep()).isEqualTo(60);
    assertThat(new BucketSpec(Rate.perMinute(3), 100).largestStep()).isEqualTo(10);
    assertThat(new BucketSpec(Rate.perMinute(60), 5).largestStep()).isEqualTo(5);
  }

  @Test
  void step_of_a_fill_by_a_calendar_sends_a_hundredth_of_the_capacity() {
    Calendar week = Calendar.of("WEEK", Optional.empty(), "00:00", "UTC", false);

    assertThat(new BucketSpec(week, 100_000).largestStep()).isEqualTo(1_000);
  }

  @Test
  void bucket_of_a_calendar_keeps_no_line_never_hibernates_and_is_not_filled_directly() {
    Calendar day = Calendar.of("DAY", Optional.empty(), "00:00", "UTC", false);
    BucketSpec spec = new BucketSpec(day, 1_000, new FillPolicy(FillMode.SHARED, 15));

    assertThat(spec.keepsLine()).isFalse();
    assertThat(spec.mayHibernate()).isFalse();
    assertThatThrownBy(() -> new BucketSpec(day, 10, new FillPolicy(FillMode.DIRECT, 0)))
        .hasMessageContaining("a schedule alone cannot fill a bucket by a calendar");
  }
}
