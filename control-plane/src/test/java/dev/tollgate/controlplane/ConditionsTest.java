package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.condition.TenantCondition;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.Retreat;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Conditions of tenants, and tiers that stop enforcing their limits, by sweeps. */
class ConditionsTest {
  private static final TenantId ACME = new TenantId("acme");

  private final ControlPlaneFixture at = new ControlPlaneFixture();
  private int batches;

  /** What happened in the last complete minute, and a sweep. */
  private void happened(String tenant, long admitted, long refused) {
    Instant minute = at.clock.instant().truncatedTo(ChronoUnit.MINUTES).minusSeconds(120);
    Map<Refusal, Long> reasons = refused == 0 ? Map.of() : Map.of(Refusal.TENANT_RATE, refused);
    at.history.add(
        "b" + ++batches,
        List.of(
            new Change(new TenantId(tenant), minute, new Counts(admitted, reasons, 1, Map.of()))));
    at.sweep();
  }

  private void quietMinutes(int minutes) {
    at.clock.advance(Duration.ofMinutes(minutes));
    at.sweep();
  }

  private Tier tier() {
    return at.tiers.find(new TierName("tried")).orElseThrow();
  }

  private void putTier() {
    at.putTier(
        "tried",
        """
        {"isolation":"POOL","retreatAbovePercent":5,
         "limits":{"tenantPerMinute":6000,"sessionPerMinute":60,"connectionsPerSession":9,
          "tenantConnections":90,"sessionTTL":300,"messagesPerMinute":60}}
        """);
  }

  @Test
  void throttled_tenant_recovers_after_five_quiet_minutes() {
    at.onboard("acme", "bronze");

    happened("acme", 10, 31);
    assertThat(at.conditions.list())
        .containsExactly(
            TenantCondition.ordinary(ACME)
                .with(Optional.of(new TenantCondition.Throttling(10, 31))));
    quietMinutes(4);
    assertThat(at.conditions.list()).hasSize(1);
    quietMinutes(1);
    assertThat(at.conditions.list()).isEmpty();
  }

  @Test
  void condition_of_an_offboarded_tenant_is_deleted() {
    at.onboard("acme", "bronze");
    happened("acme", 10, 31);
    at.delete("acme");

    quietMinutes(5);

    assertThat(at.conditions.list()).isEmpty();
  }

  @Test
  void nothing_is_written_while_nothing_changes() {
    at.onboard("acme", "bronze");
    happened("acme", 10, 31);
    long writes = writes();

    at.sweep();

    assertThat(writes()).isEqualTo(writes).isEqualTo(1);
  }

  private long writes() {
    return at.faults.calls().stream().filter(call -> call.equals("Conditions.put")).count();
  }

  @Test
  void tier_stops_to_enforce_and_is_enforced_again() {
    putTier();
    at.onboard("acme", "tried");
    at.onboard("globex", "tried");
    happened("acme", 40, 60);
    happened("globex", 80, 20);
    assertThat(tier().limits().modes()).as("refused before the tier was like this").isEmpty();
    quietMinutes(7);
    happened("acme", 40, 60);
    assertThat(tier().limits().modes()).as("one tenant alone").isEmpty();

    happened("globex", 80, 20);

    Instant now = at.clock.instant();
    assertThat(tier().limits().mode(Limit.TENANT_PER_MINUTE)).isEqualTo(LimitMode.OBSERVE);
    assertThat(tier().retreat()).contains(new Retreat(5, Optional.of(now)));
    assertThat(at.tenants.find(ACME).orElseThrow().limits().mode(Limit.TENANT_CONNECTIONS))
        .isEqualTo(LimitMode.OBSERVE);
    assertThat(at.getTier("tried").document().get("retreatedAt").asText())
        .isEqualTo(now.toString());

    // The refusals of before do not count again.
    putTier();
    at.sweep();
    assertThat(tier().limits().modes()).isEmpty();
    assertThat(tier().retreat().flatMap(Retreat::at)).contains(now);
    quietMinutes(7);
    happened("acme", 50, 50);
    happened("globex", 50, 50);
    assertThat(tier().limits().modes()).isNotEmpty();
  }

  /** One of another tier, or of the same tier, whose roll-out it keeps open. */
  @ParameterizedTest
  @ValueSource(strings = {"bronze", "tried"})
  void tenant_that_cannot_be_read_does_not_stop_the_others(String tierOfNewer) {
    putTier();
    at.onboard("acme", "tried");
    at.onboard("globex", "tried");
    at.onboard("newer", tierOfNewer);
    at.tenants.writeByNewerRelease(new TenantId("newer"));
    happened("acme", 1, 0);
    happened("globex", 1, 0);
    quietMinutes(17);
    happened("newer", 1, 1);
    happened("acme", 40, 60);

    happened("globex", 40, 60);

    assertThat(tier().limits().modes()).isNotEmpty();
  }

  @Test
  void refusals_of_before_a_tenant_moved_do_not_count() {
    putTier();
    at.onboard("acme", "bronze");
    at.onboard("globex", "bronze");
    for (int minute = 0; minute < 12; minute++) {
      if (minute < 8) {
        happened("acme", 0, 100);
        happened("globex", 0, 100);
      }
      if (minute == 8) {
        at.patch("acme", "{\"tier\":\"tried\"}");
        at.patch("globex", "{\"tier\":\"tried\"}");
      }
      quietMinutes(1);
      assertThat(tier().limits().modes()).as("minute %d", minute).isEmpty();
    }
  }
}
