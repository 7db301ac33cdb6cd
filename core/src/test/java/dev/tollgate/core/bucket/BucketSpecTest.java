package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which buckets keep a line. */
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
  void bucket_of_a_calendar_keeps_no_line_never_hibernates_and_is_not_filled_directly() {
    Calendar day = Calendar.of("DAY", Optional.empty(), "00:00", "UTC", false);
    BucketSpec spec = new BucketSpec(day, 1_000, new FillPolicy(FillMode.SHARED, 15));

    assertThat(spec.keepsLine()).isFalse();
    assertThat(spec.mayHibernate()).isFalse();
    assertThatThrownBy(() -> new BucketSpec(day, 10, new FillPolicy(FillMode.DIRECT, 0)))
        .hasMessageContaining("a schedule alone cannot fill a bucket by a calendar");
  }
}
