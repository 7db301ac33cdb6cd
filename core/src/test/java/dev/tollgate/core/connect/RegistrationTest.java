package dev.tollgate.core.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Pause;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.connect.Registration.Registered;
import dev.tollgate.core.connect.Registration.Result;
import dev.tollgate.core.session.Connections.LeaveResult;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class RegistrationTest {
  private static final Pause NONE = duration -> {};

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AdmissionFixture ports = new AdmissionFixture();
  private final Tenant acme = ports.onboard("acme", "gold", Map.of(Limit.TENANT_CONNECTIONS, 10L));
  private final Disconnection departure = new Disconnection(ports.sessions());

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private Registration registration(Pause pause) {
    return new Registration(
        ports.sessions(),
        ports.heldTokens(),
        ports.tally(),
        ports.enforcement(),
        Runnable::run,
        pause,
        ports.clock());
  }

  private AdmissionDecision decide(Tenant tenant, SessionId session) {
    return ports.admission().decide(tenant.id(), session);
  }

  private Ticket ticket(Tenant tenant, SessionId session) {
    return ((AdmissionDecision.Ticketed) decide(tenant, session)).ticket();
  }

  private Ticket ticket(SessionId session) {
    return ticket(acme, session);
  }

  private static Ticket with(Ticket ticket, OnUnavailable onUnavailable) {
    return new Ticket(
        ticket.tenant(),
        ticket.session(),
        ticket.bounds(),
        ticket.sessionTtl(),
        ticket.latestEnd(),
        ticket.arrival(),
        ticket.place(),
        onUnavailable,
        ticket.lease(),
        ticket.wouldRefuse());
  }

  private long tokens() {
    return ports.queue().level(AdmissionFixture.connects(acme));
  }

  private String activity() {
    TenantActivity activity = ports.activity().of(acme.id());
    return activity.admitted()
        + " admitted, "
        + (activity.withoutToken() == 0 ? "" : activity.withoutToken() + " without a token, ")
        + activity.refused()
        + " refused";
  }

  private int inSession(SessionId session) {
    return ports.sessions().find(acme.id(), session).orElseThrow().connections().size();
  }

  @Test
  void registration_adds_the_connection_raises_the_count_and_spends_the_token() {
    SessionId session = ports.open(acme);
    assertThat(registration(NONE).register(ticket(session), "c1")).isEqualTo(new Registered(true));
    assertThat(ports.sessions().count(acme.id())).isEqualTo(1);
    assertThat(inSession(session)).isEqualTo(1);
    assertThat(tokens()).isEqualTo(179);
    assertThat(activity()).isEqualTo("1 admitted, 0 refused");
  }

  private SessionId open(Tenant tenant) {
    return ((SessionLifecycle.Opened) ports.lifecycle().open(tenant, Optional.empty()))
        .session()
        .id();
  }

  @Test
  void connect_extends_its_session_by_the_time_to_live() {
    Tenant brief = ports.onboard("brief", "gold", Map.of(Limit.SESSION_TTL, 60L));
    SessionId session = open(brief);

    ports.clock().set(AdmissionFixture.START.plusSeconds(40));
    assertThat(registration(NONE).register(ticket(brief, session), "c1"))
        .isEqualTo(new Registered(true));
    ports.clock().set(AdmissionFixture.START.plusSeconds(70));
    assertThat(registration(NONE).register(ticket(brief, session), "c2"))
        .isEqualTo(new Registered(true));

    assertThat(ports.sessions().find(brief.id(), session).orElseThrow().endsAt())
        .isEqualTo(AdmissionFixture.START.plusSeconds(130));
    ports.clock().set(AdmissionFixture.START.plusSeconds(130));
    assertThat(decide(brief, session)).isEqualTo(new AdmissionDecision.Refused(Refusal.UNKNOWN));
  }

  @Test
  void connect_extends_no_session_beyond_its_lifetime() {
    Tenant brief =
        ports.onboard("brief", "gold", Map.of(Limit.SESSION_TTL, 60L, Limit.SESSION_LIFETIME, 90L));
    SessionId session = open(brief);

    ports.clock().set(AdmissionFixture.START.plusSeconds(40));
    assertThat(registration(NONE).register(ticket(brief, session), "c1"))
        .isEqualTo(new Registered(true));
    ports.clock().set(AdmissionFixture.START.plusSeconds(80));
    assertThat(registration(NONE).register(ticket(brief, session), "c2"))
        .isEqualTo(new Registered(true));

    assertThat(ports.sessions().find(brief.id(), session).orElseThrow().endsAt())
        .isEqualTo(AdmissionFixture.START.plusSeconds(90));
    ports.clock().set(AdmissionFixture.START.plusSeconds(90));
    assertThat(decide(brief, session)).isEqualTo(new AdmissionDecision.Refused(Refusal.UNKNOWN));
  }

  @Test
  void repeated_connect_event_counts_once() {
    SessionId session = ports.open(acme);
    Ticket ticket = ticket(session);
    registration(NONE).register(ticket, "c1");
    registration(NONE).register(ticket, "c1");
    assertThat(ports.sessions().count(acme.id())).isEqualTo(1);
    assertThat(inSession(session)).isEqualTo(1);
    assertThat(activity()).isEqualTo("1 admitted, 0 refused");
  }

  @Test
  void repeated_or_late_disconnect_changes_nothing() {
    SessionId session = ports.open(acme);
    registration(NONE).register(ticket(session), "c1");
    registration(NONE).register(ticket(session), "c2");
    assertThat(departure.remove(acme.id(), session, "c1")).isEqualTo(LeaveResult.REMOVED);
    assertThat(departure.remove(acme.id(), session, "c1")).isEqualTo(LeaveResult.NOT_JOINED);
    assertThat(ports.sessions().count(acme.id())).isEqualTo(1);
    ports.sessions().deleteRow(acme.id(), session);
    assertThat(departure.remove(acme.id(), session, "c2")).isEqualTo(LeaveResult.NOT_JOINED);
    assertThat(ports.sessions().find(acme.id(), session)).isEmpty();
  }

  @Test
  void lost_race_for_the_count_is_undone_and_puts_a_token_back() {
    SessionId session = ports.open(acme);
    Ticket ticket = ticket(session);
    for (int i = 0; i < 10; i++) {
      ports.sessions().countUp(acme.id(), 10);
    }
    List<Duration> waited = new ArrayList<>();
    Result outcome = registration(waited::add).register(ticket, "late");
    assertThat(outcome).isEqualTo(new Registration.NotRegistered(Refusal.TENANT_CONNECTIONS));
    assertThat(waited).hasSize(5);
    assertThat(inSession(session)).isZero();
    assertThat(ports.sessions().count(acme.id())).isEqualTo(10);
    assertThat(tokens()).isEqualTo(180);
    assertThat(activity()).isEqualTo("10 admitted, 1 refused");
  }

  @Test
  void place_freed_during_the_retry_is_taken() {
    SessionId session = ports.open(acme);
    Ticket ticket = ticket(session);
    for (int i = 0; i < 10; i++) {
      ports.sessions().countUp(acme.id(), 10);
    }
    Pause freePlace = duration -> ports.sessions().countDown(acme.id(), 1);
    assertThat(registration(freePlace).register(ticket, "patient")).isEqualTo(new Registered(true));
    assertThat(ports.sessions().count(acme.id())).isEqualTo(10);
  }

  @Test
  void ended_session_refuses_and_puts_a_token_back() {
    SessionId session = ports.open(acme);
    Ticket ticket = ticket(session);
    ports.sessions().deleteRow(acme.id(), session);
    assertThat(registration(NONE).register(ticket, "c1"))
        .isEqualTo(new Registration.NotRegistered(Refusal.UNKNOWN));
    assertThat(ports.sessions().count(acme.id())).isZero();
    assertThat(ports.sessions().find(acme.id(), session)).isEmpty();
    assertThat(tokens()).isEqualTo(180);
    assertThat(activity()).as("count undone").isEqualTo("0 admitted, 1 refused");
  }

  @Test
  void token_is_not_spent_shortly_before_its_lease_ends() {
    SessionId session = ports.open(acme);
    Ticket ticket = ticket(session);
    ports.clock().advance(Duration.ofSeconds(28));
    assertThat(registration(NONE).register(ticket, "c1"))
        .isEqualTo(new Registration.NotRegistered(Refusal.LEASE_ENDED));
    assertThat(inSession(session)).isZero();
    assertThat(activity()).isEqualTo("0 admitted, 1 refused");
    ports.clock().advance(Duration.ofSeconds(2));
    assertThat(ports.queue().available(AdmissionFixture.connects(acme))).isEqualTo(180);
  }

  @Test
  void token_whose_lease_ends_while_it_is_spent_admits_nobody() {
    SessionId session = ports.open(acme);
    Ticket ticket = ticket(session);
    Faults faults = new Faults();
    HeldTokens slow =
        new HeldTokens(
            ports.buckets(), faults.around(TokenQueue.class, ports.queue()), ports.clock());
    faults.plan(1, Faults.concurrently(() -> ports.clock().advance(Duration.ofSeconds(30))));

    Registration registration =
        new Registration(
            ports.sessions(),
            slow,
            ports.tally(),
            ports.enforcement(),
            Runnable::run,
            NONE,
            ports.clock());

    assertThat(registration.register(ticket, "c1"))
        .isEqualTo(new Registration.NotRegistered(Refusal.LEASE_ENDED));
    assertThat(inSession(session)).isZero();
  }

  @Test
  void unspendable_token_admits_or_refuses_as_the_tier_states() {
    SessionId session = ports.open(acme);
    Ticket ticket = ticket(session);
    ports.queue().outage().begin("settle");
    assertThat(registration(NONE).register(with(ticket, OnUnavailable.REFUSE), "c1"))
        .isEqualTo(new Registration.NotRegistered(Refusal.UNDECIDED));
    assertThat(inSession(session)).isZero();
    assertThat(ports.sessions().count(acme.id())).isZero();
    assertThat(registration(NONE).register(with(ticket, OnUnavailable.ADMIT), "c1"))
        .isEqualTo(new Registered(false));
    assertThat(activity()).isEqualTo("1 admitted, 1 without a token, 1 refused");
  }

  @Test
  void ticket_without_a_lease_counts_a_connection_without_a_token_until_it_is_refused() {
    SessionId session = ports.open(acme);
    ports.queue().outage().begin();
    Ticket ticket = ticket(session);
    assertThat(ticket.lease()).isEmpty();
    assertThat(registration(NONE).register(ticket, "c1")).isEqualTo(new Registered(false));
    assertThat(registration(NONE).register(ticket, "c1")).isEqualTo(new Registered(false));
    assertThat(activity()).isEqualTo("1 admitted, 1 without a token, 0 refused");

    ports.sessions().outage().begin("join");
    assertThat(registration(NONE).register(ticket, "c2"))
        .isEqualTo(new Registration.NotRegistered(Refusal.UNDECIDED));
    ports.sessions().outage().end();
    assertThat(activity()).startsWith("1 admitted, 1 without a token, ");
  }

  @Test
  void token_that_cannot_be_spent_for_want_of_credentials_admits_nobody() {
    Ticket ticket = with(ticket(ports.open(acme)), OnUnavailable.ADMIT);
    ports.queue().outage().beginWithoutCredentials();
    assertThat(registration(NONE).register(ticket, "c1"))
        .isEqualTo(new Registration.NotRegistered(Refusal.UNDECIDED));
  }

  @Test
  void unwritable_count_refuses_and_restores_the_session() {
    SessionId session = ports.open(acme);
    Ticket ticket = ticket(session);
    ports.sessions().outage().begin("countUp");
    assertThat(registration(NONE).register(ticket, "c1"))
        .isEqualTo(new Registration.NotRegistered(Refusal.UNDECIDED));
    ports.sessions().outage().end();
    assertThat(inSession(session)).isZero();
    assertThat(tokens()).isEqualTo(180);
  }

  @Test
  void sixty_concurrent_connects_for_ten_places_admit_exactly_ten() throws Exception {
    for (int round = 0; round < 10; round++) {
      SessionId first = ports.open(acme);
      SessionId second = ports.open(acme);
      boolean oneSession = round % 2 == 0;
      List<Ticket> tickets = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        Ticket ticket = ticket(oneSession || i % 2 == 0 ? first : second);
        tickets.add(unlimitedRate(ticket));
      }
      CountDownLatch start = new CountDownLatch(1);
      List<Future<Result>> outcomes = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        Ticket ticket = tickets.get(i);
        String connection = "r" + round + "c" + i;
        Registration registration =
            new Registration(
                ports.sessions(),
                ports.heldTokens(),
                ports.tally(),
                ports.enforcement(),
                threads,
                Pause.real(),
                ports.clock());
        outcomes.add(
            threads.submit(
                () -> {
                  start.await();
                  return registration.register(ticket, connection);
                }));
      }
      start.countDown();
      int admitted = 0;
      for (Future<Result> outcome : outcomes) {
        admitted += outcome.get() instanceof Registered ? 1 : 0;
      }
      assertThat(admitted).as("round %d", round).isEqualTo(10);
      assertThat(ports.sessions().count(acme.id())).isEqualTo(10);
      assertThat(inSession(first) + inSession(second)).isEqualTo(10);
      assertThat(ports.activity().of(acme.id()).admitted()).isEqualTo(10L * (round + 1));
      assertThat(tokens()).as("tokens spent").isEqualTo(170);
      for (int i = 0; i < 60; i++) {
        departure.remove(acme.id(), tickets.get(i).session(), "r" + round + "c" + i);
      }
      ports.clock().advance(Duration.ofMinutes(1));
      ports.fill().fill(AdmissionFixture.connects(acme));
      ports.clock().advance(Duration.ofMinutes(1));
    }
  }

  /** Without the session's rate, because this race is about the count. */
  private static Ticket unlimitedRate(Ticket ticket) {
    return new Ticket(
        ticket.tenant(),
        ticket.session(),
        new ConnectionBounds(
            ticket.bounds().tenantConnections(),
            ticket.bounds().connectionsPerSession(),
            600_000,
            Map.of()),
        ticket.sessionTtl(),
        ticket.latestEnd(),
        Optional.empty(),
        ticket.place(),
        ticket.onUnavailable(),
        ticket.lease(),
        ticket.wouldRefuse());
  }
}
