package dev.tollgate.core.enforcement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.connect.Admission;
import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.connect.Ticket;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Handshakes and new sessions while all limits are lifted, and before and after. */
final class LiftedLimitsTest {
  private final AdmissionFixture ports = new AdmissionFixture();
  private final Admission admission = ports.admission();
  private final Registration registration =
      new Registration(
          ports.sessions(),
          new HeldTokens(ports.buckets(), ports.queue(), ports.clock()),
          ports.tally(),
          ports.enforcement(),
          Runnable::run,
          pause -> {},
          ports.clock());
  private int connections;

  private Tenant tenant(Map<Limit, Long> limits) {
    return ports.onboard("acme", "gold", limits);
  }

  private SessionId session(Tenant tenant) {
    return ((SessionLifecycle.Opened) ports.lifecycle().open(tenant, Optional.empty()))
        .session()
        .id();
  }

  private void lift() {
    Instant now = ports.clock().instant();
    ports.admitAll().turnOn(new AdmitAll(now, now.plus(Duration.ofHours(1)), "a test", "me"));
    ports.clock().advance(Enforcement.KNOWN_FOR);
  }

  private void enforce() {
    ports.admitAll().turnOff();
    ports.clock().advance(Enforcement.KNOWN_FOR);
  }

  private Optional<Refusal> connect(Tenant tenant, SessionId session) {
    AdmissionDecision decision = admission.decide(tenant.id(), session);
    if (decision instanceof AdmissionDecision.Refused refused) {
      return Optional.of(refused.refusal());
    }
    Ticket ticket = ((AdmissionDecision.Ticketed) decision).ticket();
    return registration.register(ticket, "c" + ++connections)
            instanceof Registration.NotRegistered refused
        ? Optional.of(refused.refusal())
        : Optional.empty();
  }

  /** The limit refuses the second connection; a minute later it would not matter any more. */
  private void admitsOnlyWhileLifted(Limit limit, Refusal why) {
    Tenant acme = tenant(Map.of(limit, 1L));
    SessionId session = session(acme);
    assertThat(connect(acme, session)).isEmpty();
    assertThat(connect(acme, session)).contains(why);
    lift();
    for (int i = 0; i < 5; i++) {
      assertThat(connect(acme, session)).isEmpty();
    }
    assertThat(ports.sessions().count(acme.id())).isEqualTo(6);
    assertThat(ports.activity().of(acme.id()).refused()).isEqualTo(1);
    enforce();
    assertThat(connect(acme, session)).contains(why);
  }

  @Test
  void tenant_rate() {
    admitsOnlyWhileLifted(Limit.TENANT_PER_MINUTE, Refusal.TENANT_RATE);
  }

  @Test
  void session_rate() {
    admitsOnlyWhileLifted(Limit.SESSION_PER_MINUTE, Refusal.SESSION_RATE);
  }

  @Test
  void connections_of_a_session() {
    admitsOnlyWhileLifted(Limit.CONNECTIONS_PER_SESSION, Refusal.SESSION_CONNECTIONS);
  }

  @Test
  void session_that_cannot_be_written_is_refused() {
    Tenant acme = tenant(Map.of());
    SessionId session = session(acme);
    lift();
    ports.sessions().outage().begin("join");

    assertThat(connect(acme, session)).contains(Refusal.UNDECIDED);
  }

  @Test
  void connections_of_a_tenant() {
    admitsOnlyWhileLifted(Limit.TENANT_CONNECTIONS, Refusal.TENANT_CONNECTIONS);
  }

  @Test
  void no_token_is_claimed_while_a_process_knows() {
    Tenant acme = tenant(Map.of(Limit.TENANT_PER_MINUTE, 1L));
    SessionId session = session(acme);
    connect(acme, session);
    connect(acme, session);
    lift();
    connect(acme, session);
    long before = ports.queue().reserves();
    for (int i = 0; i < 20; i++) {
      connect(acme, session);
    }

    assertThat(ports.queue().reserves()).isEqualTo(before);
  }

  /** A new authorizer process decides on each handshake, and has not read the switch. */
  @Test
  void tickets_of_processes_that_do_not_know_are_registered_without_limits() {
    Tenant acme = tenant(Map.of(Limit.TENANT_CONNECTIONS, 2L));
    SessionId session = session(acme);
    lift();
    List<AdmissionDecision> decisions =
        Stream.generate(() -> ports.admission().decide(acme.id(), session)).limit(5).toList();

    assertThat(decisions)
        .map(
            decision ->
                ((AdmissionDecision.Ticketed) decision).ticket().bounds().tenantConnections())
        .containsOnly(2L);
    assertThat(decisions)
        .map(decision -> ((AdmissionDecision.Ticketed) decision).ticket())
        .map(ticket -> registration.register(ticket, "c" + ++connections))
        .allMatch(Registration.Registered.class::isInstance);
    assertThat(ports.sessions().count(acme.id())).isEqualTo(5);
    assertThat(ports.activity().of(acme.id()).refused()).isZero();
  }

  @Test
  void lease_that_ended_refuses_nobody() {
    Tenant acme = tenant(Map.of());
    SessionId session = session(acme);
    lift();
    AdmissionDecision decision = admission.decide(acme.id(), session);
    ports.clock().advance(Duration.ofSeconds(26));

    assertThat(registration.register(((AdmissionDecision.Ticketed) decision).ticket(), "c"))
        .isEqualTo(new Registration.Registered(false));
    assertThat(ports.activity().of(acme.id()).withoutToken()).isEqualTo(1);
  }

  @Test
  void queue_that_fails_refuses_nobody() {
    Tenant acme = tenant(Map.of());
    ports.refuseWhenUndecided(acme);
    SessionId session = session(acme);
    ports.queue().outage().begin();
    assertThat(connect(acme, session)).contains(Refusal.UNDECIDED);
    lift();

    assertThat(connect(acme, session)).isEmpty();
    assertThat(connect(acme, session)).isEmpty();
    assertThat(ports.sessions().count(acme.id())).isEqualTo(2);
  }

  @Test
  void strangers_and_suspended_tenants_stay_out() {
    Tenant acme = tenant(Map.of(Limit.TENANT_CONNECTIONS, 1L));
    SessionId session = session(acme);
    lift();
    connect(acme, session);
    connect(acme, session);

    assertThat(connect(acme, new SessionId("0".repeat(32)))).contains(Refusal.UNKNOWN);
    assertThat(admission.decide(new TenantId("nobody"), session))
        .isEqualTo(new AdmissionDecision.Refused(Refusal.UNKNOWN));
    ports
        .tenants()
        .replace(acme.changed(Tier.DEFAULTS.get(2), acme.overrides(), TenantStatus.SUSPENDED));
    assertThat(connect(acme, session)).contains(Refusal.SUSPENDED);
  }

  @Test
  void sessions_are_created_over_the_rate() {
    Tenant acme = tenant(Map.of(Limit.TENANT_PER_MINUTE, 1L));
    Enforcement enforcement = ports.enforcement();
    SessionLifecycle lifecycle = ports.lifecycle();
    while (lifecycle.open(acme, Optional.empty()) instanceof SessionLifecycle.Opened) {}
    assertThat(lifecycle.open(acme, Optional.empty(), enforcement))
        .isInstanceOf(SessionLifecycle.TenantTooFast.class);
    lift();

    for (int i = 0; i < 20; i++) {
      assertThat(lifecycle.open(acme, Optional.empty(), enforcement))
          .isInstanceOf(SessionLifecycle.Opened.class);
    }
  }
}
