package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.controlplane.Investigation.Finding;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Incidents in a day of 1,000 tenants are found from the answers of the history's routes alone. To
 * repeat a day: {@code -Dincidents.seed=N}.
 */
@Tag("nightly")
class IncidentsTest {
  private static final int TENANTS = 1_000;
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final long seed =
      Optional.ofNullable(System.getProperty("incidents.seed"))
          .map(Long::valueOf)
          .orElseGet(() -> new Random().nextLong());

  @Test
  void three_incidents_are_found_with_their_first_and_last_minutes_and_reasons() {
    System.out.println("IncidentsTest: -Dincidents.seed=" + seed);
    Random random = new Random(seed);
    SimulatedDay day = new SimulatedDay(seed, TENANTS);
    String tenant = day.tenants().get(random.nextInt(TENANTS));
    String tier = otherTier(day, tenant, random);
    Instant storm = minute(random, 1, 22);
    Instant stop = minute(random, 1, 22);
    // Somebody changes a tier in working hours.
    Instant change = minute(random, 9, 17);
    day.storm(tenant, storm, Duration.ofMinutes(20));
    day.stopFills(stop, Duration.ofMinutes(15));
    day.shrink(tier, change, Duration.ofHours(1));

    day.run();

    assertThat(new Investigation(day.at).findings(SimulatedDay.MIDNIGHT))
        .as("seed %d", seed)
        .containsExactlyInAnyOrder(
            new Finding(tenant, storm, storm.plus(MINUTE.multipliedBy(19)), "TENANT_RATE"),
            new Finding("fleet", stop, stop.plus(MINUTE.multipliedBy(14)), "no tokens minted"),
            new Finding(
                "tier " + tier,
                change,
                change.plus(MINUTE.multipliedBy(59)),
                "TENANT_CONNECTIONS"));
  }

  @Test
  void a_day_without_incidents_has_refusals_and_no_findings() {
    System.out.println("IncidentsTest: -Dincidents.seed=" + seed);
    SimulatedDay day = new SimulatedDay(seed, TENANTS);

    day.run();

    Investigation investigation = new Investigation(day.at);
    assertThat(investigation.findings(SimulatedDay.MIDNIGHT)).as("seed %d", seed).isEmpty();
    assertThat(investigation.fleetByHour(SimulatedDay.MIDNIGHT))
        .hasSize(24)
        .allMatch(hour -> hour.path("refused").asLong() > 0);
  }

  private static Instant minute(Random random, int fromHour, int toHour) {
    int minute = fromHour * 60 + random.nextInt((toHour - fromHour) * 60);
    return SimulatedDay.MIDNIGHT.plus(MINUTE.multipliedBy(minute));
  }

  /** Tenants over their connections are not refused by a rate, so the storm has another tier. */
  private static String otherTier(SimulatedDay day, String tenant, Random random) {
    JsonNode document = day.at.get(tenant).document();
    List<String> others =
        List.of("bronze", "silver", "gold").stream()
            .filter(tier -> !tier.equals(document.get("tier").asText()))
            .toList();
    return others.get(random.nextInt(others.size()));
  }
}
