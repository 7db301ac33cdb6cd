package dev.tollgate.local.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimingTest {
  /** The clocks go from 2:00 to 3:00 on 8 March 2026 and from 2:00 to 1:00 on 1 November 2026. */
  private static final String LOS_ANGELES = "America/Los_Angeles";

  @Test
  void cron_at_a_skipped_local_time_is_skipped() {
    assertThat(after("2026-03-07T09:00:00Z", LOS_ANGELES, "cron(30 2 * * ? *)", 3))
        .containsExactly("2026-03-07T10:30:00Z", "2026-03-09T09:30:00Z", "2026-03-10T09:30:00Z");
  }

  @Test
  void cron_at_a_repeated_local_time_is_due_once_the_first_time() {
    assertThat(after("2026-10-31T00:00:00Z", LOS_ANGELES, "cron(30 1 * * ? *)", 3))
        .containsExactly("2026-10-31T08:30:00Z", "2026-11-01T08:30:00Z", "2026-11-02T09:30:00Z");
    assertThat(after("2026-11-01T09:10:00Z", LOS_ANGELES, "cron(30 1 * * ? *)", 1))
        .as("asked within the repeated hour")
        .containsExactly("2026-11-02T09:30:00Z");
  }

  @Test
  void cron_every_half_hour_goes_on_across_the_changes() {
    assertThat(after("2026-03-08T09:00:00Z", LOS_ANGELES, "cron(0/30 * * * ? *)", 3))
        .containsExactly("2026-03-08T09:30:00Z", "2026-03-08T10:00:00Z", "2026-03-08T10:30:00Z");
    assertThat(after("2026-11-01T08:00:00Z", LOS_ANGELES, "cron(0/30 * * * ? *)", 3))
        .as("the repeated hour is not due again")
        .containsExactly("2026-11-01T08:30:00Z", "2026-11-01T10:00:00Z", "2026-11-01T10:30:00Z");
  }

  @Test
  void cron_is_in_the_zone_of_the_schedule() {
    assertThat(after("2026-06-30T00:00:00Z", "Asia/Kolkata", "cron(0 9 1 * ? *)", 1))
        .containsExactly("2026-07-01T03:30:00Z");
    assertThat(after("2026-06-30T00:00:00Z", "UTC", "cron(0 9 1 * ? *)", 1))
        .containsExactly("2026-07-01T09:00:00Z");
  }

  @Test
  void rate_in_days_counts_24_hours_across_a_change() {
    assertThat(after("2026-03-07T20:00:00Z", LOS_ANGELES, "rate(1 day)", 2))
        .containsExactly("2026-03-08T20:00:00Z", "2026-03-09T20:00:00Z");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rate(1 minute)",
        "rate(1 minutes)",
        "rate(60 minutes)",
        "rate(2 hours)",
        "rate(1 days)"
      })
  void rate_is_read(String expression) {
    assertThat(timing("UTC", expression)).isInstanceOf(Timing.Rate.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rate()",
        "rate(10)",
        "rate(0 minutes)",
        "rate(-10 minutes)",
        "rate(1.5 hours)",
        "rate(5 minute)",
        "rate(2 day)",
        "rate(10 seconds)",
        "rate(10 years)",
        "rate(10 minutess)",
        "rate(foo minutes)",
        "rate( 10 minutes )",
        " rate(10 minutes)",
        "at(2021-12-31)",
        "at(2021-12-31T23:59:59Z)",
        "at(2021-02-30T00:00:00)",
        "at(2021-12-31T24:00:00)",
        "at(2021-12-31 23:59:59)",
        "every minute",
      })
  void other_expressions_are_refused(String expression) {
    assertThatThrownBy(() -> timing("UTC", expression))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static List<String> after(String from, String zone, String expression, int count) {
    Timing timing =
        Timing.of(
            expression, ZoneId.of(zone), Instant.parse(from), Optional.empty(), Optional.empty());
    return Stream.iterate(
            timing.next(Instant.parse(from)).orElseThrow(), time -> timing.next(time).orElseThrow())
        .limit(count)
        .map(Instant::toString)
        .toList();
  }

  private static Timing timing(String zone, String expression) {
    return Timing.of(
        expression, ZoneId.of(zone), Instant.EPOCH, Optional.empty(), Optional.empty());
  }
}
