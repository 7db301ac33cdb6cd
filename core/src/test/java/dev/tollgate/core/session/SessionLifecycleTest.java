package dev.tollgate.core.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.session.Connections.JoinResult;
import dev.tollgate.core.session.Connections.LeaveResult;
import dev.tollgate.core.session.SessionLifecycle.EndResult;
import dev.tollgate.core.session.SessionLifecycle.Ended;
import dev.tollgate.core.session.SessionLifecycle.EndedButKept;
import dev.tollgate.core.session.SessionLifecycle.NoSession;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Faults.Fault;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.fixture.HousekeepingFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class SessionLifecycleTest {
  private static final TenantId ACME = new TenantId("acme");

  private static final Instant START = AdmissionFixture.START;

  private final HousekeepingFixture fixture = new HousekeepingFixture();
  private final Tenant acme = fixture.ports().onboard("acme", "gold", Map.of());

  private void assertEnded(SessionId session) {
    assertThat(fixture.sessions().find(ACME, session)).isEmpty();
    assertThat(fixture.counted(ACME)).isEqualTo(fixture.open(ACME));
  }

  @Test
  void end_closes_the_sockets_and_lowers_the_count() {
    SessionId other = fixture.open(acme, "d");
    SessionId session = fixture.open(acme, "a", "b", "c");

    assertThat(fixture.lifecycle().end(ACME, session)).isInstanceOf(Ended.class);

    assertThat(fixture.sockets().closed()).containsExactlyInAnyOrder("a", "b", "c");
    assertEnded(session);
    assertThat(fixture.counted(ACME)).isEqualTo(1);
    assertThat(fixture.lifecycle().end(ACME, session)).isEqualTo(new NoSession());
    assertThat(fixture.sessions().find(ACME, other)).isPresent();
  }

  @Test
  void end_of_an_empty_session_sends_only_the_needed_requests() {
    SessionId session = fixture.open(acme);
    fixture.faults().none();

    fixture.lifecycle().end(ACME, session);

    assertThat(fixture.faults().calls()).containsExactly("Sessions.moveEnd", "Sessions.remove");
  }

  @Test
  void session_whose_socket_cannot_be_closed_has_ended_and_can_be_ended_again() {
    SessionId session = fixture.open(acme, "a");
    fixture.sockets().outage().begin();

    assertThatThrownBy(() -> fixture.lifecycle().end(ACME, session))
        .isInstanceOf(Unavailable.class);

    assertThat(fixture.join(ACME, session, "b")).isEqualTo(JoinResult.NO_SESSION);
    assertThat(fixture.counted(ACME)).isEqualTo(fixture.open(ACME)).isEqualTo(1);
    fixture.sockets().outage().end();
    assertThat(fixture.lifecycle().end(ACME, session)).isInstanceOf(Ended.class);
    assertThat(fixture.sockets().closed()).containsExactly("a");
    assertEnded(session);
  }

  @Test
  void connection_started_before_the_end_does_not_join_after_it() {
    SessionId session = fixture.open(acme, "a");
    fixture.sockets().outage().begin();
    assertThatThrownBy(() -> fixture.lifecycle().end(ACME, session))
        .isInstanceOf(Unavailable.class);

    fixture.ports().clock().set(fixture.ports().clock().instant().minusSeconds(30));

    assertThat(fixture.join(ACME, session, "b")).isEqualTo(JoinResult.NO_SESSION);
  }

  @Test
  void disconnect_delivered_three_times_during_the_end_counts_once() {
    SessionId session = fixture.open(acme, "a", "b");
    fixture.open(acme, "c");
    Disconnection departure = new Disconnection(fixture.sessions());

    assertThat(departure.remove(ACME, session, "a")).isEqualTo(LeaveResult.REMOVED);
    assertThat(departure.remove(ACME, session, "a")).isEqualTo(LeaveResult.NOT_JOINED);
    fixture.lifecycle().end(ACME, session);
    assertThat(departure.remove(ACME, session, "a")).isEqualTo(LeaveResult.NOT_JOINED);
    assertThat(departure.remove(ACME, session, "b")).isEqualTo(LeaveResult.NOT_JOINED);

    assertEnded(session);
    assertThat(fixture.counted(ACME)).isEqualTo(1);
  }

  // Delayed removal.

  /** The longest handshake. Sockets cannot be closed during their handshake. */
  private static final Duration AFTER_HANDSHAKES = Duration.ofSeconds(31);

  @Test
  void session_ended_during_a_handshake_stays_until_the_socket_can_be_closed() {
    SessionId session = fixture.open(acme, "a", "handshaking");
    fixture.sockets().lose("handshaking");

    assertThat(fixture.lifecycle().end(ACME, session)).isInstanceOf(EndedButKept.class);

    fixture.sockets().open("handshaking");
    assertThat(fixture.join(ACME, session, "b")).isEqualTo(JoinResult.NO_SESSION);
    assertThat(fixture.counted(ACME)).isEqualTo(fixture.open(ACME)).isEqualTo(2);
    fixture.pass(AFTER_HANDSHAKES);
    fixture.runHousekeeping();
    assertThat(fixture.sockets().isOpen("handshaking")).isFalse();
    assertEnded(session);
    assertThat(fixture.counted(ACME)).isZero();
  }

  @Test
  void session_with_recorded_messages_stays_until_they_expire() {
    SessionId session = fixture.open(acme, "a");
    Session read = fixture.sessions().find(ACME, session).orElseThrow();
    Instant until = fixture.ports().clock().instant().plusSeconds(600);
    fixture
        .sessions()
        .extend(read, read.endsAt(), Map.of("m", until), fixture.ports().clock().instant());

    assertThat(fixture.lifecycle().end(ACME, session)).isInstanceOf(EndedButKept.class);
    assertThat(fixture.counted(ACME)).isZero();

    for (int minute = 0; minute < 9; minute++) {
      fixture.pass(Duration.ofMinutes(1));
      fixture.faults().none();
      fixture.runHousekeeping();
      assertThat(fixture.faults().calls()).doesNotContain("Sessions.moveEnd", "Sessions.remove");
      assertThat(fixture.sessions().find(ACME, session).orElseThrow().processed()).containsKey("m");
    }
    fixture.pass(Duration.ofMinutes(1));
    fixture.runHousekeeping();
    assertEnded(session);
  }

  // Faults at each step.

  static Stream<Arguments> faults() {
    return Stream.of(
        Arguments.of("unreachable", Faults.UNREACHABLE),
        Arguments.of("answer lost", Faults.ANSWER_LOST),
        Arguments.of("killed", Faults.KILLED));
  }

  private static int stepsOfEnding() {
    SessionLifecycleTest control = new SessionLifecycleTest();
    SessionId session = control.fixture.open(control.acme, "a", "b");
    control.fixture.faults().none();
    control.fixture.lifecycle().end(ACME, session);
    return control.fixture.faults().calls().size();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("faults")
  void interrupted_end_is_finished_by_the_housekeeping(String name, Fault fault) {
    int steps = stepsOfEnding();
    assertThat(steps).isEqualTo(6);
    for (int at = 1; at <= steps; at++) {
      for (int deliveries = 0; deliveries <= 3; deliveries++) {
        try {
          new SessionLifecycleTest().endWithFault(at, fault, deliveries);
        } catch (AssertionError failure) {
          fail("fault at step " + at + ", " + deliveries + " deliveries", failure);
        }
      }
    }
  }

  /**
   * Injects a fault at one call of an end, with {@code deliveries} deliveries of each {@code
   * $disconnect}.
   */
  private void endWithFault(int at, Fault fault, int deliveries) {
    SessionId other = fixture.open(acme, "c");
    SessionId session = fixture.open(acme, "a", "b");
    fixture.faults().plan(at, fault);
    try {
      fixture.lifecycle().end(ACME, session);
    } catch (Faults.Killed | Unavailable expected) {
      // Completed steps stay.
    }
    fixture.faults().none();
    boolean over =
        fixture
            .sessions()
            .find(ACME, session)
            .filter(row -> !row.hasEndedAt(fixture.ports().clock().instant()))
            .isEmpty();
    for (int i = 0; i < deliveries; i++) {
      fixture
          .sockets()
          .closed()
          .forEach(id -> new Disconnection(fixture.sessions()).remove(ACME, session, id));
    }

    fixture.pass(AFTER_HANDSHAKES);
    fixture.runHousekeeping();

    assertThat(fixture.counted(ACME)).isEqualTo(fixture.open(ACME));
    if (over) {
      assertEnded(session);
      assertThat(fixture.sockets().closed()).contains("a", "b").doesNotContain("c");
    }
    fixture.pass(Duration.ofMinutes(5));
    fixture.runHousekeeping();
    assertEnded(session);
    assertEnded(other);
    assertThat(fixture.counted(ACME)).isZero();
    assertThat(fixture.sockets().closed()).contains("a", "b", "c");
    assertThat(fixture.sessions().list()).isEmpty();
  }

  // Events between two steps.

  /** The only event after which others must correct the count. */
  private static final Event DELETION = (test, session) -> test.delete(session);

  static Stream<Arguments> concurrentEvents() {
    return Stream.of(
        event("join", (test, session) -> test.register(session, "late")),
        event("end", (test, session) -> test.fixture.lifecycle().end(ACME, session)),
        event(
            "disconnect",
            (test, session) ->
                new Disconnection(test.fixture.sessions()).remove(ACME, session, "a")),
        event("deletion", DELETION));
  }

  private interface Event {
    void run(SessionLifecycleTest test, SessionId session);
  }

  private static Arguments event(String name, Event event) {
    return Arguments.of(name, event);
  }

  private void register(SessionId session, String connectionId) {
    if (fixture.join(ACME, session, connectionId) == JoinResult.ADDED) {
      fixture.sessions().countUp(ACME, Long.MAX_VALUE);
    }
  }

  /** Deletes the row as time to live does, and handles the stream event. */
  private void delete(SessionId session) {
    if (fixture.sessions().find(ACME, session).isPresent()) {
      fixture.sessions().deleteRow(ACME, session).connections().forEach(fixture.sockets()::close);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("concurrentEvents")
  void session_ends_once_despite_concurrent_events(String name, Event event) {
    int steps = stepsOfEnding();
    for (int at = 1; at <= steps; at++) {
      try {
        new SessionLifecycleTest().interrupt(at, event);
      } catch (AssertionError failure) {
        fail("before step " + at, failure);
      }
    }
  }

  private void interrupt(int at, Event event) {
    fixture.open(acme, "c");
    SessionId session = fixture.open(acme, "a", "b");
    fixture.faults().plan(at, Faults.concurrently(() -> event.run(this, session)));

    fixture.lifecycle().end(ACME, session);

    fixture.faults().none();
    fixture.pass(AFTER_HANDSHAKES);
    fixture.lifecycle().end(ACME, session);
    if (!event.equals(DELETION)) {
      assertThat(fixture.counted(ACME)).isEqualTo(1);
    }
    HousekeepingFixture.repair(fixture.recount(), ACME);
    assertEnded(session);
    assertThat(fixture.counted(ACME)).isEqualTo(1);
    assertThat(fixture.sockets().closed()).contains("b").doesNotContain("c");
  }

  @Test
  void connection_during_the_end_is_closed_or_refused() {
    SessionId session = fixture.open(acme, "a");
    fixture.faults().plan(1, Faults.concurrently(() -> register(session, "early")));
    fixture.lifecycle().end(ACME, session);
    assertThat(fixture.sockets().closed()).containsExactlyInAnyOrder("a", "early");
    assertThat(fixture.counted(ACME)).isZero();
  }

  @RepeatedTest(20)
  void connections_during_two_concurrent_ends_are_closed_or_refused() {
    SessionId session = fixture.open(acme, "a", "b");

    List<Optional<JoinResult>> answers =
        Race.of(
            8,
            i -> {
              if (i < 2) {
                EndResult ignored = fixture.lifecycle().end(ACME, session);
                return Optional.empty();
              }
              JoinResult joined = fixture.join(ACME, session, "late-" + i);
              if (joined == JoinResult.ADDED) {
                fixture.sessions().countUp(ACME, Long.MAX_VALUE);
              }
              return Optional.of(joined);
            });

    for (int i = 2; i < 8; i++) {
      assertThat(fixture.sockets().closed().contains("late-" + i))
          .isEqualTo(answers.get(i).orElseThrow() == JoinResult.ADDED);
    }
    assertThat(fixture.join(ACME, session, "later")).isNotEqualTo(JoinResult.ADDED);
    // Each end may find sockets gone that the other one closed, and keep the row as it does for
    // sockets in their handshake. The next end after that removes it.
    fixture.pass(AFTER_HANDSHAKES);
    EndResult ignored = fixture.lifecycle().end(ACME, session);
    HousekeepingFixture.repair(fixture.recount(), ACME);
    assertEnded(session);
    assertThat(fixture.counted(ACME)).isZero();
  }

  @Test
  void only_the_caller_that_takes_the_connections_lowers_the_count() {
    fixture.open(acme, "c", "d");
    SessionId session = fixture.open(acme, "a", "b");
    Consumer<SessionId> end = id -> fixture.lifecycle().end(ACME, id);
    fixture.faults().plan(4, Faults.concurrently(() -> end.accept(session)));

    end.accept(session);

    assertThat(fixture.counted(ACME)).isEqualTo(2);
  }

  private Tenant tenant(String id, long perSubject, long idle, long lifetime) {
    return fixture
        .ports()
        .onboard(
            id,
            "gold",
            Map.of(
                Limit.SESSIONS_PER_SUBJECT, perSubject,
                Limit.SESSION_TTL, idle,
                Limit.SESSION_LIFETIME, lifetime));
  }

  private Optional<Caller> caller(Tenant tenant, String sub) {
    return caller(tenant, sub, Duration.ofDays(1));
  }

  private Optional<Caller> caller(Tenant tenant, String sub, Duration tokenLasts) {
    Instant end = fixture.ports().clock().instant().plus(tokenLasts);
    return Optional.of(new Caller(Subject.of(tenant.id(), sub), end));
  }

  private Session opened(Tenant tenant, Optional<Caller> caller) {
    return ((SessionLifecycle.Opened) fixture.lifecycle().open(tenant, caller)).session();
  }

  private Session current(Session session) {
    return fixture.sessions().find(session.tenant(), session.id()).orElseThrow();
  }

  @Test
  void subject_at_its_session_limit_uses_up_no_creations_of_others() {
    Tenant bronze = fixture.ports().onboard("bronze", "bronze", Map.of());
    Optional<Caller> greedyCaller = caller(bronze, "greedy");

    long got =
        Stream.generate(() -> fixture.lifecycle().open(bronze, greedyCaller))
            .limit(2_000)
            .filter(SessionLifecycle.Opened.class::isInstance)
            .count();

    assertThat(got).isEqualTo(2);
    assertThat(fixture.sessions().list(bronze.id())).hasSize(2);
    assertThat(fixture.lifecycle().open(bronze, greedyCaller))
        .isEqualTo(new SessionLifecycle.SubjectFull(START.plusSeconds(210)));
    assertThat(fixture.lifecycle().open(bronze, caller(bronze, "other")))
        .isInstanceOf(SessionLifecycle.Opened.class);
  }

  @Test
  void refused_subject_costs_two_reads_and_no_write() {
    Tenant one = tenant("one", 1, 300, 3_600);
    opened(one, caller(one, "ann"));
    fixture.faults().none();

    fixture.lifecycle().open(one, caller(one, "ann"));

    assertThat(fixture.faults().calls())
        .containsExactly("Sessions.findForSubject", "Sessions.find");
  }

  @Test
  void session_without_a_token_sends_no_subject_requests() {
    fixture.faults().none();

    fixture.lifecycle().open(acme, Optional.empty());

    assertThat(fixture.faults().calls())
        .containsExactly("Sessions.acquireCreation", "Sessions.create");
  }

  @Test
  void ended_session_frees_its_place_at_once_and_expired_session_soon() {
    Tenant two = tenant("two", 2, 60, 3_600);
    Optional<Caller> ann = caller(two, "ann");
    Session ended = opened(two, ann);
    opened(two, ann);
    assertThat(fixture.lifecycle().open(two, ann)).isInstanceOf(SessionLifecycle.SubjectFull.class);

    fixture.lifecycle().end(two.id(), ended.id());
    opened(two, ann);
    assertThat(fixture.lifecycle().open(two, ann)).isInstanceOf(SessionLifecycle.SubjectFull.class);
    fixture.pass(Duration.ofSeconds(69));
    assertThat(fixture.lifecycle().open(two, ann))
        .isEqualTo(new SessionLifecycle.SubjectFull(START.plusSeconds(70)));
    fixture.pass(Duration.ofSeconds(1));

    opened(two, ann);
    opened(two, ann);
    assertThat(fixture.lifecycle().open(two, ann)).isInstanceOf(SessionLifecycle.SubjectFull.class);
  }

  /** A renewal checks at its start that the session has not ended, and may write after its end. */
  @Test
  void renewal_during_the_end_gives_its_subject_no_extra_session() {
    Tenant one = tenant("one", 1, 60, 3_600);
    Optional<Caller> eve = caller(one, "eve");
    Session session = opened(one, eve);
    for (int round = 0; round < 10; round++) {
      fixture.ports().clock().set(current(session).endsAt().minusMillis(1));
      fixture
          .faults()
          .plan(
              2,
              Faults.concurrently(
                  () -> {
                    fixture.faults().none();
                    fixture.pass(Duration.ofMillis(5));
                    fixture.lifecycle().open(one, eve);
                  }));
      assertThat(fixture.lifecycle().renew(one, session.id(), eve))
          .isInstanceOf(SessionLifecycle.Renewed.class);
      fixture.faults().none();

      Instant now = fixture.ports().clock().instant();
      assertThat(fixture.sessions().list(one.id()))
          .filteredOn(found -> !found.hasEndedAt(now))
          .hasSize(1);
    }
  }

  @Test
  void renewal_retried_after_the_sessions_end_does_not_renew_it() {
    Tenant one = tenant("one", 1, 60, 3_600);
    Optional<Caller> eve = caller(one, "eve", Duration.ofHours(1));
    Session session = opened(one, eve);
    fixture.ports().clock().set(session.endsAt().minusMillis(1));
    // Another renewal with a longer token writes first, so this write is retried, but too late.
    fixture
        .faults()
        .plan(
            2,
            Faults.concurrently(
                () -> {
                  fixture.faults().none();
                  fixture
                      .lifecycle()
                      .renew(one, session.id(), caller(one, "eve", Duration.ofHours(3)));
                  fixture.pass(Duration.ofSeconds(61));
                }));

    assertThat(fixture.lifecycle().renew(one, session.id(), eve)).isEqualTo(new NoSession());
  }

  @Test
  void subject_creates_at_most_twice_its_places_in_a_minute() {
    Tenant three = tenant("three", 3, 60, 3_600);
    Optional<Caller> ann = caller(three, "ann");
    for (int i = 0; i < 6; i++) {
      fixture.lifecycle().end(three.id(), opened(three, ann).id());
    }

    assertThat(fixture.lifecycle().open(three, ann))
        .isInstanceOf(SessionLifecycle.SubjectTooFast.class);
    fixture.pass(Duration.ofSeconds(10));
    opened(three, ann);
    assertThat(fixture.lifecycle().open(three, ann))
        .isInstanceOf(SessionLifecycle.SubjectTooFast.class);
  }

  @Test
  void subject_above_a_lowered_limit_waits_until_enough_sessions_have_ended() {
    Tenant three = tenant("three", 3, 60, 3_600);
    Optional<Caller> ann = caller(three, "ann");
    for (int i = 0; i < 3; i++) {
      opened(three, ann);
      fixture.pass(Duration.ofSeconds(10));
    }
    Tenant lowered =
        three.changed(
            Tier.DEFAULTS.get(2),
            Overrides.of(Map.of(Limit.SESSIONS_PER_SUBJECT, 2L, Limit.SESSION_TTL, 60L)),
            three.status());

    assertThat(fixture.lifecycle().open(lowered, ann))
        .isEqualTo(new SessionLifecycle.SubjectFull(START.plusSeconds(80)));
  }

  @Test
  void recorded_session_without_a_row_takes_no_place() {
    Tenant one = tenant("one", 1, 300, 3_600);
    Optional<Caller> ann = caller(one, "ann");
    Session deleted = opened(one, ann);
    fixture.sessions().deleteRow(one.id(), deleted.id());

    opened(one, ann);

    assertThat(fixture.sessions().list(one.id())).hasSize(1);
  }

  @Test
  void renewals_and_connects_do_not_extend_a_session_beyond_its_lifetime() {
    Tenant one = tenant("one", 1, 8, 48);
    Session session = opened(one, Optional.empty());
    assertThat(session.latestEnd(one.limits())).contains(START.plusSeconds(48));

    for (int second = 4; second < 48; second += 4) {
      fixture.pass(Duration.ofSeconds(4));
      assertThat(fixture.lifecycle().renew(one, session.id(), Optional.empty()))
          .isInstanceOf(SessionLifecycle.Renewed.class);
    }

    assertThat(current(session).endsAt()).isEqualTo(START.plusSeconds(48));
    fixture.pass(Duration.ofSeconds(4));
    assertThat(fixture.lifecycle().renew(one, session.id(), Optional.empty()))
        .isEqualTo(new NoSession());
    assertThat(fixture.join(one.id(), session.id(), "late")).isEqualTo(JoinResult.NO_SESSION);
  }

  @Test
  void session_ends_with_its_token_unless_a_newer_token_renews_it() {
    Tenant one = tenant("one", 9, 300, 3_600);
    Session session = opened(one, caller(one, "ann", Duration.ofSeconds(30)));
    assertThat(session.endsAt()).isEqualTo(START.plusSeconds(30));
    Session renewed = opened(one, caller(one, "ann", Duration.ofSeconds(30)));

    fixture.pass(Duration.ofSeconds(29));
    fixture.lifecycle().renew(one, session.id(), caller(one, "ann", Duration.ofSeconds(1)));
    fixture.lifecycle().renew(one, renewed.id(), caller(one, "ann", Duration.ofSeconds(60)));
    assertThat(current(renewed).endsAt()).isEqualTo(START.plusSeconds(89));
    fixture.lifecycle().renew(one, renewed.id(), caller(one, "ann", Duration.ofSeconds(9)));
    fixture.lifecycle().renew(one, renewed.id(), Optional.empty());

    assertThat(current(session).endsAt()).isEqualTo(START.plusSeconds(30));
    assertThat(current(renewed).endsAt()).isEqualTo(START.plusSeconds(89));
    fixture.lifecycle().renew(one, renewed.id(), caller(one, "ann", Duration.ofDays(9)));
    assertThat(current(renewed).latestEnd(one.limits())).contains(START.plusSeconds(3_600));
  }

  @Test
  void session_of_an_older_version_is_dated_by_its_next_use() {
    Tenant one = tenant("one", 1, 300, 3_600);
    SessionId old = fixture.ports().open(one);
    assertThat(fixture.sessions().find(one.id(), old).orElseThrow().latestEnd(one.limits()))
        .isEmpty();

    fixture.pass(Duration.ofSeconds(5));
    fixture.lifecycle().renew(one, old, Optional.empty());

    assertThat(fixture.sessions().find(one.id(), old).orElseThrow().latestEnd(one.limits()))
        .contains(START.plusSeconds(3_605));
  }

  @Test
  void changed_lifetime_applies_from_the_next_use_and_never_shortens_a_session() {
    Tenant one = tenant("one", 1, 60, 120);
    Session session = opened(one, Optional.empty());
    Tenant longer =
        one.changed(
            Tier.DEFAULTS.get(2),
            Overrides.of(Map.of(Limit.SESSION_TTL, 60L, Limit.SESSION_LIFETIME, 240L)),
            one.status());
    Tenant shorter =
        one.changed(
            Tier.DEFAULTS.get(2),
            Overrides.of(Map.of(Limit.SESSION_TTL, 60L, Limit.SESSION_LIFETIME, 60L)),
            one.status());

    fixture.pass(Duration.ofSeconds(59));
    fixture.lifecycle().renew(one, session.id(), Optional.empty());
    assertThat(current(session).endsAt()).isEqualTo(START.plusSeconds(119));
    fixture.pass(Duration.ofSeconds(59));
    fixture.lifecycle().renew(shorter, session.id(), Optional.empty());
    assertThat(current(session).endsAt()).isEqualTo(START.plusSeconds(119));
    fixture.lifecycle().renew(longer, session.id(), Optional.empty());
    assertThat(current(session).endsAt()).isEqualTo(START.plusSeconds(178));
  }
}
