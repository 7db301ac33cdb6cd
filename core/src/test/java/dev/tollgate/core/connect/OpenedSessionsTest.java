package dev.tollgate.core.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Correction;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Subject;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Handshakes at an attached API, whose sessions their connections open. */
final class OpenedSessionsTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final SecureRandom RANDOM = new SecureRandom();

  private final AdmissionFixture ports = new AdmissionFixture();
  private OpenedSessions shared = OpenedSessions.PER_CONNECTION;

  private Tenant onboard(Map<Limit, Long> overrides) {
    return ports.onboard("acme", "gold", overrides);
  }

  private OpenedConnections connections() {
    return new OpenedConnections(ports.sessions(), ports.sessions(), shared);
  }

  private AdmissionDecision decide(SessionId session) {
    return new Admission(
            new OpenedFacts(ports.facts(), ports.clock()),
            ports.claims(),
            ports.sessions(),
            ports.tally(),
            ports.enforcement(),
            Runnable::run,
            pause -> {},
            ports.clock())
        .decide(ACME, session);
  }

  private Registration registration() {
    return new Registration(
        connections(),
        ports.heldTokens(),
        ports.tally(),
        ports.enforcement(),
        Runnable::run,
        pause -> {},
        ports.clock());
  }

  private static Ticket ticket(AdmissionDecision decision) {
    return ((AdmissionDecision.Ticketed) decision).ticket();
  }

  private Ticket connect(SessionId session, String id) {
    Ticket ticket = ticket(decide(session));
    assertThat(registration().register(ticket, id)).isEqualTo(new Registration.Registered(true));
    return ticket;
  }

  private Optional<Session> row(SessionId session) {
    return ports.sessions().find(ACME, session);
  }

  private long tokens(Tenant tenant) {
    return ports.queue().level(AdmissionFixture.connects(tenant));
  }

  @Test
  void connection_opens_a_session_that_lasts_longer_than_itself_and_ends_with_it() {
    onboard(Map.of(Limit.SESSION_TTL, 60L, Limit.SESSION_LIFETIME, 90L));
    SessionId session = SessionId.random(RANDOM);

    connect(session, "c1");

    assertThat(row(session).orElseThrow().endsAt())
        .isEqualTo(AdmissionFixture.START.plus(Duration.ofMinutes(135)));
    new Disconnection(connections()).remove(ACME, session, "c1");
    assertThat(row(session)).isEmpty();
    assertThat(ports.sessions().count(ACME)).isZero();
  }

  @Test
  void tenant_is_live_before_its_first_connection_joins() {
    onboard(Map.of());
    connect(SessionId.random(RANDOM), "c1");
    assertThat(ports.sessions().list(Optional.empty(), 9)).containsExactly(ACME);
  }

  @Test
  void process_writes_that_a_tenant_is_live_once_in_twenty_seconds() {
    onboard(Map.of());
    OpenedConnections process = connections();
    assertThat(liveAfterJoin(process, 0)).contains(AdmissionFixture.START);
    assertThat(liveAfterJoin(process, 19)).contains(AdmissionFixture.START);
    assertThat(liveAfterJoin(process, 20)).contains(AdmissionFixture.START.plusSeconds(20));
  }

  @Test
  void connection_of_another_tenant_costs_a_tenant_no_write() {
    onboard(Map.of());
    Tenant beta = ports.onboard("beta", "gold", Map.of());
    OpenedConnections process = connections();
    liveAfterJoin(process, 0);
    process.join(
        beta.id(),
        SessionId.random(RANDOM),
        "other",
        9,
        Gcra.UNLIMITED,
        Optional.empty(),
        Optional.empty(),
        AdmissionFixture.START,
        AdmissionFixture.START);

    assertThat(liveAfterJoin(process, 1)).contains(AdmissionFixture.START);
  }

  @Test
  void counts_are_those_of_the_rows() {
    Tenant acme = onboard(Map.of());
    connections().countUp(acme.id(), "c1", 9, true, AdmissionFixture.START);
    connections().countWithoutToken(acme.id());
    assertThat(ports.activity().of(acme.id()).withoutToken()).isEqualTo(1);

    ConnectionCount read = connections().readCount(acme.id());
    assertThat(read.open()).isEqualTo(1);
    Correction two = new Correction(2, Map.of(0, 2L));
    assertThat(connections().correct(acme.id(), read, two)).isEqualTo(WriteResult.DONE);
    assertThat(connections().correct(acme.id(), read, two)).isEqualTo(WriteResult.CONFLICT);
    assertThat(ports.sessions().count(acme.id())).isEqualTo(3);

    connections().deleteCount(acme.id());
    assertThat(ports.sessions().count(acme.id())).isZero();

    connections().createCount(acme.id());
    connections().countWithoutToken(acme.id());
    assertThat(ports.activity().of(acme.id()).withoutToken()).isEqualTo(1);
  }

  @Test
  void tenant_exists_if_its_row_does() {
    onboard(Map.of());
    OpenedFacts facts = new OpenedFacts(ports.facts(), ports.clock());

    assertThat(facts.tenantExists(ACME)).isTrue();
    assertThat(facts.tenantExists(new TenantId("nobody"))).isFalse();
  }

  @Test
  void bucket_is_seen_without_its_line() {
    onboard(Map.of());
    SessionId session = SessionId.random(RANDOM);
    Bucket row = ports.facts().read(ACME, session).bucket().orElseThrow();
    OpenedFacts facts = new OpenedFacts(ports.facts(), ports.clock());

    Bucket seen = facts.read(ACME, session).bucket().orElseThrow();

    assertThat(row.spec().keepsLine()).isTrue();
    assertThat(seen.spec()).isEqualTo(row.spec().withLine(false));
    assertThat(seen.level()).isEqualTo(row.level());
  }

  private Optional<Instant> liveAfterJoin(OpenedConnections process, long second) {
    Instant now = AdmissionFixture.START.plusSeconds(second);
    process.join(
        ACME,
        SessionId.random(RANDOM),
        "c" + second,
        9,
        Gcra.UNLIMITED,
        Optional.empty(),
        now,
        now);
    return ports.sessions().nextArrival(ACME);
  }

  @Test
  void limits_of_sessions_apply_to_a_subject() {
    shared = OpenedSessions.PER_SUBJECT;
    onboard(Map.of(Limit.CONNECTIONS_PER_SESSION, 2L));
    SessionId ann = SessionId.of(Subject.of(ACME, "ann"));
    connect(ann, "c1");
    connect(ann, "c2");

    assertThat(decide(ann)).isEqualTo(new AdmissionDecision.Refused(Refusal.SESSION_CONNECTIONS));
    connect(SessionId.of(Subject.of(ACME, "bob")), "c3");

    new Disconnection(connections()).remove(ACME, ann, "c1");
    assertThat(row(ann).orElseThrow().connections()).containsExactly("c2");
    connect(ann, "c4");
  }

  @Test
  void subject_returns_after_its_session_has_ended() {
    shared = OpenedSessions.PER_SUBJECT;
    onboard(Map.of());
    SessionId ann = SessionId.of(Subject.of(ACME, "ann"));
    connect(ann, "c1");
    new Disconnection(connections()).remove(ACME, ann, "c1");
    ports.clock().set(AdmissionFixture.START.plus(Duration.ofMinutes(136)));

    connect(ann, "c2");

    assertThat(row(ann).orElseThrow().connections()).containsExactly("c2");
  }

  @Test
  void refused_handshake_takes_no_place_in_line_and_leaves_no_row() {
    Tenant acme = onboard(Map.of());
    while (tokens(acme) > 0) {
      connect(SessionId.random(RANDOM), "c" + tokens(acme));
    }
    SessionId session = SessionId.random(RANDOM);

    AdmissionDecision.Refused refused = (AdmissionDecision.Refused) decide(session);

    assertThat(refused.refusal()).isEqualTo(Refusal.TENANT_RATE);
    assertThat(refused.placeTaken()).isFalse();
    assertThat(row(session)).isEmpty();
    assertThat(ports.buckets().find(AdmissionFixture.connects(acme)).orElseThrow().line())
        .isEmpty();
  }

  @Test
  void undoing_removes_the_connection_lowers_the_counts_and_puts_a_token_back() {
    Tenant acme = onboard(Map.of());
    long full = tokens(acme);
    SessionId session = SessionId.random(RANDOM);
    Ticket ticket = connect(session, "c1");

    registration().undo(ticket, "c1", new Registration.Registered(true), Duration.ZERO);

    assertThat(row(session)).isEmpty();
    assertThat(ports.sessions().count(ACME)).isZero();
    assertThat(ports.activity().of(ACME).admitted()).isZero();
    assertThat(tokens(acme)).isEqualTo(full);
  }

  @Test
  void undoing_gives_a_subject_the_rest_of_its_use_back() {
    shared = OpenedSessions.PER_SUBJECT;
    onboard(Map.of(Limit.SESSION_PER_MINUTE, 6L));
    SessionId session = SessionId.random(RANDOM);
    Instant begun = ports.clock().instant();
    Ticket ticket = connect(session, "c1");

    registration().undo(ticket, "c1", new Registration.Registered(true), Duration.ofSeconds(4));
    assertThat(row(session).orElseThrow().arrival()).contains(begun.plusSeconds(4));

    connect(session, "c2");
    registration().undo(ticket, "c2", new Registration.Registered(true), Duration.ofSeconds(11));
    assertThat(row(session).orElseThrow().arrival()).contains(begun.plusSeconds(14));
  }

  @Test
  void undoing_lowers_no_count_of_a_connection_that_has_left_already() {
    onboard(Map.of());
    connect(SessionId.random(RANDOM), "other");
    SessionId session = SessionId.random(RANDOM);
    Ticket ticket = connect(session, "c1");
    new Disconnection(connections()).remove(ACME, session, "c1");

    registration().undo(ticket, "c1", new Registration.Registered(true), Duration.ZERO);

    assertThat(ports.sessions().count(ACME)).isEqualTo(1);
  }
}
