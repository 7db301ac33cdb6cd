package dev.tollgate.local.cloudwatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tollgate.local.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MetricStoreTest {
  private static final Instant START = Instant.parse("2026-03-12T12:00:00Z");
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Metric METRIC =
      new Metric("Tollgate", "Connections", Map.of("Outcome", "ADMITTED"));

  private final ManualClock clock = new ManualClock(START);
  private final MetricStore store = new MetricStore(clock);

  private OptionalDouble statistic(String statistic) {
    return new MetricStat(METRIC, statistic, HOUR)
        .of(store.samples(METRIC, START, START.plus(HOUR)));
  }

  private void record(int perMinute) {
    for (int i = 0; i < 60 * perMinute; i++) {
      clock.set(START.plus(HOUR.multipliedBy(i).dividedBy(60L * perMinute)));
      store.record(METRIC, clock.instant(), i + 0.5);
    }
  }

  @Test
  void without_percentiles_no_value_is_kept() {
    store.watch(METRIC, "Sum", HOUR);
    record(1_000);

    Samples all = store.samples(METRIC, START, START.plus(HOUR));
    assertThat(all.count()).isEqualTo(60_000);
    assertThat(all.values()).isZero();
    assertThat(statistic("Sum")).hasValue(1_800_000_000.0);
    assertThat(statistic("Maximum")).hasValue(59_999.5);
  }

  @Test
  void for_percentiles_similar_values_are_kept_once() {
    store.watch(METRIC, "Sum", HOUR);
    store.watch(METRIC, "p99", HOUR);
    record(1_000);

    assertThat(store.samples(METRIC, START, START.plus(HOUR)).values()).isLessThan(5_000);
    assertThat(statistic("p99").orElseThrow()).isCloseTo(59_400, within(300.0));
    assertThat(statistic("Maximum")).hasValue(59_999.5);
  }

  @Test
  void percentiles_of_small_whole_numbers_are_exact() {
    store.watch(METRIC, "p99", HOUR);
    for (int i = 1; i <= 900; i++) {
      store.record(METRIC, START, i);
    }

    assertThat(statistic("p50")).hasValue(450);
    assertThat(statistic("p99")).hasValue(891);
    assertThat(statistic("p99.9")).hasValue(900);
  }

  @ParameterizedTest
  @ValueSource(longs = {9_999_999_999_999L, Long.MAX_VALUE, Long.MIN_VALUE, 0})
  void a_sample_of_another_time_is_ignored_and_deletes_none(long timestamp) {
    store.watch(METRIC, "Sum", HOUR);
    store.record(METRIC, START, 5);

    store.logged(
        """
        {"_aws": {"Timestamp": %d, "CloudWatchMetrics": [{"Namespace": "Tollgate",
          "Dimensions": [["Outcome"]], "Metrics": [{"Name": "Connections"}]}]},
         "Outcome": "ADMITTED", "Connections": 1}
        """
            .formatted(timestamp));
    store.record(METRIC, START, 6);

    assertThat(statistic("Sum")).hasValue(11);
    assertThat(store.minutes(METRIC)).containsExactly(START);
  }

  @Test
  void a_sample_up_to_two_hours_ahead_is_kept() {
    store.watch(METRIC, "Sum", HOUR);
    store.record(METRIC, START.plus(Duration.ofHours(2)), 1);
    store.record(METRIC, START.plus(Duration.ofMinutes(121)), 1);

    assertThat(store.minutes(METRIC)).containsExactly(START.plus(Duration.ofHours(2)));
  }

  @Test
  void values_that_are_no_numbers_are_ignored() {
    store.watch(METRIC, "Sum", HOUR);
    store.record(METRIC, START, Double.NaN);
    store.record(METRIC, START, Double.POSITIVE_INFINITY);

    assertThat(store.minutes(METRIC)).isEmpty();
  }

  @Test
  void each_metric_is_kept_for_its_own_longest_range() {
    Metric other = new Metric("Tollgate", "Messages", Map.of());
    store.watch(METRIC, "Sum", Duration.ofMinutes(5));
    store.watch(METRIC, "Sum", Duration.ofMinutes(10));
    store.watch(METRIC, "Sum", Duration.ofMinutes(1));
    store.watch(other, "Sum", HOUR);
    for (int minute = 0; minute <= 30; minute++) {
      clock.set(START.plus(Duration.ofMinutes(minute)));
      store.record(METRIC, clock.instant(), 1);
      store.record(other, clock.instant(), 1);
    }

    assertThat(store.minutes(METRIC)).hasSize(11);
    assertThat(store.minutes(other)).hasSize(31);
  }
}
