package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CalendarTest {
  private static Calendar calendar(String every, String on, String at, String zone) {
    return Calendar.of(every, Optional.ofNullable(on), at, zone, false);
  }

  @ParameterizedTest
  @CsvSource({
    // an ordinary day, its first and its last instant
    "DAY,,00:00,Europe/Berlin,2026-06-10T12:00:00Z,2026-06-09T22:00:00Z,2026-06-10T22:00:00Z",
    "DAY,,00:00,Europe/Berlin,2026-06-09T22:00:00Z,2026-06-09T22:00:00Z,2026-06-10T22:00:00Z",
    "DAY,,00:00,Europe/Berlin,2026-06-10T21:59:59.999Z,2026-06-09T22:00:00Z,2026-06-10T22:00:00Z",
    // a day of 23 hours, and one of 25
    "DAY,,00:00,Europe/Berlin,2026-03-29T12:00:00Z,2026-03-28T23:00:00Z,2026-03-29T22:00:00Z",
    "DAY,,00:00,Europe/Berlin,2026-10-25T12:00:00Z,2026-10-24T22:00:00Z,2026-10-25T23:00:00Z",
    // 02:30 does not exist on 29 March and exists twice on 25 October
    "DAY,,02:30,Europe/Berlin,2026-03-29T12:00:00Z,2026-03-29T01:30:00Z,2026-03-30T00:30:00Z",
    "DAY,,02:30,Europe/Berlin,2026-10-25T01:45:00Z,2026-10-25T00:30:00Z,2026-10-26T01:30:00Z",
    // a week from Monday, and from the day on which clocks change
    "WEEK,,00:00,UTC,2026-06-10T12:00:00Z,2026-06-08T00:00:00Z,2026-06-15T00:00:00Z",
    "WEEK,MONDAY,09:00,UTC,2026-06-08T08:59:00Z,2026-06-01T09:00:00Z,2026-06-08T09:00:00Z",
    "WEEK,SUNDAY,02:30,Europe/Berlin,2026-03-30T00:00:00Z,2026-03-29T01:30:00Z,2026-04-05T00:30:00Z",
    // a day that does not exist
    "DAY,,00:00,Pacific/Apia,2011-12-30T09:00:00Z,2011-12-29T10:00:00Z,2011-12-30T10:00:00Z"
  })
  void period_of_an_instant(
      String every, String on, String at, String zone, Instant now, Instant start, Instant next) {
    Calendar calendar = calendar(every, on, at, zone);
    assertThat(calendar.start(now)).isEqualTo(start);
    assertThat(calendar.next(now)).isEqualTo(next);
  }

  @Test
  void week_begins_on_monday_unless_another_day_is_given() {
    assertThat(calendar("WEEK", null, "00:00", "UTC"))
        .isEqualTo(calendar("WEEK", "MONDAY", "00:00", "UTC"))
        .hasToString("each Monday at 00:00 (UTC)");
    assertThat(calendar("DAY", null, "23:59", "Asia/Tokyo"))
        .hasToString("each day at 23:59 (Asia/Tokyo)");
  }

  @ParameterizedTest
  @CsvSource({
    "MONTH,,00:00,UTC,every,fourteen days",
    "day,,00:00,UTC,every,DAY or WEEK",
    "DAY,MONDAY,00:00,UTC,day,none for every: DAY",
    "WEEK,Monday,00:00,UTC,day,a day such as MONDAY",
    "DAY,,24:00,UTC,at,a time such as 00:00",
    "DAY,,00:00:01,UTC,at,a time such as 00:00",
    "DAY,,0:00,UTC,at,a time such as 00:00",
    "DAY,,00:00,Europe/Bern,zone,a time zone",
    "DAY,,00:00,+02:00,zone,a time zone",
    "DAY,,00:00,UTC+2,zone,a time zone",
    "DAY,,00:00,Z,zone,a time zone"
  })
  void malformed_texts_are_refused(
      String every, String on, String at, String zone, String field, String expected) {
    assertThatThrownBy(() -> calendar(every, on, at, zone))
        .isInstanceOfSatisfying(
            InvalidValue.class,
            invalid -> {
              assertThat(invalid.field()).isEqualTo(field);
              assertThat(invalid.expected()).contains(expected);
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"00:00:01", "00:00:00.000000001"})
  void time_of_day_has_no_seconds(LocalTime at) {
    assertThatThrownBy(
            () -> new Calendar(Calendar.Every.DAY, Optional.empty(), at, ZoneId.of("UTC"), false))
        .isInstanceOf(InvalidValue.class)
        .hasMessageContaining("hours and minutes");
  }

  @Test
  void average_rate_spreads_the_capacity_over_the_period() {
    assertThat(calendar("DAY", null, "00:00", "UTC").average(1_440)).isEqualTo(Rate.perMinute(1));
    assertThat(calendar("WEEK", null, "00:00", "UTC").average(1).microtokensPerMinute())
        .isEqualTo(99);
  }
}
