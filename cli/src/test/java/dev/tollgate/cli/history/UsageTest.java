package dev.tollgate.cli.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UsageTest {
  private static Usage usage(String limit, List<Long> used, long zeros, long refused) {
    return Usage.of("any", new BigDecimal(limit), used, zeros, OptionalLong.of(refused), 20);
  }

  /** The values 1 to last, beginning with the largest, and zeros. */
  @ParameterizedTest
  @CsvSource({
    // last, zeros, p50, p95, p99, p99.9, max
    "1, 0, 1, 1, 1, 1, 1",
    "2, 0, 1, 2, 2, 2, 2",
    "100, 0, 50, 95, 99, 100, 100",
    "1000, 0, 500, 950, 990, 999, 1000",
    "10, 10, 0, 9, 10, 10, 10",
    "10, 90, 0, 5, 9, 10, 10",
    "1, 999, 0, 0, 0, 0, 1",
    "1, 998, 0, 0, 0, 1, 1",
    "0, 5, 0, 0, 0, 0, 0",
  })
  void percentiles_are_of_the_nearest_rank(
      int last, long zeros, long p50, long p95, long p99, long p999, long max) {
    List<Long> used = LongStream.range(0, last).map(i -> last - i).boxed().toList();

    assertThat(usage("1", used, zeros, 0))
        .returns(last + zeros, Usage::minutes)
        .returns(p50, Usage::p50)
        .returns(p95, Usage::p95)
        .returns(p99, Usage::p99)
        .returns(p999, Usage::p999)
        .returns(max, Usage::max);
  }

  @ParameterizedTest
  @CsvSource({
    // limit, used, refused, fits, share, verdict
    "100, 80, 0, 96, 80, OK",
    "100, 81, 0, 98, 81, TIGHT",
    "100, 80, 1, 96, 80, TIGHT",
    "100, 20, 0, 24, 20, LARGE",
    "96, 20, 0, 24, 21, OK",
    "100, 21, 0, 26, 21, OK",
    "0.2, 0, 0, 1, 0, OK",
    "0.2, 1, 0, 2, 500, TIGHT",
    "5, 0, 0, 1, 0, LARGE",
    "4, 0, 0, 1, 0, OK",
    "200, 84, 0, 110, 42, OK",
    "30000, 10250, 0, 13000, 34, OK",
    "1000000, 999999999999999, 0, 1200000000000000, 100000000000, TIGHT",
    "100, -5, 0, 1, 0, LARGE",
  })
  void limit_that_fits_share_and_verdict(
      String limit, long used, long refused, long fits, long share, Usage.Verdict verdict) {
    assertThat(usage(limit, Collections.nCopies(60, used), 0, refused))
        .returns(fits, Usage::fits)
        .returns(share, Usage::sharePercent)
        .returns(verdict, Usage::verdict);
  }

  @Test
  void large_limit_that_refused_is_tight() {
    assertThat(usage("100", List.of(1L), 59, 1).verdict()).isEqualTo(Usage.Verdict.TIGHT);
  }

  @Test
  void fewer_than_60_minutes_without_refusals_are_too_few() {
    assertThat(usage("100", List.of(1L), 58, 1).verdict()).isEqualTo(Usage.Verdict.TIGHT);
    assertThat(usage("100", List.of(99L), 58, 0).verdict())
        .isEqualTo(Usage.Verdict.TOO_FEW_MINUTES);
  }

  @Test
  void no_minute_has_no_percentile() {
    assertThatThrownBy(() -> usage("1", List.of(), 0, 0))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
