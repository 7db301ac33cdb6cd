package dev.tollgate.core.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Pause;
import dev.tollgate.core.admission.Registration.Admitted;
import dev.tollgate.core.admission.Registration.Outcome;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLife;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.RecordingSockets;
import dev.tollgate.core.testing.Town;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** Attacks: each test states what README promises, and fails. */
final class AttackRegistrationTest {
  private final Town town = new Town();
  private final Tenant acme = town.onboard("acme", "gold", Map.of(Limit.TENANT_CONNECTIONS, 2L));
  private final RecordingSockets sockets = new RecordingSockets();

  private Registration registration(Executor executor, Pause pause) {
    return new Registration(
        town.sessions(), town.heldTokens(), town.tally(), executor, pause, town.clock());
  }

  private Ticket ticket(SessionId session) {
    return ((Verdict.Ticketed)
            new Admission(town.facts(), town.gate(), town.tally(), Runnable::run, town.clock())
                .decide(acme.id(), session))
        .ticket();
  }

  private SessionLife life() {
    return new SessionLife(
        town.sessions(), town.sessions(), sockets, new SecureRandom(), town.clock());
  }

  /** The same $connect event twice, one within the other, for the last place that is taken. */
  @Test
  void a_double_event_admits_nobody_beyond_the_limit() {
    SessionId session = town.open(acme);
    Ticket first = ticket(session);
    Ticket second = ticket(session);
    Ticket third = ticket(session);
    Registration plain = registration(Runnable::run, pause -> {});
    assertThat(plain.register(first, "c1")).isInstanceOf(Admitted.class);
    assertThat(plain.register(second, "c2")).isInstanceOf(Admitted.class);
    List<Outcome> outcomes = new ArrayList<>();
    Outcome one =
        registration(
                Runnable::run,
                pause -> {
                  if (outcomes.isEmpty()) {
                    outcomes.add(plain.register(third, "c3"));
                  }
                })
            .register(third, "c3");
    outcomes.add(one);

    assertThat(outcomes).as("answers to the third handshake").doesNotHaveAnyElementsOfTypes(Admitted.class);
  }

  /** A session that ends between the join and the end of the handshake: the socket is nobody's. */
  @Test
  void nobody_is_admitted_to_a_session_that_has_ended_while_he_registers() {
    SessionId session = town.open(acme);
    Ticket ticket = ticket(session);
    int[] tasks = {0};
    Outcome outcome =
        registration(
                task -> {
                  task.run();
                  if (++tasks[0] == 1) { // joined, not yet counted; API Gateway knows no such socket
                    life().end(acme.id(), session);
                  }
                },
                pause -> {})
            .register(ticket, "c1");

    assertThat(town.sessions().find(acme.id(), session)).isEmpty();
    assertThat(outcome).isNotInstanceOf(Admitted.class);
  }

  /** And the count: who was taken out uncounted lowers it, and more than two are open. */
  @Test
  void not_more_are_open_than_may_be_when_a_session_ends_under_one_who_waits_for_the_count() {
    SessionId ending = town.open(acme);
    SessionId other = town.open(acme);
    Registration plain = registration(Runnable::run, pause -> {});
    List<Ticket> tickets = List.of(ticket(other), ticket(other), ticket(ending), ticket(other));
    assertThat(plain.register(tickets.get(0), "a")).isInstanceOf(Admitted.class);
    assertThat(plain.register(tickets.get(1), "b")).isInstanceOf(Admitted.class);
    boolean[] ended = {false};
    Outcome waits =
        registration(
                Runnable::run,
                pause -> {
                  if (!ended[0]) {
                    ended[0] = true;
                    life().end(acme.id(), ending);
                  }
                })
            .register(tickets.get(2), "x");
    Outcome more = plain.register(tickets.get(3), "y");

    assertThat(List.of(waits, more))
        .as("beside two open sockets of two that may be open")
        .doesNotHaveAnyElementsOfTypes(Admitted.class);
  }
}
