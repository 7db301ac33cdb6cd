package dev.tollgate.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimesTest {
  @ParameterizedTest
  @CsvSource({"1, 0.5, 1", "2, 0.5, 1", "3, 0.5, 2", "100, 0.99, 99", "100, 1, 100", "3, 0.01, 1"})
  void a_quantile_is_the_nearest_rank(int count, double share, long seconds) {
    assertThat(descending(count).quantile(share)).isEqualTo(Duration.ofSeconds(seconds));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, 1.01, Double.NaN})
  void a_quantile_of_an_invalid_share_is_refused(double share) {
    assertThatThrownBy(() -> descending(3).quantile(share))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("share: " + share + " (expected: above 0, up to 1)");
  }

  @Test
  void a_quantile_of_no_times_is_refused() {
    assertThatThrownBy(() -> new Times(List.of()).quantile(0.5))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void a_summary_has_minimum_maximum_and_median() {
    assertThat(new Times(List.of(millis(6_849), millis(4_900), millis(5_300))).summary())
        .isEqualTo("4.9 to 6.8 s, median 5.3 s");
    assertThat(new Times(List.of()).summary()).isEqualTo("none");
  }

  @Test
  void median_and_longest_are_in_milliseconds() {
    assertThat(new Times(List.of(millis(30), millis(10), millis(20))).medianAndLongest())
        .isEqualTo("20, 30 ms");
    assertThat(new Times(List.of()).medianAndLongest()).isEqualTo("none");
  }

  private static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }

  /**
   * The durations of {@code count} seconds, {@code count} - 1 seconds, and so on down to one
   * second.
   */
  private static Times descending(int count) {
    return new Times(
        LongStream.rangeClosed(1, count)
            .map(i -> count + 1 - i)
            .mapToObj(Duration::ofSeconds)
            .toList());
  }
}
