package dev.tollgate.core.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.House;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Attacks: each test states what README promises, and fails. */
final class AttackSessionsTest {
  private final House house = new House();
  private final Tenant acme = house.town().onboard("acme", "gold", Map.of());

  /**
   * The housekeeper lists sessions, one of which has five seconds left. It is renewed (200). Ending
   * another takes ten seconds. Then the renewed one is ended by what was read before.
   */
  @Test
  void a_session_that_was_renewed_in_time_is_not_ended_by_the_housekeeper() {
    SessionId renewed = house.open(acme, "live");
    house.pass(Duration.ofMinutes(5).minusSeconds(5));
    boolean[] done = {false};
    // Call 1: Tenants.find, 2: Sessions.list, 3: Connections.countOf of the glance.
    house
        .faults()
        .plan(
            3,
            Faults.meanwhile(
                () -> {
                  done[0] =
                      house.town().sessions().renew(
                              acme.id(),
                              renewed,
                              house.town().clock().instant().plusSeconds(300),
                              house.town().clock().instant())
                          == dev.tollgate.core.Written.DONE;
                  house.pass(Duration.ofSeconds(10)); // other sessions, or a slow list
                }));
    house.visit().visit(acme.id(), Instant.MAX);

    assertThat(done[0]).as("renewed").isTrue();
    assertThat(house.sockets().closed()).isEmpty();
    assertThat(house.books().find(acme.id(), renewed)).isPresent();
  }

  /** The same with a connect, which extends its session by the same write. */
  @Test
  void a_session_that_was_joined_in_time_is_not_ended_by_the_housekeeper() {
    SessionId joined = house.open(acme, "live");
    house.pass(Duration.ofMinutes(5).minusSeconds(1));
    house
        .faults()
        .plan(
            3,
            Faults.meanwhile(
                () -> {
                  Instant now = house.town().clock().instant();
                  house
                      .books()
                      .join(
                          acme.id(),
                          joined,
                          "new",
                          10,
                          Gcra.perMinute(30),
                          Optional.empty(),
                          now.plusSeconds(300),
                          now);
                  house.books().countUp(acme.id(), "new", 1_000);
                  house.pass(Duration.ofSeconds(1));
                }));
    house.visit().visit(acme.id(), Instant.MAX);

    assertThat(house.sockets().closed()).isEqualTo(java.util.List.of());
    assertThat(house.books().find(acme.id(), joined).map(Session::connections))
        .contains(Set.of("live", "new"));
  }
}
