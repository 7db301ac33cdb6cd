package dev.tollgate.core.housekeeping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.fixture.HousekeepingFixture;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class RecountTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final Duration MARGIN = Duration.ofMillis(50);
  private static final Pause NOTHING = duration -> {};

  private final HousekeepingFixture fixture = new HousekeepingFixture();
  private final Tenant acme = fixture.ports().onboard("acme", "gold", Map.of());
  private final SessionId session = fixture.open(acme, "a", "b", "c");
  private final List<Duration> pauses = new ArrayList<>();

  private long repair(Pause pause) {
    return HousekeepingFixture.repair(
        fixture.recount(
            duration -> {
              pauses.add(duration);
              pause.of(duration);
            }),
        ACME);
  }

  private void join(String connectionId) {
    assertThat(fixture.join(ACME, session, connectionId)).isEqualTo(Connections.JoinResult.ADDED);
  }

  private void count(String... connectionIds) {
    for (String connectionId : connectionIds) {
      fixture.sessions().countUp(ACME, connectionId, Long.MAX_VALUE);
    }
  }

  private void countDown(String... connectionIds) {
    fixture.sessions().countDown(ACME, Set.of(connectionIds));
  }

  @Test
  void correct_count_is_read_once() {
    fixture.faults().none();

    assertThat(repair(NOTHING)).isZero();

    assertThat(pauses).isEmpty();
    assertThat(fixture.faults().calls()).containsExactly("Sessions.page", "Connections.readCount");
  }

  @Test
  void missing_connections_are_subtracted() {
    count("x", "y");

    assertThat(repair(NOTHING)).isEqualTo(2);

    assertThat(fixture.counted(ACME)).isEqualTo(3);
    assertThat(pauses).containsExactly(MARGIN, MARGIN, Duration.ofSeconds(5), MARGIN, MARGIN);
  }

  @Test
  void uncounted_connections_are_added() {
    join("d");
    countDown("a", "b", "c");

    assertThat(repair(NOTHING)).isEqualTo(-4);

    assertThat(fixture.counted(ACME)).isEqualTo(4);
  }

  @Test
  void missing_count_is_restored() {
    fixture.sessions().deleteCount(ACME);

    assertThat(repair(NOTHING)).isEqualTo(-3);

    assertThat(fixture.counted(ACME)).isEqualTo(3);
  }

  @Test
  void count_of_an_older_version_is_split_into_parts() {
    fixture.sessions().deleteCount(ACME);
    for (int i = 0; i < 3; i++) {
      fixture.sessions().countUp(ACME, Long.MAX_VALUE);
    }
    assertThat(fixture.sessions().readCount(ACME).unattributed()).isEqualTo(3);

    assertThat(repair(NOTHING)).isZero();

    assertThat(fixture.counted(ACME)).isEqualTo(3);
    assertThat(fixture.sessions().readCount(ACME).unattributed()).isZero();
  }

  /** Runs an action once, in the pause between two readings. */
  private static Pause betweenReadings(Runnable action) {
    return duration -> {
      if (duration.compareTo(MARGIN) > 0) {
        action.run();
      }
    };
  }

  /** Ids of other connections in the same part of the count. */
  private static Iterator<String> inPartOf(String connectionId) {
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> "other-" + i)
        .filter(id -> ConnectionCount.partOf(id) == ConnectionCount.partOf(connectionId))
        .iterator();
  }

  @Test
  void change_between_two_readings_is_not_drift() {
    join("d");

    assertThat(repair(betweenReadings(() -> count("d")))).isZero();

    assertThat(fixture.counted(ACME)).isEqualTo(4);
  }

  @Test
  void different_changes_in_flight_at_both_readings_are_not_drift() {
    join("d");

    assertThat(repair(betweenReadings(() -> count("d", "d")))).isZero();

    assertThat(fixture.counted(ACME)).isEqualTo(5);
  }

  @Test
  void part_that_changes_during_each_reading_is_not_corrected() {
    Iterator<String> others = inPartOf("ghost");
    count("ghost");
    Runnable change =
        () -> {
          String next = others.next();
          join(next);
          count(next);
        };

    assertThat(repair(pause -> change.run())).isZero();

    assertThat(fixture.counted(ACME)).isEqualTo(fixture.open(ACME) + 1);
    assertThat(pauses).hasSize(24 * 2 + 23);
    assertThat(repair(NOTHING)).isEqualTo(1);
  }

  @Test
  void part_in_which_one_connection_replaces_another_is_not_stable() {
    Iterator<String> ids = inPartOf("a");
    Deque<String> joined = new ArrayDeque<>(List.of(ids.next()));
    join(joined.getLast());
    count(joined.getLast());
    count("ghost");
    AtomicInteger margins = new AtomicInteger();

    long repaired =
        repair(
            pause -> {
              if (!pause.equals(MARGIN)) {
                return;
              }
              // The count is read after the one was subtracted and before the other was added.
              if (margins.getAndIncrement() % 2 == 0) {
                fixture.sessions().leave(ACME, session, joined.getLast());
                countDown(joined.getLast());
                joined.add(ids.next());
                join(joined.getLast());
              } else {
                count(joined.getLast());
              }
            });

    assertThat(repaired).isEqualTo(1);
    assertThat(fixture.counted(ACME)).isEqualTo(fixture.open(ACME));
  }

  @Test
  void smallest_difference_of_a_part_is_its_drift() {
    count("x");
    assertThat(repair(betweenReadings(() -> count("x")))).isEqualTo(1);
    assertThat(fixture.counted(ACME)).isEqualTo(4);

    count("x");
    assertThat(repair(betweenReadings(() -> countDown("x")))).isEqualTo(1);
    assertThat(fixture.counted(ACME)).isEqualTo(3);
  }

  @Test
  void constantly_changing_count_is_repaired() {
    count("ghost");
    AtomicInteger made = new AtomicInteger();
    Runnable traffic =
        () -> {
          String next = "next-" + made.getAndIncrement();
          join(next);
          count(next);
        };
    fixture.faults().plan(9, Faults.concurrently(traffic));

    assertThat(repair(pause -> traffic.run())).isEqualTo(1);

    assertThat(fixture.faults().calls()).endsWith("Connections.correct");
    assertThat(made.get()).isGreaterThan(5);
    assertThat(fixture.counted(ACME)).isEqualTo(fixture.open(ACME));
  }

  @Test
  void two_recounts_with_the_same_drift_correct_it_once() {
    count("x");

    long repaired =
        repair(
            betweenReadings(
                () -> {
                  assertThat(HousekeepingFixture.repair(fixture.recount(), ACME)).isEqualTo(1);
                  count("x");
                }));

    assertThat(repaired).isZero();
    assertThat(fixture.counted(ACME)).isEqualTo(4);
    assertThat(repair(NOTHING)).isEqualTo(1);
  }

  @Test
  void count_of_an_older_version_is_not_split_while_a_part_is_unknown() {
    fixture.sessions().deleteCount(ACME);
    for (int i = 0; i < 3; i++) {
      fixture.sessions().countUp(ACME, Long.MAX_VALUE);
    }
    Iterator<String> others = inPartOf("a");

    long repaired =
        repair(
            pause -> {
              String next = others.next();
              join(next);
              count(next);
            });

    assertThat(repaired).isZero();
    assertThat(fixture.counted(ACME)).isEqualTo(fixture.open(ACME));
    assertThat(fixture.sessions().readCount(ACME).unattributed()).isEqualTo(3);
  }

  @Test
  void interrupted_pause_repairs_nothing() {
    join("d");

    Recount recount = fixture.recount(duration -> Thread.currentThread().interrupt());
    Recount.Repair repair =
        recount
            .repair(List.of(ACME), known -> true, Runnable::run)
            .getOrDefault(ACME, new Recount.Repair(0, Optional.empty()));

    assertThat(Thread.interrupted()).isTrue();
    assertThat(repair.drift()).isZero();
    assertThat(repair.failure()).containsInstanceOf(Unavailable.class);
    assertThat(fixture.counted(ACME)).isEqualTo(3);
  }

  // Random traffic.

  @Test
  void one_recount_without_traffic_makes_the_count_right() {
    for (long seed = 1; seed <= 400; seed++) {
      RandomConnections traffic = new RandomConnections(new Random(seed), true);
      for (int i = 0; i < 5; i++) {
        traffic.perform(40);
        traffic.underTraffic(
            recount -> HousekeepingFixture.repair(recount, ACME), () -> traffic.perform(10));
      }
      traffic.finishWrites();

      long before = traffic.fixture.counted(ACME) - traffic.fixture.open(ACME);
      long repaired = HousekeepingFixture.repair(traffic.fixture.recount(), ACME);

      assertThat(traffic.fixture.counted(ACME))
          .as("seed %d", seed)
          .isEqualTo(traffic.fixture.open(ACME));
      assertThat(repaired).as("seed %d", seed).isEqualTo(before);
    }
  }

  @Test
  void change_in_flight_at_one_reading_is_never_repaired() {
    for (long seed = 1; seed <= 400; seed++) {
      RandomConnections traffic = new RandomConnections(new Random(seed), false);
      for (int i = 0; i < 10; i++) {
        traffic.perform(20);
        traffic.underTraffic(
            recount ->
                assertThat(HousekeepingFixture.repair(recount, ACME)).as("repaired").isZero(),
            traffic::finishWrites);
      }
      traffic.finishWrites();
      if (traffic.fixture.counted(ACME) != traffic.fixture.open(ACME)) {
        fail("seed " + seed);
      }
    }
  }
}
