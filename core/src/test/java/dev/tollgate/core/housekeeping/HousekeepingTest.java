package dev.tollgate.core.housekeeping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.HousekeepingFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class HousekeepingTest {
  private final HousekeepingFixture fixture = new HousekeepingFixture();

  private List<Tenant> tenants(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> fixture.ports().onboard("tenant-" + i, "gold", Map.of()))
        .toList();
  }

  @Test
  void run_visits_exactly_the_tenants_that_opened_sessions() {
    List<Tenant> tenants = tenants(4);
    tenants.subList(0, 3).forEach(tenant -> fixture.open(tenant, "of-" + tenant.id()));
    fixture.pass(Duration.ofMinutes(5));

    Housekeeping.Report walk = fixture.runHousekeeping();

    assertThat(walk.notVisited()).isZero();
    assertThat(walk.visits())
        .extracting(VisitReport::tenant)
        .containsExactlyInAnyOrderElementsOf(
            tenants.subList(0, 3).stream().map(Tenant::id).toList());
    assertThat(walk.visits()).allMatch(visit -> visit.sessionsEnded() == 1);
    assertThat(fixture.sockets().closed()).hasSize(3);
  }

  @Test
  void failing_visit_does_not_stop_the_other_visits() {
    tenants(5).forEach(tenant -> fixture.open(tenant, "of-" + tenant.id()));
    fixture.pass(Duration.ofMinutes(5));
    fixture
        .faults()
        .plan(
            2,
            call -> {
              throw new IllegalStateException("a row that cannot be read");
            });

    Housekeeping.Report walk = fixture.runHousekeeping();

    assertThat(walk.visits()).hasSize(5);
    assertThat(walk.visits().stream().filter(visit -> visit.failure().isPresent()))
        .singleElement()
        .satisfies(
            visit -> assertThat(visit.failure().orElseThrow()).contains("a row that cannot be"));
    assertThat(fixture.sockets().closed()).hasSize(4);
    fixture.faults().none();
    assertThat(fixture.runHousekeeping().visits())
        .filteredOn(visit -> visit.sessionsEnded() == 1)
        .hasSize(1);
  }

  @Test
  void many_threads_do_the_same_as_one() {
    tenants(20).forEach(tenant -> fixture.open(tenant, "of-" + tenant.id()));
    fixture.pass(Duration.ofMinutes(5));
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      assertThat(fixture.housekeeping(threads).run(Instant.MAX).visits()).hasSize(20);
    } finally {
      threads.shutdown();
    }
    assertThat(fixture.sockets().closed()).hasSize(20);
  }

  @Test
  void run_without_time_for_all_visits_other_tenants_the_next_time() {
    tenants(6).forEach(fixture::open);
    Set<TenantId> visited = new HashSet<>();
    for (int walks = 0; walks < 200 && visited.size() < 6; walks++) {
      Housekeeping slow =
          fixture.housekeeping(
              visit -> {
                visit.run();
                fixture.pass(Duration.ofMillis(10));
              });
      Instant now = fixture.ports().clock().instant();

      Housekeeping.Report walk = slow.run(now.plusMillis(20));

      assertThat(walk.visits()).hasSize(2);
      assertThat(walk.notVisited()).isEqualTo(4);
      walk.visits().forEach(visit -> visited.add(visit.tenant()));
    }
    assertThat(visited).hasSize(6);
  }

  @Test
  void random_connections_leave_nothing_behind() {
    for (long seed = 1; seed <= 300; seed++) {
      RandomConnections traffic = new RandomConnections(new Random(seed), true);
      traffic.perform(200);
      traffic.finishWrites();
      HousekeepingFixture rough = traffic.fixture;
      TenantId acme = new TenantId("acme");

      rough.runHousekeeping();
      assertThat(rough.counted(acme)).as("seed %d", seed).isEqualTo(rough.open(acme));
      rough.pass(Duration.ofMinutes(5));
      rough.runHousekeeping();
      assertThat(rough.counted(acme)).as("seed %d", seed).isZero();
      assertThat(rough.sessions().list(acme)).as("seed %d", seed).isEmpty();
      assertThat(rough.sessions().list()).as("seed %d", seed).isEmpty();
    }
  }
}
