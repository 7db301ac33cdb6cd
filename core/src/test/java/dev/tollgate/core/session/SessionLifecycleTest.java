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

  private final HousekeepingFixture house = new HousekeepingFixture();
  private final Tenant acme = house.town().onboard("acme", "gold", Map.of());

  private void assertOver(SessionId session) {
    assertThat(house.books().find(ACME, session)).isEmpty();
    assertThat(house.counted(ACME)).isEqualTo(house.open(ACME));
  }

  @Test
  void end_closes_the_sockets_and_lowers_the_count() {
    SessionId other = house.open(acme, "d");
    SessionId session = house.open(acme, "a", "b", "c");

    assertThat(house.life().end(ACME, session)).isInstanceOf(Ended.class);

    assertThat(house.sockets().closed()).containsExactlyInAnyOrder("a", "b", "c");
    assertOver(session);
    assertThat(house.counted(ACME)).isEqualTo(1);
    assertThat(house.life().end(ACME, session)).isEqualTo(new NoSession());
    assertThat(house.books().find(ACME, other)).isPresent();
  }

  @Test
  void end_of_an_empty_session_sends_only_the_needed_requests() {
    SessionId session = house.open(acme);
    house.faults().none();

    house.life().end(ACME, session);

    assertThat(house.faults().calls()).containsExactly("Sessions.moveEnd", "Sessions.remove");
  }

  @Test
  void session_whose_socket_cannot_be_closed_is_over_and_can_be_ended_again() {
    SessionId session = house.open(acme, "a");
    house.sockets().outage().begin();

    assertThatThrownBy(() -> house.life().end(ACME, session)).isInstanceOf(Unavailable.class);

    assertThat(house.join(ACME, session, "b")).isEqualTo(JoinResult.NO_SESSION);
    assertThat(house.counted(ACME)).isEqualTo(house.open(ACME)).isEqualTo(1);
    house.sockets().outage().end();
    assertThat(house.life().end(ACME, session)).isInstanceOf(Ended.class);
    assertThat(house.sockets().closed()).containsExactly("a");
    assertOver(session);
  }

  @Test
  void connection_started_before_the_end_does_not_join_after_it() {
    SessionId session = house.open(acme, "a");
    house.sockets().outage().begin();
    assertThatThrownBy(() -> house.life().end(ACME, session)).isInstanceOf(Unavailable.class);

    house.town().clock().set(house.town().clock().instant().minusSeconds(30));

    assertThat(house.join(ACME, session, "b")).isEqualTo(JoinResult.NO_SESSION);
  }

  @Test
  void disconnect_delivered_three_times_during_the_end_counts_once() {
    SessionId session = house.open(acme, "a", "b");
    house.open(acme, "c");
    Disconnection departure = new Disconnection(house.books());

    assertThat(departure.remove(ACME, session, "a")).isEqualTo(LeaveResult.REMOVED);
    assertThat(departure.remove(ACME, session, "a")).isEqualTo(LeaveResult.NOT_JOINED);
    house.life().end(ACME, session);
    assertThat(departure.remove(ACME, session, "a")).isEqualTo(LeaveResult.NOT_JOINED);
    assertThat(departure.remove(ACME, session, "b")).isEqualTo(LeaveResult.NOT_JOINED);

    assertOver(session);
    assertThat(house.counted(ACME)).isEqualTo(1);
  }

  // Delayed removal.

  /** The longest handshake. Sockets cannot be closed during their handshake. */
  private static final Duration AFTER_HANDSHAKES = Duration.ofSeconds(31);

  @Test
  void session_ended_during_a_handshake_stays_until_the_socket_can_be_closed() {
    SessionId session = house.open(acme, "a", "handshaking");
    house.sockets().lose("handshaking");

    assertThat(house.life().end(ACME, session)).isInstanceOf(EndedButKept.class);

    house.sockets().opens("handshaking");
    assertThat(house.join(ACME, session, "b")).isEqualTo(JoinResult.NO_SESSION);
    assertThat(house.counted(ACME)).isEqualTo(house.open(ACME)).isEqualTo(2);
    house.pass(AFTER_HANDSHAKES);
    house.keep();
    assertThat(house.sockets().isOpen("handshaking")).isFalse();
    assertOver(session);
    assertThat(house.counted(ACME)).isZero();
  }

  @Test
  void session_with_recorded_messages_stays_until_they_expire() {
    SessionId session = house.open(acme, "a");
    Session read = house.books().find(ACME, session).orElseThrow();
    Instant until = house.town().clock().instant().plusSeconds(600);
    house.books().extend(read, read.endsAt(), Map.of("m", until), house.town().clock().instant());

    assertThat(house.life().end(ACME, session)).isInstanceOf(EndedButKept.class);
    assertThat(house.counted(ACME)).isZero();

    for (int minute = 0; minute < 9; minute++) {
      house.pass(Duration.ofMinutes(1));
      house.faults().none();
      house.keep();
      assertThat(house.faults().calls()).doesNotContain("Sessions.moveEnd", "Sessions.remove");
      assertThat(house.books().find(ACME, session).orElseThrow().processed()).containsKey("m");
    }
    house.pass(Duration.ofMinutes(1));
    house.keep();
    assertOver(session);
  }

  // Faults at each step.

  static Stream<Arguments> faults() {
    return Stream.of(
        Arguments.of("unreachable", Faults.UNREACHABLE),
        Arguments.of("answer lost", Faults.ANSWER_LOST),
        Arguments.of("killed", Faults.KILLED));
  }

  private static int stepsOfEnding() {
    SessionLifecycleTest undisturbed = new SessionLifecycleTest();
    SessionId session = undisturbed.house.open(undisturbed.acme, "a", "b");
    undisturbed.house.faults().none();
    undisturbed.house.life().end(ACME, session);
    return undisturbed.house.faults().calls().size();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("faults")
  void interrupted_end_is_finished_by_the_housekeeping(String name, Fault fault) {
    int steps = stepsOfEnding();
    assertThat(steps).isEqualTo(6);
    for (int at = 1; at <= steps; at++) {
      for (int deliveries = 0; deliveries <= 3; deliveries++) {
        try {
          new SessionLifecycleTest().disturb(at, fault, deliveries);
        } catch (AssertionError wrong) {
          fail("disturbed at " + at + ", " + deliveries + " deliveries", wrong);
        }
      }
    }
  }

  /** Injects a fault at one call of an end, with {@code deliveries} deliveries of each {@code $disconnect}. */
  private void disturb(int at, Fault fault, int deliveries) {
    SessionId other = house.open(acme, "c");
    SessionId session = house.open(acme, "a", "b");
    house.faults().plan(at, fault);
    try {
      house.life().end(ACME, session);
    } catch (Faults.Killed | Unavailable expected) {
      // Completed steps stay.
    }
    house.faults().none();
    boolean over =
        house
            .books()
            .find(ACME, session)
            .filter(row -> !row.hasEndedAt(house.town().clock().instant()))
            .isEmpty();
    for (int i = 0; i < deliveries; i++) {
      house
          .sockets()
          .closed()
          .forEach(id -> new Disconnection(house.books()).remove(ACME, session, id));
    }

    house.pass(AFTER_HANDSHAKES);
    house.keep();

    assertThat(house.counted(ACME)).isEqualTo(house.open(ACME));
    if (over) {
      assertOver(session);
      assertThat(house.sockets().closed()).contains("a", "b").doesNotContain("c");
    }
    house.pass(Duration.ofMinutes(5));
    house.keep();
    assertOver(session);
    assertOver(other);
    assertThat(house.counted(ACME)).isZero();
    assertThat(house.sockets().closed()).contains("a", "b", "c");
    assertThat(house.books().list()).isEmpty();
  }

  // Events between two steps.

  /** The only event after which others must correct the count. */
  private static final Happening DELETION = (test, session) -> test.delete(session);

  static Stream<Arguments> meanwhile() {
    return Stream.of(
        meanwhile("join", (test, session) -> test.register(session, "late")),
        meanwhile("end", (test, session) -> test.house.life().end(ACME, session)),
        meanwhile(
            "disconnect",
            (test, session) -> new Disconnection(test.house.books()).remove(ACME, session, "a")),
        meanwhile("deletion", DELETION));
  }

  private interface Happening {
    void happen(SessionLifecycleTest test, SessionId session);
  }

  private static Arguments meanwhile(String name, Happening happening) {
    return Arguments.of(name, happening);
  }

  private void register(SessionId session, String connectionId) {
    if (house.join(ACME, session, connectionId) == JoinResult.ADDED) {
      house.books().countUp(ACME, Long.MAX_VALUE);
    }
  }

  /** Deletes the row as time to live does, and handles the stream event. */
  private void delete(SessionId session) {
    if (house.books().find(ACME, session).isPresent()) {
      house.books().vanish(ACME, session).connections().forEach(house.sockets()::close);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("meanwhile")
  void session_ends_once_despite_concurrent_events(String name, Happening happening) {
    int steps = stepsOfEnding();
    for (int at = 1; at <= steps; at++) {
      try {
        new SessionLifecycleTest().interrupt(at, happening);
      } catch (AssertionError wrong) {
        fail("before step " + at, wrong);
      }
    }
  }

  private void interrupt(int at, Happening happening) {
    house.open(acme, "c");
    SessionId session = house.open(acme, "a", "b");
    house.faults().plan(at, Faults.meanwhile(() -> happening.happen(this, session)));

    house.life().end(ACME, session);

    house.faults().none();
    house.pass(AFTER_HANDSHAKES);
    house.life().end(ACME, session);
    if (!happening.equals(DELETION)) {
      assertThat(house.counted(ACME)).isEqualTo(1);
    }
    house.recount().repair(ACME);
    assertOver(session);
    assertThat(house.counted(ACME)).isEqualTo(1);
    assertThat(house.sockets().closed()).contains("b").doesNotContain("c");
  }

  @Test
  void connection_during_the_end_is_closed_or_refused() {
    SessionId session = house.open(acme, "a");
    house.faults().plan(1, Faults.meanwhile(() -> register(session, "early")));
    house.life().end(ACME, session);
    assertThat(house.sockets().closed()).containsExactlyInAnyOrder("a", "early");
    assertThat(house.counted(ACME)).isZero();
  }

  @RepeatedTest(20)
  void connections_during_two_concurrent_ends_are_closed_or_refused() {
    SessionId session = house.open(acme, "a", "b");

    List<Optional<JoinResult>> answers =
        Race.of(
            8,
            i -> {
              if (i < 2) {
                EndResult ignored = house.life().end(ACME, session);
                return Optional.empty();
              }
              JoinResult joined = house.join(ACME, session, "late-" + i);
              if (joined == JoinResult.ADDED) {
                house.books().countUp(ACME, Long.MAX_VALUE);
              }
              return Optional.of(joined);
            });

    for (int i = 2; i < 8; i++) {
      assertThat(house.sockets().closed().contains("late-" + i))
          .isEqualTo(answers.get(i).orElseThrow() == JoinResult.ADDED);
    }
    house.recount().repair(ACME);
    assertOver(session);
    assertThat(house.counted(ACME)).isZero();
  }

  @Test
  void only_the_caller_that_takes_the_connections_lowers_the_count() {
    house.open(acme, "c", "d");
    SessionId session = house.open(acme, "a", "b");
    Consumer<SessionId> end = id -> house.life().end(ACME, id);
    house.faults().plan(4, Faults.meanwhile(() -> end.accept(session)));

    end.accept(session);

    assertThat(house.counted(ACME)).isEqualTo(2);
  }

  private Tenant tenant(String id, long perSubject, long idle, long lifetime) {
    return house
        .town()
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
    Instant end = house.town().clock().instant().plus(tokenLasts);
    return Optional.of(new Caller(Subject.of(tenant.id(), sub), end));
  }

  private Session opened(Tenant tenant, Optional<Caller> caller) {
    return ((SessionLifecycle.Opened) house.life().open(tenant, caller)).session();
  }

  private Session stands(Session session) {
    return house.books().find(session.tenant(), session.id()).orElseThrow();
  }

  @Test
  void subject_at_its_session_limit_uses_no_turns_of_others() {
    Tenant bronze = house.town().onboard("bronze", "bronze", Map.of());
    Optional<Caller> greedy = caller(bronze, "greedy");

    long got =
        Stream.generate(() -> house.life().open(bronze, greedy))
            .limit(2_000)
            .filter(SessionLifecycle.Opened.class::isInstance)
            .count();

    assertThat(got).isEqualTo(2);
    assertThat(house.books().list(bronze.id())).hasSize(2);
    assertThat(house.life().open(bronze, greedy))
        .isEqualTo(new SessionLifecycle.SubjectFull(START.plusSeconds(210)));
    assertThat(house.life().open(bronze, caller(bronze, "other")))
        .isInstanceOf(SessionLifecycle.Opened.class);
  }

  @Test
  void refused_subject_costs_two_reads_and_no_write() {
    Tenant one = tenant("one", 1, 300, 3_600);
    opened(one, caller(one, "ann"));
    house.faults().none();

    house.life().open(one, caller(one, "ann"));

    assertThat(house.faults().calls()).containsExactly("Sessions.findForSubject", "Sessions.find");
  }

  @Test
  void session_without_a_token_sends_no_subject_requests() {
    house.faults().none();

    house.life().open(acme, Optional.empty());

    assertThat(house.faults().calls())
        .containsExactly("Sessions.acquireCreation", "Sessions.create");
  }

  @Test
  void ended_session_frees_its_place_at_once_and_expired_session_soon() {
    Tenant two = tenant("two", 2, 60, 3_600);
    Optional<Caller> ann = caller(two, "ann");
    Session ended = opened(two, ann);
    opened(two, ann);
    assertThat(house.life().open(two, ann)).isInstanceOf(SessionLifecycle.SubjectFull.class);

    house.life().end(two.id(), ended.id());
    opened(two, ann);
    assertThat(house.life().open(two, ann)).isInstanceOf(SessionLifecycle.SubjectFull.class);
    house.pass(Duration.ofSeconds(69));
    assertThat(house.life().open(two, ann))
        .isEqualTo(new SessionLifecycle.SubjectFull(START.plusSeconds(70)));
    house.pass(Duration.ofSeconds(1));

    opened(two, ann);
    opened(two, ann);
    assertThat(house.life().open(two, ann)).isInstanceOf(SessionLifecycle.SubjectFull.class);
  }

  /** A renewal checks at its start that the session is not over, and may write after its end. */
  @Test
  void renewal_during_the_end_gives_its_subject_no_extra_session() {
    Tenant one = tenant("one", 1, 60, 3_600);
    Optional<Caller> eve = caller(one, "eve");
    Session session = opened(one, eve);
    for (int round = 0; round < 10; round++) {
      house.town().clock().set(stands(session).endsAt().minusMillis(1));
      house
          .faults()
          .plan(
              2,
              Faults.meanwhile(
                  () -> {
                    house.faults().none();
                    house.pass(Duration.ofMillis(5));
                    house.life().open(one, eve);
                  }));
      assertThat(house.life().renew(one, session.id(), eve))
          .isInstanceOf(SessionLifecycle.Renewed.class);
      house.faults().none();

      Instant now = house.town().clock().instant();
      assertThat(house.books().list(one.id()))
          .filteredOn(found -> !found.hasEndedAt(now))
          .hasSize(1);
    }
  }

  @Test
  void renewal_retried_after_the_session_is_over_does_not_renew_it() {
    Tenant one = tenant("one", 1, 60, 3_600);
    Optional<Caller> eve = caller(one, "eve", Duration.ofHours(1));
    Session session = opened(one, eve);
    house.town().clock().set(session.endsAt().minusMillis(1));
    // Another renewal with a longer token writes first, so this write is retried, but too late.
    house
        .faults()
        .plan(
            2,
            Faults.meanwhile(
                () -> {
                  house.faults().none();
                  house.life().renew(one, session.id(), caller(one, "eve", Duration.ofHours(3)));
                  house.pass(Duration.ofSeconds(61));
                }));

    assertThat(house.life().renew(one, session.id(), eve)).isEqualTo(new NoSession());
  }

  @Test
  void subject_creates_at_most_twice_its_places_in_a_minute() {
    Tenant three = tenant("three", 3, 60, 3_600);
    Optional<Caller> ann = caller(three, "ann");
    for (int i = 0; i < 6; i++) {
      house.life().end(three.id(), opened(three, ann).id());
    }

    assertThat(house.life().open(three, ann)).isInstanceOf(SessionLifecycle.SubjectTooFast.class);
    house.pass(Duration.ofSeconds(10));
    opened(three, ann);
    assertThat(house.life().open(three, ann)).isInstanceOf(SessionLifecycle.SubjectTooFast.class);
  }

  @Test
  void subject_above_a_lowered_limit_waits_until_enough_sessions_are_over() {
    Tenant three = tenant("three", 3, 60, 3_600);
    Optional<Caller> ann = caller(three, "ann");
    for (int i = 0; i < 3; i++) {
      opened(three, ann);
      house.pass(Duration.ofSeconds(10));
    }
    Tenant lowered =
        three.changed(
            Tier.DEFAULTS.get(2),
            Map.of(Limit.SESSIONS_PER_SUBJECT, 2L, Limit.SESSION_TTL, 60L),
            three.status());

    assertThat(house.life().open(lowered, ann))
        .isEqualTo(new SessionLifecycle.SubjectFull(START.plusSeconds(80)));
  }

  @Test
  void recorded_session_without_a_row_takes_no_place() {
    Tenant one = tenant("one", 1, 300, 3_600);
    Optional<Caller> ann = caller(one, "ann");
    Session gone = opened(one, ann);
    house.books().vanish(one.id(), gone.id());

    opened(one, ann);

    assertThat(house.books().list(one.id())).hasSize(1);
  }

  @Test
  void renewals_and_connects_do_not_extend_a_session_beyond_its_lifetime() {
    Tenant one = tenant("one", 1, 8, 48);
    Session session = opened(one, Optional.empty());
    assertThat(session.latestEnd(one.limits())).contains(START.plusSeconds(48));

    for (int second = 4; second < 48; second += 4) {
      house.pass(Duration.ofSeconds(4));
      assertThat(house.life().renew(one, session.id(), Optional.empty()))
          .isInstanceOf(SessionLifecycle.Renewed.class);
    }

    assertThat(stands(session).endsAt()).isEqualTo(START.plusSeconds(48));
    house.pass(Duration.ofSeconds(4));
    assertThat(house.life().renew(one, session.id(), Optional.empty())).isEqualTo(new NoSession());
    assertThat(house.join(one.id(), session.id(), "late")).isEqualTo(JoinResult.NO_SESSION);
  }

  @Test
  void session_ends_with_its_token_unless_a_newer_token_renews_it() {
    Tenant one = tenant("one", 9, 300, 3_600);
    Session session = opened(one, caller(one, "ann", Duration.ofSeconds(30)));
    assertThat(session.endsAt()).isEqualTo(START.plusSeconds(30));
    Session renewed = opened(one, caller(one, "ann", Duration.ofSeconds(30)));

    house.pass(Duration.ofSeconds(29));
    house.life().renew(one, session.id(), caller(one, "ann", Duration.ofSeconds(1)));
    house.life().renew(one, renewed.id(), caller(one, "ann", Duration.ofSeconds(60)));
    assertThat(stands(renewed).endsAt()).isEqualTo(START.plusSeconds(89));
    house.life().renew(one, renewed.id(), caller(one, "ann", Duration.ofSeconds(9)));
    house.life().renew(one, renewed.id(), Optional.empty());

    assertThat(stands(session).endsAt()).isEqualTo(START.plusSeconds(30));
    assertThat(stands(renewed).endsAt()).isEqualTo(START.plusSeconds(89));
    house.life().renew(one, renewed.id(), caller(one, "ann", Duration.ofDays(9)));
    assertThat(stands(renewed).latestEnd(one.limits())).contains(START.plusSeconds(3_600));
  }

  @Test
  void session_of_an_older_version_is_dated_by_its_next_use() {
    Tenant one = tenant("one", 1, 300, 3_600);
    SessionId old = house.town().open(one);
    assertThat(house.books().find(one.id(), old).orElseThrow().latestEnd(one.limits())).isEmpty();

    house.pass(Duration.ofSeconds(5));
    house.life().renew(one, old, Optional.empty());

    assertThat(house.books().find(one.id(), old).orElseThrow().latestEnd(one.limits()))
        .contains(START.plusSeconds(3_605));
  }

  @Test
  void changed_lifetime_applies_from_the_next_use_and_never_shortens_a_session() {
    Tenant one = tenant("one", 1, 60, 120);
    Session session = opened(one, Optional.empty());
    Tenant longer =
        one.changed(
            Tier.DEFAULTS.get(2),
            Map.of(Limit.SESSION_TTL, 60L, Limit.SESSION_LIFETIME, 240L),
            one.status());
    Tenant shorter =
        one.changed(
            Tier.DEFAULTS.get(2),
            Map.of(Limit.SESSION_TTL, 60L, Limit.SESSION_LIFETIME, 60L),
            one.status());

    house.pass(Duration.ofSeconds(59));
    house.life().renew(one, session.id(), Optional.empty());
    assertThat(stands(session).endsAt()).isEqualTo(START.plusSeconds(119));
    house.pass(Duration.ofSeconds(59));
    house.life().renew(shorter, session.id(), Optional.empty());
    assertThat(stands(session).endsAt()).isEqualTo(START.plusSeconds(119));
    house.life().renew(longer, session.id(), Optional.empty());
    assertThat(stands(session).endsAt()).isEqualTo(START.plusSeconds(178));
  }
}
