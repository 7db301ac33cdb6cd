package dev.tollgate.handlers.housekeeping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.connect.RefusalCounts;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.HousekeepingFixture;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.http.testing.RecordingContext;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class HousekeeperTest {
  private final HousekeepingFixture house = new HousekeepingFixture();
  private final Tenant acme = house.town().onboard("acme", "gold", Map.of());
  private final Tenant beta = house.town().onboard("beta", "bronze", Map.of());
  private final Housekeeper housekeeper =
      new Housekeeper(
          house.housekeeping(), new Metrics(house.town().clock()), house.town().clock());

  private Map<String, Long> keep(RecordingContext context) {
    return housekeeper.handleRequest(Map.of(), context);
  }

  @Test
  void a_run_repairs_each_tenant_and_reports_the_repairs() {
    house.open(acme, "a", "b");
    house.open(beta, "c");
    house.sockets().lose("a");
    house.pass(Duration.ofSeconds(200));
    Instant now = house.town().clock().instant();
    house
        .town()
        .activity()
        .addRefused(acme.id(), new RefusalCounts(1, Optional.of(now), Optional.empty()));
    RecordingContext context = new RecordingContext(Duration.ofMinutes(1));

    assertThat(keep(context))
        .isEqualTo(
            Map.of(
                "visitedTenants", 2L,
                "leftTenants", 0L,
                "failedVisits", 0L,
                "sessionsEnded", 1L,
                "connectionsDropped", 1L,
                "drift", 1L));

    assertThat(context.logged())
        .hasSize(2)
        .anySatisfy(
            line ->
                assertThat(line)
                    .contains(
                        "\"SessionsEnded\":0",
                        "\"ConnectionsDropped\":1",
                        "\"Drift\":1",
                        "\"tenantId\":\"acme\""))
        .anySatisfy(
            line -> assertThat(line).contains("\"SessionsEnded\":1", "\"tenantId\":\"beta\""));
    assertThat(house.counted(acme.id())).isEqualTo(1);
    assertThat(house.counted(beta.id())).isZero();
  }

  @Test
  void a_run_without_repairs_logs_nothing() {
    house.open(acme, "a");
    RecordingContext context = new RecordingContext(Duration.ofMinutes(1));

    assertThat(keep(context)).containsEntry("visitedTenants", 1L);

    assertThat(context.logged()).isEmpty();
  }

  @Test
  void no_visit_starts_shortly_before_the_end_of_the_invocation() {
    house.open(acme, "a");

    assertThat(keep(new RecordingContext(Duration.ofSeconds(15))))
        .containsEntry("visitedTenants", 0L)
        .containsEntry("leftTenants", 1L);
  }

  @Test
  void a_failed_visit_is_counted_and_logged() {
    house.open(acme, "a");
    house.pass(Duration.ofMinutes(5));
    house.sockets().outage().begin();
    RecordingContext context = new RecordingContext(Duration.ofMinutes(1));

    assertThat(keep(context)).containsEntry("failedVisits", 1L);

    assertThat(context.logged())
        .containsExactly("visit of acme failed, the next run continues: close: out of order");
  }
}
