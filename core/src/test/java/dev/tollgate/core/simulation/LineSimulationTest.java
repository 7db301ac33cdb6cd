package dev.tollgate.core.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.simulation.LineSimulation.Client;
import dev.tollgate.core.simulation.LineSimulation.Manners;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LineSimulationTest {
  private static final BucketSpec THIRTY =
      new BucketSpec(Rate.perMinute(30), 30, new FillPolicy(FillMode.PRODUCER, 15));

  @Test
  void ninety_polite_clients_come_back_once() {
    LineSimulation without = new LineSimulation(1, THIRTY, false);
    LineSimulation with = new LineSimulation(1, THIRTY, true);
    for (LineSimulation simulation : List.of(without, with)) {
      for (int i = 0; i < 90; i++) {
        simulation.arrive(Duration.ofMillis(10L * i), Manners.POLITE);
      }
      simulation.passUntil(simulation.now().plusSeconds(130));
    }
    assertThat(refusals(without)).isGreaterThan(900);
    assertThat(refusals(with)).isEqualTo(60);
    assertThat(with.clients).allMatch(client -> client.refusals <= 1);
    assertThat(with.clients).allMatch(client -> client.waited().toSeconds() <= 122);
  }

  @Test
  void the_tokens_of_no_shows_are_used() {
    for (long seed = 1; seed < 4; seed++) {
      LineSimulation simulation = new LineSimulation(seed, THIRTY, true);
      Instant start = simulation.now();
      simulation.drain();
      int drained = simulation.admitted;
      Random random = new Random(seed);
      for (int i = 0; i < 1_200; i++) {
        simulation.arrive(
            Duration.ofMillis(1_000L * i),
            random.nextInt(10) < 3 ? Manners.NO_SHOW : Manners.POLITE);
      }
      simulation.passUntil(start.plusSeconds(1_200));
      System.out.println("used " + (simulation.admitted - drained) + " of 600");
      assertThat(simulation.admitted - drained).isBetween(570, 630);
      assertThat(simulation.clients).allMatch(client -> client.refusals <= 1);
    }
  }

  @Test
  void calm_histories() {
    int broken = 0;
    for (long seed = 1; seed <= 500; seed++) {
      Random random = new Random(seed);
      int rate = 1 + random.nextInt(random.nextBoolean() ? 20 : 600);
      long least = Math.max(2, rate / 5);
      BucketSpec spec =
          new BucketSpec(
              Rate.perMinute(rate),
              least + random.nextInt(random.nextBoolean() ? 3 : 2 * rate + 1),
              new FillPolicy(FillMode.PRODUCER, 15));
      LineSimulation simulation = new LineSimulation(seed, spec, true);
      Manners[] manners = Manners.values();
      int mix = 1 + random.nextInt(manners.length);
      int count = 1 + random.nextInt(200);
      int spread = 1 + random.nextInt(120_000);
      for (int i = 0; i < count; i++) {
        simulation.arrive(
            Duration.ofMillis(random.nextInt(spread)), manners[random.nextInt(mix)]);
      }
      simulation.passUntil(
          simulation.now().plusSeconds(600 + 60L * (2 * count) / rate));
      long twice =
          simulation.clients.stream()
              .filter(client -> client.manners == Manners.POLITE && client.refusals > 1)
              .count();
      long outside =
          simulation.clients.stream()
              .filter(client -> client.manners != Manners.NO_SHOW && client.admittedAt.isEmpty())
              .count();
      if (twice > 0 || outside > 0) {
        broken++;
        System.out.println(
            "seed " + seed + " " + spec.rate() + " cap " + spec.capacity() + " clients " + count + " mix " + mix
                + ": refused twice " + twice + ", max "
                + simulation.clients.stream()
                    .filter(client -> client.manners == Manners.POLITE)
                    .mapToInt(client -> client.refusals)
                    .max().orElse(0)
                + ", outside " + outside);
      }
    }
    System.out.println("broken " + broken);
  }

  private static int refusals(LineSimulation simulation) {
    return simulation.clients.stream().mapToInt(client -> client.refusals).sum();
  }
}
