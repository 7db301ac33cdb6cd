package dev.tollgate.core.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.House;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class RecountTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final Pause NOTHING = duration -> {};

  private final House house = new House();
  private final Tenant acme = house.town().onboard("acme", "gold", Map.of());
  private final SessionId session = house.open(acme, "a", "b", "c");
  private final List<Duration> pauses = new ArrayList<>();

  private long repair(Pause pause) {
    return house
        .recount(
            duration -> {
              pauses.add(duration);
              pause.of(duration);
            })
        .repair(ACME);
  }

  private void count(int up) {
    for (int i = 0; i < up; i++) {
      house.books().countUp(ACME, Long.MAX_VALUE);
    }
  }

  @Test
  void a_count_that_is_right_is_looked_at_once() {
    house.faults().none();

    assertThat(repair(NOTHING)).isZero();

    assertThat(pauses).isEmpty();
    assertThat(house.faults().calls()).containsExactly("Connections.count", "Sessions.list");
  }

  @Test
  void connections_that_are_not_there_are_counted_no_more() {
    count(2);

    assertThat(repair(NOTHING)).isEqualTo(2);

    assertThat(house.counted(ACME)).isEqualTo(3);
    assertThat(pauses).containsExactly(Duration.ofSeconds(1));
  }

  @Test
  void connections_that_were_not_counted_are_counted() {
    house.join(ACME, session, "d");
    house.books().countDown(ACME, 3);

    assertThat(repair(NOTHING)).isEqualTo(-4);

    assertThat(house.counted(ACME)).isEqualTo(4);
  }

  @Test
  void a_count_that_is_gone_comes_back() {
    house.books().forgetCount(ACME);

    assertThat(repair(NOTHING)).isEqualTo(-3);

    assertThat(house.counted(ACME)).isEqualTo(3);
  }

  @Test
  void what_lands_between_two_looks_is_no_drift() {
    house.join(ACME, session, "d");

    assertThat(repair(pause -> count(1))).isZero();

    assertThat(house.counted(ACME)).isEqualTo(4);
  }

  @Test
  void what_is_in_flight_at_both_looks_in_two_ways_is_no_drift() {
    house.join(ACME, session, "d");

    assertThat(repair(pause -> count(2))).isZero();

    assertThat(house.counted(ACME)).isEqualTo(5);
  }

  @Test
  void what_comes_between_the_two_requests_of_a_look_is_no_drift() {
    count(1);
    house
        .faults()
        .plan(
            4,
            Faults.meanwhile(
                () -> {
                  house.join(ACME, session, "d");
                  count(1);
                }));

    assertThat(repair(pause -> house.books().countDown(ACME, 1))).isZero();

    assertThat(house.counted(ACME)).isEqualTo(4);
  }

  @Test
  void of_two_differences_the_smaller_is_drift() {
    count(1);
    assertThat(repair(pause -> count(2))).isEqualTo(1);
    assertThat(house.counted(ACME)).isEqualTo(5);

    assertThat(repair(pause -> house.books().countDown(ACME, 1))).isEqualTo(1);
    assertThat(house.counted(ACME)).isEqualTo(3);
  }

  @Test
  void a_count_that_moved_since_the_second_look_is_left_alone() {
    count(1);
    house.faults().plan(5, Faults.meanwhile(() -> house.books().countDown(ACME, 1)));

    assertThat(repair(NOTHING)).isZero();

    assertThat(house.faults().calls()).endsWith("Connections.correctCount");
    assertThat(house.counted(ACME)).isEqualTo(3);
  }

  @Test
  void a_pause_that_is_cut_short_repairs_nothing() {
    house.join(ACME, session, "d");

    assertThat(repair(duration -> Thread.currentThread().interrupt())).isZero();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(house.counted(ACME)).isEqualTo(3);
  }

  // Whatever comes and goes.

  @Test
  void once_all_is_quiet_one_recount_brings_the_count_to_the_truth() {
    for (long seed = 1; seed <= 400; seed++) {
      Traffic traffic = new Traffic(new Random(seed), true);
      for (int i = 0; i < 5; i++) {
        traffic.go(40);
        traffic.amid(recount -> recount.repair(ACME), () -> traffic.go(10));
      }
      traffic.land();

      long before = traffic.house.counted(ACME) - traffic.house.open(ACME);
      long repaired = traffic.house.recount().repair(ACME);

      assertThat(traffic.house.counted(ACME))
          .as("seed %d", seed)
          .isEqualTo(traffic.house.open(ACME));
      assertThat(repaired).as("seed %d", seed).isEqualTo(before);
    }
  }

  @Test
  void what_is_merely_in_flight_at_one_look_is_never_repaired() {
    for (long seed = 1; seed <= 400; seed++) {
      Traffic traffic = new Traffic(new Random(seed), false);
      for (int i = 0; i < 10; i++) {
        traffic.go(20);
        traffic.amid(
            recount -> assertThat(recount.repair(ACME)).as("repaired").isZero(), traffic::land);
      }
      traffic.land();
      if (traffic.house.counted(ACME) != traffic.house.open(ACME)) {
        fail("seed " + seed);
      }
    }
  }
}
