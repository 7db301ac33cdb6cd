package dev.tollgate.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Runs {@link DaySimulation}, which throws when a law is broken. */
final class DaySimulationTest {
  @Test
  void hours_of_many_tenants_keep_every_law() {
    DaySimulation.Result day = DaySimulation.live(1, 200, Duration.ofHours(3));
    System.out.println(day);
    assertThat(day.admitted()).isGreaterThan(10_000);
    assertThat(day.refused()).isGreaterThan(1_000);
    assertThat(day.lawsChecked()).isGreaterThan(day.admitted());
  }

  @Test
  void day_is_determined_by_its_seed() {
    DaySimulation.Result first = DaySimulation.live(7, 40, Duration.ofHours(2));

    assertThat(DaySimulation.live(7, 40, Duration.ofHours(2))).isEqualTo(first);
    assertThat(DaySimulation.live(8, 40, Duration.ofHours(2)).digest())
        .isNotEqualTo(first.digest());
  }
}
