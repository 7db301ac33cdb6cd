package dev.tollgate.core.housekeeping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.connect.RefusalCounts;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Connections.LeaveResult;
import dev.tollgate.core.session.Correction;
import dev.tollgate.core.session.Lifetime;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.fixture.HousekeepingFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Visits to a tenant whose sessions end after 300 idle seconds. */
final class TenantVisitTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final Duration BUSY = Duration.ofSeconds(35);
  private static final Duration QUIET = Duration.ofSeconds(36);
  private static final Duration OVER = Duration.ofMinutes(5);

  private final HousekeepingFixture fixture = new HousekeepingFixture();
  private Tenant acme = fixture.ports().onboard("acme", "gold", Map.of());

  /** Visits the tenant, checks its doubtful connections and recounts. */
  private VisitReport visit() {
    return fixture.housekeeping().visit(List.of(ACME), 1, List.of(), Instant.MAX).visits().get(0);
  }

  private static VisitReport report(long ended, long dropped, long drift) {
    return new VisitReport(ACME, ended, dropped, drift, Optional.empty());
  }

  private void setStatus(TenantStatus status) {
    fixture.ports().tenants().replace(acme.changed(Tier.DEFAULTS.get(2), Overrides.NONE, status));
  }

  private void assertCounts(long expected) {
    assertThat(fixture.open(ACME)).isEqualTo(expected);
    assertThat(fixture.counted(ACME)).isEqualTo(expected);
  }

  private List<String> probes() {
    return fixture.faults().calls().stream().filter(call -> call.equals("Sockets.isOpen")).toList();
  }

  // Ended sessions.

  @Test
  void expired_session_is_ended_and_another_is_not() {
    fixture.open(acme, "a", "b");
    fixture.pass(OVER.minusSeconds(1));
    fixture.open(acme, "c");
    assertThat(visit()).isEqualTo(report(0, 0, 0));

    fixture.pass(Duration.ofSeconds(1));

    assertThat(visit()).isEqualTo(report(1, 0, 0));
    assertThat(fixture.sockets().closed()).containsExactlyInAnyOrder("a", "b");
    assertCounts(1);
  }

  @Test
  void all_sessions_of_an_inactive_tenant_are_ended() {
    fixture.open(acme, "a", "b");
    fixture.open(acme, "c");
    setStatus(TenantStatus.SUSPENDED);

    assertThat(visit()).isEqualTo(report(2, 0, 0));

    assertThat(fixture.sockets().closed()).containsExactlyInAnyOrder("a", "b", "c");
    assertCounts(0);
  }

  @Test
  void sessions_with_sockets_are_ended_before_those_without() {
    for (int i = 0; i < 20; i++) {
      fixture.open(acme);
    }
    fixture.open(acme, "a");
    fixture.open(acme, "b");
    setStatus(TenantStatus.SUSPENDED);
    fixture.faults().none();

    assertThat(visit()).isEqualTo(report(22, 0, 0));

    assertThat(
            fixture.faults().calls().stream().filter(call -> call.startsWith("Sessions.")).skip(1))
        .startsWith(
            "Sessions.moveEnd", "Sessions.takeConnections", "Sessions.remove", "Sessions.moveEnd")
        .element(4)
        .isEqualTo("Sessions.takeConnections");
  }

  @Test
  void removed_tenant_leaves_nothing_behind() {
    fixture.open(acme, "a");
    fixture.ports().tenants().remove(ACME, acme.version());

    assertThat(visit()).isEqualTo(report(1, 0, 0));
    fixture.pass(Duration.ofMinutes(2));
    fixture.faults().none();
    visit();

    assertThat(fixture.faults().calls()).endsWith("Connections.deleteCount", "LiveTenants.remove");
    assertThat(fixture.sessions().list(ACME)).isEmpty();
    assertThat(fixture.sessions().nextArrival(ACME)).isEmpty();
    assertThat(fixture.sessions().list()).isEmpty();
    assertCounts(0);
  }

  @Test
  void session_deleted_with_open_sockets_is_not_counted() {
    SessionId deleted = fixture.open(acme, "a", "b");
    fixture.open(acme, "c");
    fixture.sessions().deleteRow(ACME, deleted);

    assertThat(visit()).isEqualTo(report(0, 0, 2));

    assertCounts(1);
  }

  @Test
  void session_that_cannot_be_ended_does_not_stop_the_others() {
    fixture.open(acme, "a");
    fixture.open(acme, "b");
    fixture.open(acme, "c");
    fixture.pass(OVER);
    // The first call of the end, after the reads of the tenant and of the overview.
    fixture.faults().plan(4, Faults.UNREACHABLE);

    VisitReport visit = visit();

    assertThat(visit).isEqualTo(new VisitReport(ACME, 2, 0, 0, Optional.of("not reached")));
    assertCounts(1);
    assertThat(visit()).isEqualTo(report(1, 0, 0));
    assertCounts(0);
  }

  // Dropped ghosts.

  /** A tenant that is near its limit of ten connections with eight. */
  private SessionId openNearTheLimit(String... others) {
    limited(10);
    fixture.open(
        acme, IntStream.range(others.length, 8).mapToObj(i -> "o" + i).toArray(String[]::new));
    return fixture.open(acme, others);
  }

  private void limited(long connections) {
    limited(Map.of(Limit.TENANT_CONNECTIONS, connections, Limit.SESSION_TTL, 7_200L));
  }

  private void limited(Map<Limit, Long> overrides) {
    acme = acme.changed(Tier.DEFAULTS.get(2), Overrides.of(overrides), TenantStatus.ACTIVE);
    fixture.ports().tenants().replace(acme);
  }

  private void refused(Optional<Instant> tenantFullAt, Optional<Instant> sessionFullAt) {
    fixture
        .ports()
        .activity()
        .addRefused(
            ACME,
            new RefusalCounts(
                Map.of(Refusal.TENANT_RATE, 1L),
                Map.of(),
                fixture.ports().clock().instant(),
                tenantFullAt,
                sessionFullAt));
  }

  private Optional<Instant> now() {
    return Optional.of(fixture.ports().clock().instant());
  }

  @Test
  void quiet_connections_far_from_every_limit_are_not_checked() {
    limited(100);
    fixture.open(acme, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j");
    fixture.sockets().lose("a");
    for (int minute = 0; minute < 10; minute++) {
      fixture.pass(Duration.ofMinutes(1));
      fixture.faults().none();

      assertThat(visit()).isEqualTo(report(0, 0, 0));

      assertThat(fixture.faults().calls())
          .containsExactly("Tenants.find", "Connections.readCount", "Sessions.page");
    }
  }

  @Test
  void silent_socket_far_from_every_limit_stays_without_a_check_until_it_is_too_old() {
    limited(Map.of(Limit.TENANT_CONNECTIONS, 100L, Limit.SESSION_TTL, 86_400L));
    fixture.open(acme, "heartbeats", "ghost");
    fixture.sockets().lose("ghost");
    fixture.faults().none();
    for (int minute = 0; minute < 121; minute++) {
      fixture.pass(Duration.ofMinutes(1));
      assertThat(visit()).isEqualTo(report(0, 0, 0));
    }
    assertThat(probes()).isEmpty();

    fixture.pass(Duration.ofSeconds(1));

    assertThat(visit()).isEqualTo(report(0, 2, 2));
    assertThat(probes()).isEmpty();
    assertThat(fixture.sockets().closed()).containsExactlyInAnyOrder("heartbeats", "ghost");
  }

  @Test
  void session_renewed_during_listing_is_not_ended() {
    SessionId session = fixture.open(acme, "live");
    fixture.pass(Duration.ofMinutes(5).minusSeconds(5));
    whileListed(
        now ->
            assertThat(
                    fixture
                        .sessions()
                        .renew(ACME, session, now.plusSeconds(300), Lifetime.UNKNOWN, now))
                .isEqualTo(WriteResult.DONE));

    visit();

    assertThat(fixture.sockets().closed()).isEmpty();
    assertThat(fixture.sessions().find(ACME, session)).isPresent();
  }

  @Test
  void session_joined_during_listing_is_not_ended() {
    SessionId session = fixture.open(acme, "live");
    fixture.pass(Duration.ofMinutes(5).minusSeconds(5));
    whileListed(now -> fixture.join(ACME, session, "new"));

    visit();

    assertThat(fixture.sockets().closed()).isEmpty();
    assertThat(fixture.sessions().find(ACME, session).orElseThrow().connections())
        .containsExactlyInAnyOrder("live", "new");
  }

  /** Runs an action right after the sessions were listed, and advances the clock by ten seconds. */
  private void whileListed(Consumer<Instant> action) {
    assertThat(fixture.sessions().list(ACME)).hasSize(1);
    fixture
        .faults()
        .plan(
            3,
            Faults.concurrently(
                () -> {
                  action.accept(fixture.ports().clock().instant());
                  fixture.pass(Duration.ofSeconds(10));
                }));
  }

  @Test
  void two_hours_old_connection_of_a_busy_session_is_dropped() {
    limited(100);
    SessionId session = fixture.open(acme, "old");
    for (int minute = 0; minute < 121; minute++) {
      fixture.pass(Duration.ofMinutes(1));
      Instant now = fixture.ports().clock().instant();
      fixture.sendMessage(ACME, session, now.plusSeconds(7_200));
      assertThat(visit()).isEqualTo(report(0, 0, 0));
    }
    fixture.pass(Duration.ofSeconds(1));

    assertThat(visit()).isEqualTo(report(0, 1, 1));
  }

  @Test
  void ghosts_near_the_tenants_limit_are_dropped_and_subtracted() {
    SessionId session = openNearTheLimit("a", "b", "c");
    fixture.sockets().lose("a");
    fixture.sockets().lose("c");
    fixture.pass(QUIET);

    assertThat(visit()).isEqualTo(report(0, 2, 2));

    assertCounts(6);
    assertThat(fixture.sessions().find(ACME, session).orElseThrow().connections())
        .containsExactly("b");
    fixture.faults().none();
    assertThat(visit()).isEqualTo(report(0, 0, 0));
    assertThat(probes()).isEmpty();
    assertThat(fixture.sessions().leave(ACME, session, "a")).isEqualTo(LeaveResult.NOT_JOINED);
  }

  @Test
  void ghosts_of_a_busy_session_are_dropped() {
    SessionId session = openNearTheLimit("a", "b");
    fixture.sockets().lose("a");
    fixture.pass(QUIET);
    fixture.join(ACME, session, "fresh");
    fixture.sessions().countUp(ACME, "fresh", 10);

    assertThat(visit()).isEqualTo(report(0, 1, 1));
  }

  @Test
  void recently_refused_tenant_counts_as_near_its_limit() {
    limited(100);
    fixture.open(acme, "a");
    fixture.sockets().lose("a");
    refused(now(), Optional.empty());
    fixture.pass(QUIET);

    assertThat(visit()).isEqualTo(report(0, 1, 1));
  }

  @Test
  void refusal_two_minutes_ago_is_ignored() {
    limited(100);
    fixture.open(acme, "a");
    fixture.sockets().lose("a");
    refused(now(), now());
    fixture.pass(Duration.ofMinutes(2));

    assertThat(visit()).isEqualTo(report(0, 0, 0));
  }

  @Test
  void connections_of_full_sessions_are_checked_after_a_session_limit_refusal() {
    limited(Map.of(Limit.CONNECTIONS_PER_SESSION, 2L));
    fixture.open(acme, "a", "b");
    fixture.open(acme, "c");
    fixture.sockets().lose("a");
    fixture.sockets().lose("c");
    fixture.pass(QUIET);
    fixture.faults().none();
    assertThat(visit()).isEqualTo(report(0, 0, 0));
    assertThat(probes()).isEmpty();

    refused(Optional.empty(), now());

    assertThat(visit()).isEqualTo(report(0, 1, 1));
    assertThat(probes()).hasSize(2);
  }

  @Test
  void uncounted_connection_is_dropped_without_lowering_the_count() {
    SessionId session = openNearTheLimit("a");
    fixture.join(ACME, session, "uncounted");
    fixture.sockets().lose("uncounted");
    fixture.pass(QUIET);

    assertThat(visit()).isEqualTo(report(0, 1, 0));

    assertCounts(8);
  }

  @Test
  void connection_with_a_recent_sign_of_life_is_not_checked() {
    SessionId session = openNearTheLimit("a");
    fixture.sockets().lose("a");
    fixture.pass(BUSY);
    fixture.faults().none();
    assertThat(visit()).isEqualTo(report(0, 0, 0));
    Instant now = fixture.ports().clock().instant();
    fixture.sendMessage(ACME, session, now.plusSeconds(7_200));
    fixture.pass(BUSY);
    fixture.faults().none();
    visit();
    assertThat(probes()).hasSize(7);

    fixture.pass(QUIET.minus(BUSY));
    assertThat(visit().connectionsDropped()).isEqualTo(1);
  }

  @Test
  void failing_check_leaves_the_socket_and_the_count_is_repaired() {
    openNearTheLimit("a");
    fixture.sessions().countUp(ACME, "b", 10);
    fixture.sockets().lose("a");
    fixture.pass(QUIET);
    fixture.sockets().outage().begin("isOpen");

    VisitReport visit = visit();

    assertThat(visit)
        .isEqualTo(new VisitReport(ACME, 0, 0, 1, Optional.of("isOpen: out of order")));
    assertCounts(8);
    fixture.sockets().outage().end();
    assertThat(visit()).isEqualTo(report(0, 1, 1));
  }

  @Test
  void visit_starts_nothing_after_its_deadline() {
    fixture.open(acme, "a", "b");
    fixture.open(acme, "c", "d");
    fixture.sockets().lose("a");
    fixture.pass(QUIET);

    fixture.pass(OVER);
    Instant deadline = fixture.ports().clock().instant();
    assertThat(fixture.visit().visit(ACME, new CheckBudget(9), deadline))
        .isEqualTo(new TenantVisit.Result(report(0, 0, 0), false, List.of()));

    assertCounts(4);
    assertThat(fixture.sessions().list()).containsExactly(ACME);
  }

  @Test
  void checks_are_bounded_in_each_tick_and_all_connections_have_their_turn() {
    limited(60);
    for (int i = 0; i < 12; i++) {
      fixture.open(acme, "a" + i, "b" + i, "c" + i, "d" + i, "e" + i);
    }
    Set<String> probed = new HashSet<>();
    List<String> tick = new ArrayList<>();
    fixture.sockets().whenChecked(tick::add);
    Housekeeping housekeeping =
        fixture.housekeeping(
            Runnable::run,
            pause -> {
              assertThat(pause).isEqualTo(Duration.ofMillis(100));
              assertThat(tick).hasSize(2);
              probed.addAll(tick);
              tick.clear();
              fixture.pass(pause);
            });
    for (int visits = 1; visits <= 6; visits++) {
      fixture.pass(Duration.ofMinutes(1));
      Instant until = fixture.ports().clock().instant().plusSeconds(1);
      housekeeping.visit(List.of(ACME), 50, List.of(), until);
      probed.addAll(tick);
      tick.clear();
      assertThat(probed.size()).isBetween(20, 20 * visits);
    }
    assertThat(probed).hasSize(60);
  }

  @Test
  void connections_of_a_large_tenant_are_checked_in_turn() {
    int connections = 2_500;
    limited(Map.of(Limit.TENANT_CONNECTIONS, 3_000L, Limit.SESSION_TTL, 7_200L));
    for (int i = 0; i < connections / 50; i++) {
      int first = i * 50;
      fixture.open(
          acme, IntStream.range(first, first + 50).mapToObj(n -> "c" + n).toArray(String[]::new));
    }
    fixture.pass(QUIET);
    List<String> probed = new ArrayList<>();
    fixture.sockets().whenChecked(probed::add);
    for (int minute = 1; minute <= 3; minute++) {
      int before = probed.size();
      // With thirty chunks, a thousand checks a minute are left to each.
      fixture.housekeeping().visit(List.of(ACME), 30, List.of(), Instant.MAX);
      assertThat(probed.size() - before).isBetween(700, 1_000);
      fixture.pass(Duration.ofMinutes(1));
    }
    assertThat(probed).hasSize(connections).doesNotHaveDuplicates();
  }

  @Test
  void checks_of_all_tenants_are_bounded_by_their_permits() {
    openNearTheLimit("a", "b", "c");
    fixture.pass(QUIET);

    assertThat(fixture.visit().visit(ACME, new CheckBudget(3), Instant.MAX).doubtful()).hasSize(3);
  }

  @Test
  void checks_of_a_minute_are_bounded_by_the_setting() {
    fixture.limitChecks(2);
    openNearTheLimit("a", "b", "c");
    fixture.pass(QUIET);
    List<String> probed = new ArrayList<>();
    fixture.sockets().whenChecked(probed::add);

    fixture.runHousekeeping();

    assertThat(probed).hasSize(2);
  }

  // Large tenants.

  @Test
  void sessions_of_a_large_tenant_far_from_its_limits_are_read_every_few_minutes() {
    limited(100_000);
    fixture.open(acme, "a");
    raiseCount(9_998);
    assertThat(reads(20)).isEqualTo(10);
    raiseCount(10_000);
    assertThat(reads(20)).isEqualTo(5);
    raiseCount(55_000);
    assertThat(reads(20)).isEqualTo(2);
    raiseCount(1);
    assertThat(reads(20)).as("near its limit").isEqualTo(20);
    setStatus(TenantStatus.SUSPENDED);
    assertThat(reads(1)).as("suspended").isEqualTo(1);
  }

  private void raiseCount(long by) {
    ConnectionCount seen = fixture.sessions().readCount(ACME);
    fixture.sessions().correct(ACME, seen, new Correction(by, Map.of()));
  }

  /** In how many minutes of these the tenant's sessions are read. */
  private long reads(int minutes) {
    long reads = 0;
    for (int i = 0; i < minutes; i++) {
      fixture.pass(Duration.ofMinutes(1));
      fixture.faults().none();
      fixture.visit().visit(ACME, new CheckBudget(1), Instant.MAX);
      reads += fixture.faults().calls().contains("Sessions.page") ? 1 : 0;
    }
    return reads;
  }

  @Test
  void stale_list_ends_no_renewed_session_and_leaves_the_tenant_live() {
    SessionId renewed = fixture.open(acme, "live");
    fixture.pass(OVER.minusSeconds(1));
    fixture.sessions().lag(ACME);
    Instant now = fixture.ports().clock().instant();
    fixture.sessions().renew(ACME, renewed, now.plusSeconds(600), Lifetime.UNKNOWN, now);
    fixture.pass(Duration.ofMinutes(2));

    assertThat(visit()).isEqualTo(report(0, 0, 0));

    assertThat(fixture.sockets().closed()).isEmpty();
    assertCounts(1);
  }

  @Test
  void session_that_a_stale_list_lacks_keeps_its_tenant_live() {
    fixture.sessions().lag(ACME);
    fixture.open(acme);
    fixture.pass(Duration.ofMinutes(3));

    assertThat(isLiveAfterVisit()).isTrue();
  }

  @Test
  void stale_list_causes_no_correction() {
    fixture.open(acme, "a");
    fixture.sessions().lag(ACME);
    fixture.open(acme, "b", "c");

    assertThat(visit()).isEqualTo(report(0, 0, 0));

    assertCounts(3);
  }

  // Tenants removed from the list of live tenants.

  private boolean isLiveAfterVisit() {
    visit();
    return fixture.sessions().list().contains(ACME);
  }

  @Test
  void tenant_without_sessions_is_removed_from_the_list_a_minute_after_its_last_session_creation() {
    SessionId session = fixture.open(acme, "a");
    fixture.pass(Duration.ofMinutes(2));
    assertThat(isLiveAfterVisit()).isTrue();
    fixture.lifecycle().end(ACME, session);
    fixture.lifecycle().open(acme, Optional.empty());
    fixture.lifecycle().end(ACME, fixture.sessions().list(ACME).get(0).id());

    Instant arrival = fixture.sessions().nextArrival(ACME).orElseThrow();
    fixture.ports().clock().set(arrival.plusSeconds(60).minusNanos(1));
    assertThat(isLiveAfterVisit()).isTrue();
    fixture.ports().clock().set(arrival.plusSeconds(60));
    assertThat(isLiveAfterVisit()).isFalse();
  }

  @Test
  void tenant_with_a_session_or_a_count_stays_listed() {
    fixture.open(acme);
    fixture.pass(Duration.ofMinutes(3));
    assertThat(isLiveAfterVisit()).isTrue();

    fixture.pass(OVER);
    fixture.faults().none();
    // The count is raised right before the last read.
    visitWith(9, () -> fixture.sessions().countUp(ACME, 10));
    assertThat(fixture.sessions().list()).contains(ACME);
    assertThat(isLiveAfterVisit()).as("the recount follows the visit").isTrue();
    assertThat(isLiveAfterVisit()).isFalse();
    assertCounts(0);
  }

  private void visitWith(int call, Runnable action) {
    fixture.faults().plan(call, Faults.concurrently(action));
    visit();
    fixture.faults().none();
  }

  @Test
  void session_opened_during_a_visit_keeps_its_tenant_live() {
    fixture.open(acme);
    fixture.pass(OVER);
    fixture.faults().none();
    visit();
    int calls = fixture.faults().calls().size();
    assertThat(fixture.faults().calls()).endsWith("LiveTenants.remove");

    for (int at = 1; at <= calls; at++) {
      TenantVisitTest other = new TenantVisitTest();
      other.fixture.open(other.acme);
      other.fixture.pass(OVER);
      other.visitWith(at, () -> other.fixture.open(other.acme, "late"));
      assertThat(other.fixture.sessions().list()).as("opened before call %d", at).contains(ACME);
    }
  }
}
