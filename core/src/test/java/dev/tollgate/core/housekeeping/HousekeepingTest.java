package dev.tollgate.core.housekeeping;

import static dev.tollgate.core.testing.fixture.HousekeepingFixture.ONE_CHUNK;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.fixture.HousekeepingFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class HousekeepingTest {
  private final HousekeepingFixture fixture = new HousekeepingFixture();

  private List<Tenant> tenants(int count) {
    return tenants(count, Map.of());
  }

  private List<Tenant> tenants(int count, Map<Limit, Long> overrides) {
    return IntStream.range(0, count)
        .mapToObj(i -> fixture.ports().onboard("tenant-" + i, "bronze", overrides))
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
      assertThat(fixture.housekeeping(threads).run(ONE_CHUNK, Instant.MAX).visits()).hasSize(20);
    } finally {
      threads.shutdown();
    }
    assertThat(fixture.sockets().closed()).hasSize(20);
  }

  @Test
  void run_without_time_for_all_begins_elsewhere_in_each_minute_so_that_none_waits_long() {
    tenants(60, Map.of(Limit.SESSION_TTL, 86_400L)).forEach(fixture::open);
    Housekeeping slow =
        fixture.housekeeping(
            visit -> {
              visit.run();
              fixture.pass(Duration.ofMillis(1));
            });
    Map<TenantId, Integer> lastVisits = new HashMap<>();
    for (int run = 1; run <= 200; run++) {
      fixture.ports().clock().set(AdmissionFixture.START.plus(Duration.ofMinutes(run)));
      Instant now = fixture.ports().clock().instant();

      Housekeeping.Report walk = slow.run(ONE_CHUNK, now.plusMillis(20));

      assertThat(walk.visits()).hasSize(20);
      assertThat(walk.notVisited()).isEqualTo(40);
      for (VisitReport visit : walk.visits()) {
        int last = Optional.ofNullable(lastVisits.put(visit.tenant(), run)).orElse(0);
        // A third of the tenants in each run; twice that many runs is the bound.
        assertThat(run - last).isLessThanOrEqualTo(6);
      }
    }
    assertThat(lastVisits).hasSize(60);
  }

  @Test
  void live_tenants_are_divided_among_chunks_that_each_visit_their_own() {
    int count = 2 * Housekeeping.CHUNK + 1;
    tenants(count).forEach(fixture::open);
    List<Chunk> requested = new ArrayList<>();

    Housekeeping.Report first = fixture.housekeeping().run(requested::add, Instant.MAX);

    assertThat(first.chunks()).isEqualTo(3);
    assertThat(first.visits()).hasSize(Housekeeping.CHUNK);
    List<TenantId> visited = new ArrayList<>();
    first.visits().forEach(visit -> visited.add(visit.tenant()));
    for (Chunk chunk : requested) {
      Housekeeping.Report report = fixture.housekeeping().run(chunk, Instant.MAX);
      assertThat(report.chunks()).isEqualTo(3);
      report.visits().forEach(visit -> visited.add(visit.tenant()));
    }
    assertThat(visited).hasSize(count).doesNotHaveDuplicates();
  }

  @Test
  void chunks_that_are_not_requested_are_reported() {
    tenants(2 * Housekeeping.CHUNK).forEach(fixture::open);

    Housekeeping.Report report =
        fixture
            .housekeeping()
            .run(
                chunk -> {
                  throw new Unavailable("throttled");
                },
                Instant.MAX);

    assertThat(report.failedRequests()).containsExactly("throttled");
    assertThat(report.visits()).hasSize(Housekeeping.CHUNK);
  }

  /**
   * A thousand drifts are two chunks, and each pauses as long as one drift does. Each tenant takes
   * 3 requests for its visit, 3 for each of two observations, and one for the correction.
   */
  @Test
  void thousand_drifts_heal_in_one_run_with_the_pauses_of_one() {
    List<Tenant> tenants = tenants(1_000);
    for (Tenant tenant : tenants) {
      fixture.open(tenant, "of-" + tenant.id());
      fixture.sessions().countUp(tenant.id(), "ghost-of-" + tenant.id(), Long.MAX_VALUE);
    }
    List<Duration> pauses = new ArrayList<>();
    Housekeeping housekeeping = fixture.housekeeping(Runnable::run, pauses::add);
    List<Chunk> requested = new ArrayList<>();
    fixture.faults().none();

    List<VisitReport> visits =
        new ArrayList<>(housekeeping.run(requested::add, Instant.MAX).visits());
    requested.forEach(chunk -> visits.addAll(housekeeping.run(chunk, Instant.MAX).visits()));

    assertThat(visits).hasSize(1_000).allMatch(visit -> visit.drift() == 1);
    tenants.forEach(tenant -> assertThat(fixture.counted(tenant.id())).isEqualTo(1));
    assertThat(pauses.stream().filter(pause -> pause.compareTo(Duration.ofSeconds(1)) > 0))
        .containsExactly(Duration.ofSeconds(5), Duration.ofSeconds(5));
    Map<String, Long> calls =
        fixture.faults().calls().stream()
            .collect(Collectors.groupingBy(call -> call, Collectors.counting()));
    assertThat(calls)
        .containsOnly(
            Map.entry("LiveTenants.list", 4L),
            Map.entry("Tenants.find", 1_000L),
            Map.entry("Connections.readCount", 3_000L),
            Map.entry("Sessions.page", 5_000L),
            Map.entry("Connections.correct", 1_000L));
  }

  @Test
  void recounts_end_with_the_time_and_correct_nothing_that_was_seen_once() {
    Tenant acme = tenants(1).get(0);
    fixture.open(acme, "a");
    fixture.sessions().countUp(acme.id(), "ghost", Long.MAX_VALUE);
    Housekeeping housekeeping = fixture.housekeeping(Runnable::run, fixture::pass);
    Instant now = fixture.ports().clock().instant();
    fixture.faults().none();
    fixture.faults().plan(6, Faults.concurrently(() -> fixture.pass(Duration.ofSeconds(10))));

    Housekeeping.Report late = housekeeping.run(ONE_CHUNK, now.plusMillis(1));

    assertThat(late.visits()).singleElement().matches(visit -> visit.drift() == 0);
    assertThat(housekeeping.run(ONE_CHUNK, Instant.MAX).visits())
        .singleElement()
        .matches(visit -> visit.drift() == 1);
  }

  @Test
  void failing_recount_does_not_stop_the_others() {
    for (Tenant tenant : tenants(5)) {
      fixture.open(tenant, "of-" + tenant.id());
      fixture.sessions().countUp(tenant.id(), "ghost-of-" + tenant.id(), Long.MAX_VALUE);
    }
    fixture.faults().plan(1 + 5 * 3 + 2, Faults.UNREACHABLE);

    List<VisitReport> visits = fixture.runHousekeeping().visits();

    assertThat(visits).filteredOn(visit -> visit.drift() == 1).hasSize(4);
    assertThat(visits)
        .filteredOn(visit -> visit.failure().equals(Optional.of("not reached")))
        .hasSize(1);
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
