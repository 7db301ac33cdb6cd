package dev.tollgate.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** {@link Day} checks the laws as it goes, and throws where one is broken. */
final class DayTest {
  @Test
  void a_day_of_a_thousand_tenants_keeps_every_law() {
    Day.Result day = Day.live(1, 1_000, Duration.ofDays(1));
    System.out.println(day);
    assertThat(day.admitted()).isGreaterThan(100_000);
    assertThat(day.refused()).isGreaterThan(10_000);
    assertThat(day.lawsChecked()).isGreaterThan(day.admitted());
  }

  @Test
  void the_same_seed_gives_the_same_day_and_another_another() {
    Day.Result first = Day.live(7, 60, Duration.ofHours(6));

    assertThat(Day.live(7, 60, Duration.ofHours(6))).isEqualTo(first);
    assertThat(Day.live(8, 60, Duration.ofHours(6)).digest()).isNotEqualTo(first.digest());
  }
}
