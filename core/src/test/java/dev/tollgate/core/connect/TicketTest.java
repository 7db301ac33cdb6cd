package dev.tollgate.core.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a ticket keeps when its connection goes on without observed limits. */
final class TicketTest {
  private static final Place PLACE = new Place(1, 1);

  private final AdmissionFixture ports = new AdmissionFixture();

  /** A ticket with a token and a place in line, while one limit is observed. */
  private Ticket ticket(Limit observed) {
    Overrides overrides =
        new Overrides(Map.of(), Map.of(observed, LimitMode.OBSERVE), Optional.empty());
    Tenant acme = ports.onboard("acme", "gold", overrides);
    AdmissionDecision decision = ports.admission().decide(acme.id(), ports.open(acme));
    Ticket ticket = ((AdmissionDecision.Ticketed) decision).ticket();
    assertThat(ticket.lease()).isPresent();
    return ticket.with(ticket.lease(), Optional.of(PLACE));
  }

  @Test
  void token_and_place_are_kept_if_the_rate_is_enforced() {
    Ticket ticket = ticket(Limit.TENANT_CONNECTIONS);

    Ticket through = ticket.letThrough(Refusal.TENANT_CONNECTIONS);

    assertThat(through.lease()).isEqualTo(ticket.lease());
    assertThat(through.place()).contains(PLACE);
  }

  @Test
  void token_and_place_are_dropped_if_the_rate_is_observed() {
    Ticket through = ticket(Limit.TENANT_PER_MINUTE).letThrough(Refusal.TENANT_RATE);

    assertThat(through.lease()).isEmpty();
    assertThat(through.place()).isEmpty();
  }

  @Test
  void first_observed_refusal_is_the_reason() {
    Ticket through = ticket(Limit.TENANT_CONNECTIONS).letThrough(Refusal.TENANT_CONNECTIONS);

    assertThat(through.letThrough(Refusal.SESSION_RATE).wouldRefuse())
        .contains(Refusal.TENANT_CONNECTIONS);
  }
}
