package dev.tollgate.core.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.admission.Departure;
import dev.tollgate.core.session.Connections.Joined;
import dev.tollgate.core.session.Connections.Left;
import dev.tollgate.core.session.SessionLife.Ended;
import dev.tollgate.core.session.SessionLife.Ending;
import dev.tollgate.core.session.SessionLife.NoSession;
import dev.tollgate.core.session.SessionLife.Over;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Faults.Fault;
import dev.tollgate.core.testing.House;
import dev.tollgate.core.testing.Race;
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

final class SessionLifeTest {
  private static final TenantId ACME = new TenantId("acme");

  private final House house = new House();
  private final Tenant acme = house.town().onboard("acme", "gold", Map.of());

  private void assertOver(SessionId session) {
    assertThat(house.books().find(ACME, session)).isEmpty();
    assertThat(house.counted(ACME)).isEqualTo(house.open(ACME));
  }

  @Test
  void end_closes_the_sockets_and_takes_them_off_the_books() {
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
  void end_of_an_empty_session_does_no_more_than_it_must() {
    SessionId session = house.open(acme);
    house.faults().none();

    house.life().end(ACME, session);

    assertThat(house.faults().calls()).containsExactly("Sessions.endAt", "Sessions.remove");
  }

  @Test
  void a_session_whose_socket_cannot_be_closed_is_over_and_can_be_ended_again() {
    SessionId session = house.open(acme, "a");
    house.sockets().outage().begin();

    assertThatThrownBy(() -> house.life().end(ACME, session)).isInstanceOf(Unavailable.class);

    assertThat(house.join(ACME, session, "b")).isEqualTo(Joined.NO_SESSION);
    assertThat(house.counted(ACME)).isEqualTo(house.open(ACME)).isEqualTo(1);
    house.sockets().outage().end();
    assertThat(house.life().end(ACME, session)).isInstanceOf(Ended.class);
    assertThat(house.sockets().closed()).containsExactly("a");
    assertOver(session);
  }

  @Test
  void a_connection_that_set_out_before_the_end_does_not_join_after_it() {
    SessionId session = house.open(acme, "a");
    house.sockets().outage().begin();
    assertThatThrownBy(() -> house.life().end(ACME, session)).isInstanceOf(Unavailable.class);

    house.town().clock().set(house.town().clock().instant().minusSeconds(30));

    assertThat(house.join(ACME, session, "b")).isEqualTo(Joined.NO_SESSION);
  }

  @Test
  void a_disconnect_that_comes_three_times_while_its_session_ends_counts_once() {
    SessionId session = house.open(acme, "a", "b");
    house.open(acme, "c");
    Departure departure = new Departure(house.books());

    assertThat(departure.depart(ACME, session, "a")).isEqualTo(Left.REMOVED);
    assertThat(departure.depart(ACME, session, "a")).isEqualTo(Left.NOT_IN);
    house.life().end(ACME, session);
    assertThat(departure.depart(ACME, session, "a")).isEqualTo(Left.NOT_IN);
    assertThat(departure.depart(ACME, session, "b")).isEqualTo(Left.NOT_IN);

    assertOver(session);
    assertThat(house.counted(ACME)).isEqualTo(1);
  }

  // Sessions that stay for a while.

  /** Sockets that are being opened cannot be closed; a handshake takes no longer. */
  private static final Duration AFTER_HANDSHAKES = Duration.ofSeconds(31);

  @Test
  void a_session_that_is_ended_during_a_handshake_stays_until_the_socket_can_be_closed() {
    SessionId session = house.open(acme, "a", "handshaking");
    house.sockets().lose("handshaking");

    assertThat(house.life().end(ACME, session)).isInstanceOf(Over.class);

    house.sockets().opens("handshaking");
    assertThat(house.join(ACME, session, "b")).isEqualTo(Joined.NO_SESSION);
    assertThat(house.counted(ACME)).isEqualTo(house.open(ACME)).isEqualTo(2);
    house.pass(AFTER_HANDSHAKES);
    house.keep();
    assertThat(house.sockets().isOpen("handshaking")).isFalse();
    assertOver(session);
    assertThat(house.counted(ACME)).isZero();
  }

  @Test
  void a_session_that_notes_messages_stays_until_they_may_be_forgotten() {
    SessionId session = house.open(acme, "a");
    Session read = house.books().find(ACME, session).orElseThrow();
    Instant until = house.town().clock().instant().plusSeconds(600);
    house.books().extend(read, read.endsAt(), Map.of("m", until), house.town().clock().instant());

    assertThat(house.life().end(ACME, session)).isInstanceOf(Over.class);
    assertThat(house.counted(ACME)).isZero();

    for (int minute = 0; minute < 9; minute++) {
      house.pass(Duration.ofMinutes(1));
      house.faults().none();
      house.keep();
      assertThat(house.faults().calls()).doesNotContain("Sessions.endAt", "Sessions.remove");
      assertThat(house.books().find(ACME, session).orElseThrow().processed()).containsKey("m");
    }
    house.pass(Duration.ofMinutes(1));
    house.keep();
    assertOver(session);
  }

  // Something goes wrong at one of the steps.

  static Stream<Arguments> faults() {
    return Stream.of(
        Arguments.of("unreachable", Faults.UNREACHABLE),
        Arguments.of("answer lost", Faults.ANSWER_LOST),
        Arguments.of("killed", Faults.KILLED));
  }

  private static int stepsOfEnding() {
    SessionLifeTest undisturbed = new SessionLifeTest();
    SessionId session = undisturbed.house.open(undisturbed.acme, "a", "b");
    undisturbed.house.faults().none();
    undisturbed.house.life().end(ACME, session);
    return undisturbed.house.faults().calls().size();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("faults")
  void an_end_that_is_disturbed_is_finished_by_the_housekeeping(String name, Fault fault) {
    int steps = stepsOfEnding();
    assertThat(steps).isEqualTo(6);
    for (int at = 1; at <= steps; at++) {
      for (int deliveries = 0; deliveries <= 3; deliveries++) {
        try {
          new SessionLifeTest().disturb(at, fault, deliveries);
        } catch (AssertionError wrong) {
          fail("disturbed at " + at + ", " + deliveries + " deliveries", wrong);
        }
      }
    }
  }

  /** Each {@code $disconnect} of a socket that was closed is delivered so many times. */
  private void disturb(int at, Fault fault, int deliveries) {
    SessionId other = house.open(acme, "c");
    SessionId session = house.open(acme, "a", "b");
    house.faults().plan(at, fault);
    try {
      house.life().end(ACME, session);
    } catch (Faults.Killed | Unavailable expected) {
      // What was done stays.
    }
    house.faults().none();
    boolean over =
        house
            .books()
            .find(ACME, session)
            .filter(row -> !row.endedAt(house.town().clock().instant()))
            .isEmpty();
    for (int i = 0; i < deliveries; i++) {
      house
          .sockets()
          .closed()
          .forEach(id -> new Departure(house.books()).depart(ACME, session, id));
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

  // Something happens between two of the steps.

  /** Of all that may happen, this alone leaves the count to others. */
  private static final Happening DELETION = (test, session) -> test.delete(session);

  static Stream<Arguments> meanwhile() {
    return Stream.of(
        meanwhile("join", (test, session) -> test.register(session, "late")),
        meanwhile("end", (test, session) -> test.house.life().end(ACME, session)),
        meanwhile(
            "disconnect",
            (test, session) -> new Departure(test.house.books()).depart(ACME, session, "a")),
        meanwhile("deletion", DELETION));
  }

  private interface Happening {
    void happen(SessionLifeTest test, SessionId session);
  }

  private static Arguments meanwhile(String name, Happening happening) {
    return Arguments.of(name, happening);
  }

  private void register(SessionId session, String connectionId) {
    if (house.join(ACME, session, connectionId) == Joined.ADDED) {
      house.books().countUp(ACME, Long.MAX_VALUE);
    }
  }

  /** As time to live does, and what then the stream sets off. */
  private void delete(SessionId session) {
    if (house.books().find(ACME, session).isPresent()) {
      house.books().vanish(ACME, session).connections().forEach(house.sockets()::close);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("meanwhile")
  void whatever_happens_while_a_session_ends_it_ends_once(String name, Happening happening) {
    int steps = stepsOfEnding();
    for (int at = 1; at <= steps; at++) {
      try {
        new SessionLifeTest().interrupt(at, happening);
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
  void a_connection_joins_before_the_end_and_is_closed_or_after_it_and_is_refused() {
    SessionId session = house.open(acme, "a");
    house.faults().plan(1, Faults.meanwhile(() -> register(session, "early")));
    house.life().end(ACME, session);
    assertThat(house.sockets().closed()).containsExactlyInAnyOrder("a", "early");
    assertThat(house.counted(ACME)).isZero();
  }

  @RepeatedTest(20)
  void connections_that_race_with_two_ends_are_closed_or_refused() {
    SessionId session = house.open(acme, "a", "b");

    List<Optional<Joined>> answers =
        Race.of(
            8,
            i -> {
              if (i < 2) {
                Ending ignored = house.life().end(ACME, session);
                return Optional.empty();
              }
              Joined joined = house.join(ACME, session, "late-" + i);
              if (joined == Joined.ADDED) {
                house.books().countUp(ACME, Long.MAX_VALUE);
              }
              return Optional.of(joined);
            });

    for (int i = 2; i < 8; i++) {
      assertThat(house.sockets().closed().contains("late-" + i))
          .isEqualTo(answers.get(i).orElseThrow() == Joined.ADDED);
    }
    house.recount().repair(ACME);
    assertOver(session);
    assertThat(house.counted(ACME)).isZero();
  }

  @Test
  void the_one_who_gets_the_connections_lowers_the_count_and_the_other_does_not() {
    house.open(acme, "c", "d");
    SessionId session = house.open(acme, "a", "b");
    Consumer<SessionId> end = id -> house.life().end(ACME, id);
    house.faults().plan(4, Faults.meanwhile(() -> end.accept(session)));

    end.accept(session);

    assertThat(house.counted(ACME)).isEqualTo(2);
  }
}
