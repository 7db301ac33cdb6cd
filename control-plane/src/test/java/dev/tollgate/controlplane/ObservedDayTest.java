package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.Span;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.Retreat;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A day of a tier: observed until 8:00, enforced until 14:00, then given far too low a limit by
 * mistake, from which it retreats by itself, and enforced again from 18:00 on. Prints its seed.
 */
class ObservedDayTest {
  private static final String TIER = "bronze";
  private static final int TENANTS = 300;
  private static final Instant ENFORCED = hour(8);
  private static final Instant MISTAKEN = hour(14);
  private static final Instant MENDED = hour(18);

  private SimulatedDay day;

  private static Instant hour(int hour) {
    return SimulatedDay.MIDNIGHT.plus(hour, ChronoUnit.HOURS);
  }

  /** The numbers of the tier's tenants in a time; without those that have none. */
  private Map<String, Long> sums(Instant from, Instant to, ToLongFunction<Counts> number) {
    Map<String, Long> sums = new TreeMap<>();
    for (String tenant : day.tenants()) {
      TenantId id = new TenantId(tenant);
      if (day.at.tenant(tenant).orElseThrow().tier().value().equals(TIER)) {
        long sum =
            day.at.history.of(id, new Span(from, to)).values().stream().mapToLong(number).sum();
        if (sum > 0) {
          sums.put(tenant, sum);
        }
      }
    }
    return sums;
  }

  private static long all(Map<String, Long> sums) {
    return sums.values().stream().mapToLong(Long::longValue).sum();
  }

  private static void print(String time, Map<String, Long> refused, Map<String, Long> observed) {
    System.out.printf(
        "%s: refused %d of %d tenants, would have refused %d of %d, such as %s%n",
        time,
        all(refused),
        refused.size(),
        all(observed),
        observed.size(),
        (refused.isEmpty() ? observed : refused).entrySet().stream().limit(3).toList());
  }

  private Tier tier() {
    return day.at.tiers.find(new TierName(TIER)).orElseThrow();
  }

  private static void observe(ObjectNode document) {
    ObjectNode modes = document.putObject("modes");
    for (Limit limit : Limit.values()) {
      if (limit.modes().contains(LimitMode.OBSERVE)) {
        modes.put(limit.key(), "OBSERVE");
      }
    }
  }

  @Tag("nightly")
  @Test
  void tier_is_observed_enforced_and_retreats_from_a_mistake() {
    long seed = Long.getLong("observed.seed", System.nanoTime() % 1_000_000);
    System.out.println("a tier's day with seed " + seed + ", repeat with -Dobserved.seed=" + seed);
    day = new SimulatedDay(seed, TENANTS);
    JsonNode first = day.at.getTier(TIER).document();
    String before = first.toString();
    day.at(SimulatedDay.MIDNIGHT, () -> day.put(TIER, before, ObservedDayTest::observe));
    day.at(ENFORCED, () -> day.put(TIER, before, document -> {}));
    day.at(
        MISTAKEN,
        () ->
            day.put(
                TIER,
                before,
                document -> {
                  ((ObjectNode) document.get("limits")).put("tenantConnections", 1);
                  document.put("retreatAbovePercent", 40);
                }));
    day.at(
        MENDED, () -> day.put(TIER, before, document -> document.put("retreatAbovePercent", 40)));
    for (int minute = 0; minute < Duration.ofDays(1).toMinutes(); minute++) {
      day.at(SimulatedDay.MIDNIGHT.plus(minute, ChronoUnit.MINUTES).plusSeconds(5), day::sweep);
    }

    day.run();

    Map<String, Long> wouldRefuse = sums(SimulatedDay.MIDNIGHT, ENFORCED, Counts::wouldRefuseInAll);
    print("observed", sums(SimulatedDay.MIDNIGHT, ENFORCED, Counts::refusedInAll), wouldRefuse);
    // The minute of the change has both.
    Instant enforced = ENFORCED.plusSeconds(60);
    Map<String, Long> refused = sums(enforced, MISTAKEN, Counts::refusedInAll);
    print("enforced", refused, sums(enforced, MISTAKEN, Counts::wouldRefuseInAll));
    Instant retreat = tier().retreat().flatMap(Retreat::at).orElseThrow();
    Instant retreated = retreat.truncatedTo(ChronoUnit.MINUTES).plusSeconds(60);
    print(
        "mistaken",
        sums(MISTAKEN, retreated, Counts::refusedInAll),
        sums(MISTAKEN, retreated, Counts::wouldRefuseInAll));
    Map<String, Long> after = sums(retreated, MENDED, Counts::wouldRefuseInAll);
    print("retreated", sums(retreated, MENDED, Counts::refusedInAll), after);
    System.out.println("retreat " + Duration.between(MISTAKEN, retreat) + " after the mistake");

    assertThat(sums(SimulatedDay.MIDNIGHT, ENFORCED, Counts::refusedInAll)).isEmpty();
    assertThat(wouldRefuse).isNotEmpty();
    assertThat(refused).isNotEmpty();
    assertThat(sums(enforced, MISTAKEN, Counts::wouldRefuseInAll)).isEmpty();
    // Five complete minutes have a hundred connections of the tier.
    assertThat(retreat).isBetween(MISTAKEN, MISTAKEN.plusSeconds(600));
    assertThat(sums(retreated, MENDED, Counts::refusedInAll)).isEmpty();
    assertThat(all(after)).isGreaterThan(100);
    assertThat(tier().limits().modes()).isEmpty();
    assertThat(tier().retreat().flatMap(Retreat::at)).contains(retreat);
  }
}
