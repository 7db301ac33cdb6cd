package dev.tollgate.core.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.Connections.Left;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.House;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Visits to a tenant whose sessions end after 300 idle seconds. */
final class TenantVisitTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final Duration BUSY = Duration.ofSeconds(59);
  private static final Duration QUIET = Duration.ofSeconds(61);
  private static final Duration OVER = Duration.ofMinutes(5);

  private final House house = new House();
  private final Tenant acme = house.town().onboard("acme", "gold", Map.of());

  private Visit visit() {
    return house.visit().visit(ACME, Instant.MAX);
  }

  private static Visit did(long ended, long dropped, long drift) {
    return new Visit(ACME, ended, dropped, drift, Optional.empty());
  }

  private void is(TenantStatus status) {
    house.town().tenants().replace(acme.changed(Tier.DEFAULTS.get(2), Map.of(), status));
  }

  private void assertCounts(long expected) {
    assertThat(house.open(ACME)).isEqualTo(expected);
    assertThat(house.counted(ACME)).isEqualTo(expected);
  }

  private List<String> probes() {
    return house.faults().calls().stream().filter(call -> call.equals("Sockets.isOpen")).toList();
  }

  // What ends.

  @Test
  void a_session_that_is_over_is_ended_and_another_is_not() {
    house.open(acme, "a", "b");
    house.pass(OVER.minusSeconds(1));
    house.open(acme, "c");
    assertThat(visit()).isEqualTo(did(0, 0, 0));

    house.pass(Duration.ofSeconds(1));

    assertThat(visit()).isEqualTo(did(1, 0, 0));
    assertThat(house.sockets().closed()).containsExactlyInAnyOrder("a", "b");
    assertCounts(1);
  }

  @Test
  void every_session_of_a_tenant_that_is_not_served_is_ended() {
    house.open(acme, "a", "b");
    house.open(acme, "c");
    is(TenantStatus.SUSPENDED);

    assertThat(visit()).isEqualTo(did(2, 0, 0));

    assertThat(house.sockets().closed()).containsExactlyInAnyOrder("a", "b", "c");
    assertCounts(0);
  }

  @Test
  void nothing_is_left_of_a_tenant_that_is_gone() {
    house.open(acme, "a");
    house.town().tenants().remove(ACME, acme.version());

    assertThat(visit()).isEqualTo(did(1, 0, 0));
    house.pass(Duration.ofMinutes(2));
    house.faults().none();
    visit();

    assertThat(house.faults().calls()).endsWith("Connections.forgetCount", "LiveTenants.strikeOff");
    assertThat(house.books().list(ACME)).isEmpty();
    assertThat(house.books().arrival(ACME)).isEmpty();
    assertThat(house.books().list()).isEmpty();
    assertCounts(0);
  }

  @Test
  void a_session_whose_row_was_deleted_under_its_sockets_counts_no_more() {
    SessionId deleted = house.open(acme, "a", "b");
    house.open(acme, "c");
    house.books().vanish(ACME, deleted);

    assertThat(visit()).isEqualTo(did(0, 0, 2));

    assertCounts(1);
  }

  @Test
  void a_session_that_cannot_be_ended_does_not_stop_the_others() {
    house.open(acme, "a");
    house.open(acme, "b");
    house.open(acme, "c");
    house.pass(OVER);
    // The first call of an ending, after the tenant's and the listing's.
    house.faults().plan(3, Faults.UNREACHABLE);

    Visit visit = visit();

    assertThat(visit).isEqualTo(new Visit(ACME, 2, 0, 0, Optional.of("not reached")));
    assertCounts(1);
    assertThat(visit()).isEqualTo(did(1, 0, 0));
    assertCounts(0);
  }

  // What is dropped.

  @Test
  void connections_that_closed_without_a_word_are_dropped_and_counted_no_more() {
    SessionId session = house.open(acme, "a", "b", "c");
    house.sockets().lose("a");
    house.sockets().lose("c");
    house.pass(QUIET);

    assertThat(visit()).isEqualTo(did(0, 2, 2));

    assertCounts(1);
    assertThat(house.books().find(ACME, session).orElseThrow().connections()).containsExactly("b");
    assertThat(visit()).isEqualTo(did(0, 0, 0));
    assertThat(house.books().leave(ACME, session, "a")).isEqualTo(Left.NOT_IN);
  }

  @Test
  void a_connection_that_was_never_counted_is_dropped_without_counting_down() {
    SessionId session = house.open(acme, "a");
    house.join(ACME, session, "uncounted");
    house.sockets().lose("uncounted");
    house.pass(QUIET);

    assertThat(visit()).isEqualTo(did(0, 1, 0));

    assertCounts(1);
  }

  @Test
  void a_session_in_which_something_was_just_sent_is_not_looked_after() {
    SessionId session = house.open(acme, "a");
    house.sockets().lose("a");
    house.pass(OVER.minusSeconds(10));
    house.books().endAt(ACME, session, house.town().clock().instant().plus(OVER));
    house.pass(BUSY);
    house.faults().none();
    visit();
    assertThat(probes()).isEmpty();

    house.pass(QUIET.minus(BUSY));
    assertThat(visit().connectionsDropped()).isEqualTo(1);
  }

  @Test
  void a_connection_whose_handshake_may_be_under_way_is_not_looked_after() {
    SessionId session = house.open(acme);
    house.pass(QUIET);
    house.join(ACME, session, "a");
    house.sockets().lose("a");
    house.pass(Duration.ofSeconds(30));
    house.faults().none();
    visit();
    assertThat(probes()).isEmpty();

    house.pass(Duration.ofSeconds(1));
    assertThat(visit().connectionsDropped()).isEqualTo(1);
  }

  @Test
  void a_socket_that_cannot_be_asked_after_stays_and_the_count_is_put_right_all_the_same() {
    house.open(acme, "a");
    house.books().countUp(ACME, 10);
    house.sockets().lose("a");
    house.pass(QUIET);
    house.sockets().outage().begin("isOpen");

    Visit visit = visit();

    assertThat(visit).isEqualTo(new Visit(ACME, 0, 0, 1, Optional.of("isOpen: out of order")));
    assertCounts(1);
    house.sockets().outage().end();
    assertThat(visit()).isEqualTo(did(0, 1, 1));
  }

  @Test
  void a_visit_begins_nothing_when_its_time_is_up() {
    house.open(acme, "a", "b");
    house.open(acme, "c", "d");
    house.sockets().lose("a");
    house.pass(QUIET);

    assertThat(house.visit().visit(ACME, house.town().clock().instant())).isEqualTo(did(0, 0, 0));
    house.pass(OVER);
    assertThat(house.visit().visit(ACME, house.town().clock().instant())).isEqualTo(did(0, 0, 0));

    assertCounts(4);
    assertThat(house.books().list()).containsExactly(ACME);
  }

  @Test
  void of_sessions_that_there_is_not_time_for_others_are_looked_after_the_next_time() {
    Set<String> probed = new HashSet<>();
    TenantVisit slow =
        new TenantVisit(
            house.town().tenants(),
            house.books(),
            house.books(),
            new Sockets() {
              @Override
              public void close(String connectionId) {}

              @Override
              public boolean isOpen(String connectionId) {
                probed.add(connectionId);
                house.pass(Duration.ofMillis(10));
                return true;
              }

              @Override
              public Posted post(String connectionId, String frame) {
                throw new AssertionError("a visit sends nothing");
              }
            },
            house.life(),
            house.recount(),
            Runnable::run,
            house.town().clock());
    for (int i = 0; i < 6; i++) {
      house.open(acme, "a" + i, "b" + i);
    }
    house.pass(QUIET);

    Instant now = house.town().clock().instant();
    slow.visit(ACME, now.plusMillis(30));
    assertThat(probed).hasSize(3);
    for (int visits = 0; visits < 200 && probed.size() < 12; visits++) {
      slow.visit(ACME, house.town().clock().instant().plusMillis(30));
    }
    assertThat(probed).hasSize(12);
  }

  // Who is struck off.

  private boolean isLiveAfterVisit() {
    visit();
    return house.books().list().contains(ACME);
  }

  @Test
  void a_tenant_is_struck_off_a_minute_after_its_last_turn_if_no_session_is_left() {
    SessionId session = house.open(acme, "a");
    house.pass(Duration.ofMinutes(2));
    assertThat(isLiveAfterVisit()).isTrue();
    house.life().end(ACME, session);
    house.life().open(acme);
    house.life().end(ACME, house.books().list(ACME).get(0).id());

    Instant arrival = house.books().arrival(ACME).orElseThrow();
    house.town().clock().set(arrival.plusSeconds(60).minusNanos(1));
    assertThat(isLiveAfterVisit()).isTrue();
    house.town().clock().set(arrival.plusSeconds(60));
    assertThat(isLiveAfterVisit()).isFalse();
  }

  @Test
  void a_tenant_with_a_session_or_a_count_stays() {
    house.open(acme);
    house.pass(Duration.ofMinutes(3));
    assertThat(isLiveAfterVisit()).isTrue();

    house.pass(OVER);
    house.faults().none();
    // Somebody counts up just before the last look.
    visitWith(7, () -> house.books().countUp(ACME, 10));
    assertThat(house.books().list()).contains(ACME);
    assertThat(isLiveAfterVisit()).isFalse();
    assertCounts(0);
  }

  private void visitWith(int call, Runnable meanwhile) {
    house.faults().plan(call, Faults.meanwhile(meanwhile));
    visit();
    house.faults().none();
  }

  @Test
  void a_session_that_is_opened_during_a_visit_keeps_its_tenant_live() {
    house.open(acme);
    house.pass(OVER);
    house.faults().none();
    visit();
    int calls = house.faults().calls().size();
    assertThat(house.faults().calls()).endsWith("LiveTenants.strikeOff");

    for (int at = 1; at <= calls; at++) {
      TenantVisitTest other = new TenantVisitTest();
      other.house.open(other.acme);
      other.house.pass(OVER);
      other.visitWith(at, () -> other.house.open(other.acme, "late"));
      assertThat(other.house.books().list()).as("opened before call %d", at).contains(ACME);
    }
  }
}
