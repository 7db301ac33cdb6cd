package dev.tollgate.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.session.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Checks that counts are repaired under traffic. {@link BurstSimulation} checks its laws after
 * every event.
 */
final class BurstSimulationTest {
  private static final Duration SOON = Duration.ofMinutes(2);
  private static final int SEEDS = 2;

  /** The time to list 500 sessions. */
  private static final Duration LISTING = Duration.ofMillis(60);

  /**
   * Plans random connects and disconnects, without an end.
   *
   * @param perSecond the number of connects and disconnects in total
   * @param connects the percentage of connects
   */
  private static void traffic(
      BurstSimulation simulation,
      Random random,
      List<SessionId> sessions,
      int perSecond,
      int connects) {
    if (random.nextInt(100) < connects) {
      simulation.connect(sessions.get(random.nextInt(sessions.size())), id -> {});
    } else {
      simulation.closeSome(false);
    }
    long nanos = (long) (-Math.log(1 - random.nextDouble()) * 1_000_000_000 / perSecond);
    simulation.after(
        Duration.ofNanos(nanos), () -> traffic(simulation, random, sessions, perSecond, connects));
  }

  private static BurstSimulation busy(
      long seed, long limit, int open, int perSecond, int connects, Duration listing) {
    BurstSimulation simulation = new BurstSimulation(seed, limit, listing);
    List<SessionId> sessions = Stream.generate(simulation::session).limit(500).toList();
    for (int i = 0; i < open; i++) {
      simulation.connect(sessions.get(i % sessions.size()), id -> {});
    }
    simulation.pass(Duration.ofSeconds(10));
    traffic(simulation, new Random(seed), sessions, perSecond, connects);
    simulation.pass(Duration.ofSeconds(20 + new Random(-seed).nextInt(60)));
    return simulation;
  }

  /** Steady traffic, and a tenant that grows by sixty connections a second. */
  @ParameterizedTest
  @CsvSource({"100, 50", "200, 65"})
  void hundred_lost_disconnects_near_the_limit_are_repaired_within_two_minutes(
      int perSecond, int connects) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      BurstSimulation simulation =
          busy(seed, connects > 50 ? 14_000 : 2_100, 2_000, perSecond, connects, LISTING);
      for (int i = 0; i < 100; i++) {
        simulation.closeSome(true);
      }
      if (connects > 50) {
        // The tenant grows; the refusal marks it as near its limit.
        simulation.refuse();
      }
      Instant lost = simulation.now();

      simulation.pass(SOON);

      assertThat(simulation.isRepairedSince(lost))
          .as(
              "seed %d, lost at %s: %d ghosts, drift %d",
              seed, lost, simulation.ghosts(), simulation.drift())
          .isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"100, 50", "200, 65"})
  void hundred_crashes_between_two_writes_are_repaired_within_two_minutes(
      int perSecond, int connects) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      BurstSimulation simulation = busy(seed, 100_000, 2_000, perSecond, connects, LISTING);
      for (int i = 0; i < 100; i++) {
        simulation.crashAtDisconnect();
      }
      assertThat(simulation.drift()).isEqualTo(100);

      simulation.pass(SOON);

      assertThat(simulation.drift()).as("drift of seed %d", seed).isZero();
      assertThat(simulation.probes()).isZero();
    }
  }

  @Test
  void correct_counts_are_never_corrected() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      BurstSimulation simulation = busy(seed, 100_000, 2_000, 200, 50, LISTING);
      for (int second = 0; second < 300; second++) {
        simulation.pass(Duration.ofSeconds(1));
        assertThat(simulation.drift()).as("drift of seed %d", seed).isZero();
      }
    }
  }

  /**
   * Six clients, each in its own session, connect and disconnect for {@code time}; a tenth of the
   * disconnects is lost.
   */
  private static BurstSimulation visitors(
      long seed, long limit, int quiet, Duration cycle, Duration time) {
    BurstSimulation simulation = new BurstSimulation(seed, limit, Duration.ofMillis(20));
    Random random = new Random(seed);
    for (int i = 0; i < quiet; i += 10) {
      SessionId session = simulation.session();
      for (int j = 0; j < 10; j++) {
        simulation.connect(session, id -> {});
      }
    }
    Instant end = simulation.now().plus(time);
    List<SessionId> sessions = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      sessions.add(simulation.session());
      visit(simulation, random, sessions.get(i), cycle, end);
    }
    return simulation;
  }

  private static void visit(
      BurstSimulation simulation, Random random, SessionId session, Duration cycle, Instant end) {
    simulation.connect(
        session,
        id ->
            simulation.after(
                Duration.ofMillis(400), () -> simulation.close(id, random.nextInt(10) == 0)));
    if (simulation.now().isBefore(end)) {
      simulation.after(cycle, () -> visit(simulation, random, session, cycle, end));
    }
  }

  @Test
  void ghosts_near_the_limit_last_at_most_two_minutes_and_cause_no_false_429() {
    for (long seed = 1; seed <= 4 * SEEDS; seed++) {
      BurstSimulation simulation =
          visitors(seed, 150, 110, Duration.ofSeconds(3), Duration.ofMinutes(4));
      simulation.pass(Duration.ofMinutes(4));

      assertThat(simulation.admitted()).isGreaterThan(500);
      assertThat(simulation.refused()).as("refused with seed %d", seed).isZero();
      assertThat(simulation.oldestGhostNear())
          .as("oldest of seed %d", seed)
          .isLessThanOrEqualTo(SOON);
      simulation.pass(SOON);
      assertThat(simulation.oldestGhostNear())
          .as("oldest of seed %d", seed)
          .isLessThanOrEqualTo(SOON);
    }
  }

  @Test
  void tenant_filled_with_ghosts_is_refused_for_at_most_two_minutes() {
    for (long seed = 1; seed <= 4 * SEEDS; seed++) {
      BurstSimulation simulation =
          visitors(seed, 24, 10, Duration.ofSeconds(3), Duration.ofMinutes(20));
      int refusedInARow = 0;
      int before = 0;
      int admittedBefore = 0;
      for (int second = 0; second < 20 * 60; second++) {
        simulation.pass(Duration.ofSeconds(1));
        boolean isRefused =
            simulation.refused() > before && simulation.admitted() == admittedBefore;
        boolean isAdmitted = simulation.admitted() > admittedBefore;
        refusedInARow = isAdmitted ? 0 : refusedInARow + (isRefused || refusedInARow > 0 ? 1 : 0);
        before = simulation.refused();
        admittedBefore = simulation.admitted();
        assertThat(refusedInARow).as("seconds of refusals, seed %d", seed).isLessThan(120);
      }
      assertThat(simulation.refused()).isPositive();
      assertThat(simulation.oldestGhostNear())
          .as("oldest of seed %d", seed)
          .isLessThanOrEqualTo(SOON);
    }
  }

  @Test
  void no_socket_is_checked_far_from_the_limit_and_ghosts_are_counted() {
    for (long seed = 1; seed <= 4 * SEEDS; seed++) {
      BurstSimulation simulation =
          visitors(seed, 1_000, 0, Duration.ofSeconds(1), Duration.ofMinutes(4));
      simulation.pass(Duration.ofMinutes(17));

      assertThat(simulation.admitted()).isGreaterThan(1_400);
      assertThat(simulation.refused()).isZero();
      assertThat(simulation.probes()).isZero();
      assertThat(simulation.ghosts()).as("a tenth").isPositive();
      assertThat(simulation.drift()).isZero();
    }
  }
}
