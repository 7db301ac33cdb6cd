package dev.tollgate.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.simulation.LineSimulation.Client;
import dev.tollgate.core.simulation.LineSimulation.Manners;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares waiting with and without a line. */
class LineSimulationTest {
  private static final int PER_MINUTE = 30;
  private static final BucketSpec SPEC = BucketSpec.ofRate(Rate.perMinute(PER_MINUTE));

  /** What the next second and the client's request add to a wait. */
  private static final Duration ROUNDING = Duration.ofMillis(2_500);

  private static int refusals(List<Client> clients) {
    return clients.stream().mapToInt(client -> client.refusals).sum();
  }

  private static LineSimulation crowd(long seed, int count, boolean inLine) {
    LineSimulation simulation = new LineSimulation(seed, SPEC, inLine);
    for (int i = 0; i < count; i++) {
      simulation.arrive(Duration.ofMillis(10L * i), Manners.POLITE);
    }
    simulation.passUntil(simulation.now().plus(shortest(count)).plus(ROUNDING));
    return simulation;
  }

  /** The shortest time in which the bucket has a token for each of them. */
  private static Duration shortest(int count) {
    return Duration.ofMinutes(count - PER_MINUTE).dividedBy(PER_MINUTE);
  }

  @ParameterizedTest
  @ValueSource(ints = {90, 300})
  void everybody_in_line_comes_back_once_and_nobody_later_than_needed(int count) {
    for (long seed = 1; seed <= 5; seed++) {
      List<Client> clients = crowd(seed, count, true).clients;

      assertThat(clients).as("seed %d", seed).allMatch(client -> client.refusals <= 1);
      assertThat(refusals(clients)).isEqualTo(count - PER_MINUTE);
      assertThat(clients).allMatch(client -> client.admittedAt.isPresent());
    }
  }

  @Test
  void without_a_line_clients_come_back_again_and_again() {
    List<Client> clients = crowd(1, 90, false).clients;

    assertThat(refusals(clients)).isGreaterThan(900);
    assertThat(clients).anyMatch(client -> client.refusals >= 30);
  }

  @ParameterizedTest
  @CsvSource({"30, 30", "30, 15", "8, 4", "10, 5"})
  void tokens_of_clients_that_do_not_come_back_are_used(int perMinute, int capacity) {
    for (long seed = 1; seed <= 5; seed++) {
      LineSimulation simulation =
          new LineSimulation(seed, new BucketSpec(Rate.perMinute(perMinute), capacity), true);
      simulation.drain();
      int before = simulation.admitted;
      Random random = new Random(seed);
      int minted = 20 * perMinute;
      for (int i = 0; i < 2 * minted; i++) {
        simulation.arrive(
            Duration.ofMillis(30_000L * i / perMinute),
            random.nextInt(10) < 3 ? Manners.NO_SHOW : Manners.POLITE);
      }
      simulation.passUntil(simulation.now().plus(Duration.ofMinutes(20)));

      assertThat(simulation.admitted - before)
          .as("seed %d: tokens used of %d", seed, minted)
          .isBetween(minted * 95 / 100, minted);
      assertThat(simulation.clients)
          .filteredOn(client -> client.manners == Manners.POLITE)
          .allMatch(client -> client.refusals <= 1);
    }
  }

  @Test
  void lower_rate_delays_only_those_whose_tokens_were_not_minted() {
    for (long seed = 1; seed <= 20; seed++) {
      LineSimulation simulation = new LineSimulation(seed, SPEC, true);
      simulation.drain();
      Instant drained = simulation.now();
      for (int i = 0; i < 60; i++) {
        simulation.arrive(Duration.ofMillis(10L * i), Manners.POLITE);
      }
      simulation.passUntil(drained.plusSeconds(15));
      simulation.retune(Duration.ZERO, Rate.perMinute(PER_MINUTE / 2));
      simulation.passUntil(simulation.now());
      Instant through = simulation.row().ledger().mintedThrough(simulation.row().spec());
      long minted = Duration.between(drained, through).toSeconds() * PER_MINUTE / 60;
      Instant ideal = through.plusSeconds((60 - minted) * 60 * 2 / PER_MINUTE);
      simulation.passUntil(ideal.plus(ROUNDING).plusSeconds(1));

      assertThat(simulation.clients)
          .as("seed %d", seed)
          .allMatch(client -> client.admittedAt.isPresent())
          .allMatch(client -> client.refusals <= 2)
          .filteredOn(client -> !client.toldFirst.orElse(Instant.MAX).isAfter(through))
          .allMatch(client -> client.refusals == 1);
    }
  }

  @Test
  void higher_rate_keeps_all_slots() {
    for (long seed = 1; seed <= 5; seed++) {
      LineSimulation simulation = new LineSimulation(seed, SPEC, true);
      for (int i = 0; i < 90; i++) {
        simulation.arrive(Duration.ofMillis(10L * i), Manners.POLITE);
      }
      simulation.retune(Duration.ofSeconds(15), Rate.perMinute(2 * PER_MINUTE));
      simulation.passUntil(simulation.now().plus(shortest(90)).plus(ROUNDING));

      assertThat(simulation.clients)
          .as("seed %d", seed)
          .allMatch(client -> client.refusals <= 1)
          .allMatch(client -> client.admittedAt.isPresent());
    }
  }

  @Test
  void impolite_clients_do_not_delay_polite_ones() {
    for (long seed = 1; seed <= 5; seed++) {
      LineSimulation simulation = new LineSimulation(seed, SPEC, true);
      for (int i = 0; i < 90; i++) {
        simulation.arrive(
            Duration.ofMillis(10L * i), i % 2 == 0 ? Manners.POLITE : Manners.IMPOLITE);
      }
      simulation.passUntil(simulation.now().plus(shortest(90)).plus(ROUNDING));

      List<Client> polite =
          simulation.clients.stream().filter(client -> client.manners == Manners.POLITE).toList();
      List<Client> alike = crowd(seed, 90, true).clients;
      assertThat(polite).as("seed %d", seed).allMatch(client -> client.refusals <= 1);
      assertThat(polite)
          .allMatch(
              client ->
                  client.waited().compareTo(alike.get(client.number).waited().plusSeconds(1)) <= 0);
    }
  }
}
