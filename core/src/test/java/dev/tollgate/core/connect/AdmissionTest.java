package dev.tollgate.core.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FreedPlaces;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AdmissionTest {
  private static final SessionId MADE_UP = new SessionId("0".repeat(32));

  /** The time of one token at acme's rate. */
  private static final Duration INTERVAL = Duration.ofSeconds(20);

  private final AdmissionFixture ports = new AdmissionFixture();
  private final Admission admission = ports.admission();
  private final Tenant acme = ports.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 3L));
  private final SessionId session = ports.open(acme);

  private AdmissionDecision decide() {
    return admission.decide(acme.id(), session);
  }

  private long available() {
    return ports.queue().available(AdmissionFixture.connects(acme));
  }

  private static Refusal refusal(AdmissionDecision decision) {
    return ((AdmissionDecision.Refused) decision).refusal();
  }

  private void replace(TenantStatus status, OnUnavailable onUnavailable) {
    Tier gold = Tier.DEFAULTS.get(2);
    Tier tier =
        new Tier(
            gold.name(),
            gold.isolation(),
            gold.limits(),
            gold.buckets(),
            gold.fillPolicy(),
            onUnavailable,
            true,
            Optional.empty(),
            1,
            1);
    ports.tenants().replace(acme.changed(tier, acme.overrides(), status));
  }

  @Test
  void admitted_connection_gets_a_ticket_with_a_token() {
    AdmissionDecision decision = decide();
    assertThat(decision).isInstanceOf(AdmissionDecision.Ticketed.class);
    Ticket ticket = ((AdmissionDecision.Ticketed) decision).ticket();
    assertThat(ticket.lease().orElseThrow().endsAt())
        .isEqualTo(AdmissionFixture.START.plusSeconds(30));
    assertThat(ticket.bounds().tenantConnections()).isEqualTo(1000);
    assertThat(available()).isEqualTo(2);
  }

  @Test
  void unknown_tenant_is_refused_without_a_request_to_its_bucket() {
    assertThat(refusal(admission.decide(new TenantId("nobody"), session)))
        .isEqualTo(Refusal.UNKNOWN);
    assertThat(ports.queue().reserves()).isZero();
  }

  @Test
  void unknown_session_is_refused_and_the_token_given_back() {
    assertThat(refusal(admission.decide(acme.id(), MADE_UP))).isEqualTo(Refusal.UNKNOWN);
    assertThat(available()).isEqualTo(3);
  }

  @Test
  void session_of_another_tenant_is_refused() {
    Tenant other = ports.onboard("other", "gold", Map.of());
    assertThat(refusal(admission.decide(other.id(), session))).isEqualTo(Refusal.UNKNOWN);
  }

  @Test
  void expired_session_is_refused_although_its_row_exists() {
    ports.clock().advance(Duration.ofHours(1));
    assertThat(ports.sessions().find(acme.id(), session)).isPresent();
    assertThat(refusal(decide())).isEqualTo(Refusal.UNKNOWN);
    assertThat(available()).isEqualTo(3);
  }

  @Test
  void suspended_tenant_is_refused_and_the_token_given_back() {
    replace(TenantStatus.SUSPENDED, OnUnavailable.ADMIT);
    assertThat(refusal(decide())).isEqualTo(Refusal.SUSPENDED);
    assertThat(available()).isEqualTo(3);
    assertThat(refused()).isEqualTo(1);
  }

  @Test
  void tenant_at_its_connection_limit_is_refused_and_the_token_given_back() {
    for (int i = 0; i < 1000; i++) {
      ports.sessions().countUp(acme.id(), 1000);
    }
    assertThat(decide()).isEqualTo(new AdmissionDecision.Refused(Refusal.TENANT_CONNECTIONS));
    assertThat(available()).isEqualTo(3);
  }

  @Test
  void session_at_its_connection_limit_is_refused_and_the_token_given_back() {
    join(10, "c");
    assertThat(decide()).isEqualTo(new AdmissionDecision.Refused(Refusal.SESSION_CONNECTIONS));
    assertThat(available()).isEqualTo(3);
  }

  @Test
  void session_above_its_rate_is_refused_until_retryAt() {
    join(30, "c");
    for (int i = 0; i < 30; i++) {
      ports.sessions().leave(acme.id(), session, "c" + i);
    }
    AdmissionDecision.Refused refused = (AdmissionDecision.Refused) decide();
    assertThat(refused.refusal()).isEqualTo(Refusal.SESSION_RATE);
    assertThat(available()).isEqualTo(3);
    ports.clock().set(refused.retryAt().orElseThrow());
    assertThat(decide()).isInstanceOf(AdmissionDecision.Ticketed.class);
  }

  @Test
  void empty_bucket_refuses_until_its_next_token_and_then_admits() {
    spendAll();
    AdmissionDecision.Refused refused = (AdmissionDecision.Refused) decide();
    assertThat(refused.refusal()).isEqualTo(Refusal.TENANT_RATE);
    Instant retryAt = refused.retryAt().orElseThrow();
    assertThat(retryAt).isEqualTo(AdmissionFixture.START.plusSeconds(21));
    ports.clock().set(retryAt);
    assertThat(decide()).isInstanceOf(AdmissionDecision.Ticketed.class);
  }

  /** The decision on the next handshake of a session that was refused and has taken a place. */
  private static AdmissionDecision withoutNewPlace(AdmissionDecision decision) {
    AdmissionDecision.Refused refused = (AdmissionDecision.Refused) decision;
    assertThat(refused.placeTaken()).isTrue();
    return new AdmissionDecision.Refused(refused.refusal(), refused.retryAt());
  }

  @Test
  void bucket_with_an_empty_hint_costs_no_request() {
    spendAll();
    AdmissionDecision first = withoutNewPlace(decide());
    long requestsBefore = ports.queue().reserves();
    ports.clock().advance(Duration.ofMillis(9_999));
    assertThat(decide()).isEqualTo(first);
    assertThat(ports.queue().reserves()).isEqualTo(requestsBefore);
    Admission otherProcess = ports.admission();
    assertThat(otherProcess.decide(acme.id(), session)).isEqualTo(first);
    assertThat(ports.queue().reserves()).isEqualTo(requestsBefore + 1);
    assertThat(otherProcess.decide(acme.id(), session)).isEqualTo(first);
    assertThat(ports.queue().reserves()).isEqualTo(requestsBefore + 1);
  }

  @Test
  void one_false_empty_receive_still_admits() {
    ports.queue().findNothingOnce();
    assertThat(decide()).isInstanceOf(AdmissionDecision.Ticketed.class);
    assertThat(ports.buckets().find(AdmissionFixture.connects(acme)).orElseThrow().emptyHint())
        .isEmpty();
  }

  @Test
  void fill_clears_the_empty_hint() {
    BucketId bucket = AdmissionFixture.connects(acme);
    spendAll();
    ports.requests().begin();
    decide();
    assertThat(ports.buckets().find(bucket).orElseThrow().emptyHint()).isPresent();
    ports.clock().advance(Duration.ofSeconds(21));
    ports.fill().fill(bucket);
    assertThat(ports.buckets().find(bucket).orElseThrow().emptyHint()).isEmpty();
    assertThat(decide()).isInstanceOf(AdmissionDecision.Ticketed.class);
  }

  private Optional<Instant> retryAt(Admission process, SessionId which) {
    return ((AdmissionDecision.Refused) process.decide(acme.id(), which)).retryAt();
  }

  @Test
  void refused_sessions_are_told_one_slot_each_and_admitted_then() {
    spendAll();
    List<SessionId> waiting = Stream.generate(() -> ports.open(acme)).limit(4).toList();
    List<Instant> slots =
        waiting.stream().map(each -> retryAt(admission, each).orElseThrow()).toList();
    for (int i = 1; i < slots.size(); i++) {
      assertThat(Duration.between(slots.get(i - 1), slots.get(i))).isEqualTo(INTERVAL);
    }
    // A new session takes the next slot, even from another process.
    assertThat(retryAt(ports.admission(), session)).contains(slots.get(3).plus(INTERVAL));
    for (int i = 0; i < slots.size(); i++) {
      assertThat(retryAt(ports.admission(), waiting.get(i))).contains(slots.get(i));
    }

    for (int i = 0; i < slots.size(); i++) {
      ports.passUntil(slots.get(i));
      SessionId last = waiting.get(slots.size() - 1);
      if (i < slots.size() - 1) {
        assertThat(retryAt(admission, last)).contains(slots.get(slots.size() - 1));
      }
      AdmissionDecision decision = admission.decide(acme.id(), waiting.get(i));
      assertThat(decision).isInstanceOf(AdmissionDecision.Ticketed.class);
      Ticket ticket = ((AdmissionDecision.Ticketed) decision).ticket();
      assertThat(ticket.place()).contains(new Place(line().orElseThrow().epoch(), i + 1L));
      ports
          .heldTokens()
          .settle(
              new ClaimResult.Granted(
                  AdmissionFixture.connects(acme), List.of(ticket.lease().orElseThrow())));
    }
  }

  @Test
  void refusal_of_a_session_with_a_place_writes_nothing() {
    spendAll();
    Optional<Instant> first = retryAt(admission, session);
    Bucket before = ports.buckets().find(AdmissionFixture.connects(acme)).orElseThrow();
    for (int i = 0; i < 1_000; i++) {
      assertThat(retryAt(admission, session)).isEqualTo(first);
    }
    assertThat(ports.buckets().find(AdmissionFixture.connects(acme))).contains(before);
  }

  @Test
  void session_lasts_until_its_slot() {
    spendAll();
    SessionId brief = ports.open(acme);
    ports.sessions().moveEnd(acme.id(), brief, ports.clock().instant().plusSeconds(3));

    Instant slot = retryAt(admission, brief).orElseThrow();

    assertThat(ports.sessions().find(acme.id(), brief).orElseThrow().endsAt())
        .isAfter(slot.plusSeconds(10));
  }

  @Test
  void session_is_written_when_it_expects_its_place_and_when_it_takes_it() {
    spendAll();
    SessionId brief = ports.open(acme);
    ports.sessions().moveEnd(acme.id(), brief, ports.clock().instant().plusSeconds(3));
    Faults faults = new Faults();
    Admission counted =
        new Admission(
            ports.facts(),
            ports.claims(),
            faults.around(Sessions.class, ports.sessions()),
            ports.tally(),
            ports.enforcement(),
            Runnable::run,
            pause -> {},
            ports.clock());

    counted.decide(acme.id(), brief);

    assertThat(faults.calls()).containsExactly("Sessions.keepPlace", "Sessions.keepPlace");
  }

  @Test
  void session_whose_place_has_passed_uses_no_place() {
    spendAll();
    Instant slot = retryAt(admission, session).orElseThrow();
    ports.passUntil(slot.plusSeconds(60));

    AdmissionDecision decision = decide();

    assertThat(((AdmissionDecision.Ticketed) decision).ticket().place()).isEmpty();
    assertThat(((AdmissionDecision.Ticketed) decision).slot()).isEmpty();
  }

  @Test
  void session_that_must_end_before_its_slot_takes_no_place() {
    Tenant brief =
        ports.onboard(
            "brief",
            "gold",
            Map.of(
                Limit.TENANT_PER_MINUTE, 3L, Limit.SESSION_TTL, 70L, Limit.SESSION_LIFETIME, 70L));
    SessionId old =
        ((SessionLifecycle.Opened) ports.lifecycle().open(brief, Optional.empty())).session().id();
    ports.passUntil(AdmissionFixture.START.plusSeconds(60));
    BucketId connects = AdmissionFixture.connects(brief);
    ports.fill().fill(connects);
    ports
        .queue()
        .settle(connects, ports.queue().reserve(connects, 3, Duration.ofSeconds(30), Search.LONG));

    AdmissionDecision.Refused refused =
        (AdmissionDecision.Refused) admission.decide(brief.id(), old);

    assertThat(refused.placeTaken()).isFalse();
    assertThat(ports.buckets().find(connects).orElseThrow().line()).isEmpty();
  }

  @Test
  void session_whose_lifetime_ends_after_its_slot_takes_a_place() {
    Tenant lasting =
        ports.onboard(
            "lasting", "gold", Map.of(Limit.TENANT_PER_MINUTE, 3L, Limit.SESSION_LIFETIME, 3_600L));
    SessionId opened =
        ((SessionLifecycle.Opened) ports.lifecycle().open(lasting, Optional.empty()))
            .session()
            .id();
    BucketId connects = AdmissionFixture.connects(lasting);
    ports
        .queue()
        .settle(connects, ports.queue().reserve(connects, 3, Duration.ofSeconds(30), Search.LONG));

    AdmissionDecision.Refused refused =
        (AdmissionDecision.Refused) admission.decide(lasting.id(), opened);

    assertThat(refused.placeTaken()).isTrue();
  }

  @Test
  void handshake_that_read_its_session_before_another_one_took_a_place_takes_none() {
    spendAll();
    retryAt(admission, ports.open(acme));
    AdmissionFacts before = ports.facts().read(acme.id(), session);
    retryAt(admission, session);
    AdmissionFactsReader late =
        new AdmissionFactsReader() {
          @Override
          public boolean tenantExists(TenantId tenant) {
            return true;
          }

          @Override
          public AdmissionFacts read(TenantId tenant, SessionId of) {
            return before;
          }
        };
    Admission concurrent =
        new Admission(
            late,
            ports.claims(),
            ports.sessions(),
            ports.tally(),
            ports.enforcement(),
            Runnable::run,
            pause -> {},
            ports.clock());

    AdmissionDecision.Refused refused =
        (AdmissionDecision.Refused) concurrent.decide(acme.id(), session);

    assertThat(refused.placeTaken()).isFalse();
    assertThat(line().orElseThrow().issued()).isEqualTo(2);
    assertThat(line().orElseThrow().freed()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"UNKNOWN,403", "SUSPENDED,403", "TENANT_RATE,429", "UNDECIDED,503"})
  void refusal_has_a_status_and_a_reason(Refusal why, int status) {
    assertThat(why.status()).isEqualTo(status);
    assertThat(why.detail()).isNotBlank();
  }

  private Admission admission(Claims claims) {
    return new Admission(
        ports.facts(),
        claims,
        ports.sessions(),
        ports.tally(),
        ports.enforcement(),
        Runnable::run,
        pause -> {},
        ports.clock());
  }

  /** A deletion between the write that keeps a place and the one that takes it. */
  @Test
  void place_of_a_session_that_ends_during_its_handshake_goes_to_the_next_one() {
    spendAll();
    retryAt(admission, ports.open(acme));
    Faults faults = new Faults();
    Claims claims = ports.claims(faults.around(Buckets.class, ports.buckets()));
    faults.plan(
        1,
        Faults.concurrently(
            () ->
                ports
                    .sessions()
                    .moveEnd(acme.id(), session, ports.clock().instant().minusSeconds(3600))));

    Optional<Instant> slot = retryAt(admission(claims), session);

    assertThat(faults.calls()).startsWith("Buckets.takePlace");
    assertThat(retryAt(admission, ports.open(acme))).isEqualTo(slot);
  }

  /** Another session has taken the place that this one expected. */
  @Test
  void session_that_ends_before_it_took_a_place_frees_none() {
    spendAll();
    retryAt(admission, ports.open(acme));
    BucketId connects = AdmissionFixture.connects(acme);
    SessionId other = ports.open(acme);
    FreedPlaces places = new FreedPlaces(ports.buckets(), ports.clock());
    Faults faults = new Faults();
    Claims claims = ports.claims(faults.around(Buckets.class, ports.buckets()));
    AtomicReference<Optional<Instant>> slot = new AtomicReference<>();
    faults.plan(
        1,
        Faults.concurrently(
            () -> {
              slot.set(retryAt(admission, other));
              ports.lifecycle().end(acme.id(), session, place -> places.free(connects, place));
            }));

    retryAt(admission(claims), session);

    assertThat(faults.calls()).startsWith("Buckets.takePlace");
    Place own = ports.sessions().find(acme.id(), other).flatMap(Session::place).orElseThrow();
    assertThat(line().orElseThrow().freed())
        .as("the place that the ended session took")
        .containsExactly(new Place(own.epoch(), own.number() + 1));
    assertThat(retryAt(admission, ports.open(acme)).orElseThrow())
        .isAfter(slot.get().orElseThrow());
  }

  /** The slots are two seconds apart, so the first place is still due at the second slot. */
  @Test
  void place_that_admits_its_session_at_once_is_used_up_by_its_connection() {
    Tenant often = refusedTenant();
    BucketId connects = AdmissionFixture.connects(often);
    Line line = ports.buckets().find(connects).flatMap(Bucket::line).orElseThrow();
    ports.passUntil(line.slot(2));
    SessionId late = ports.open(often);

    AdmissionDecision decision = admission.decide(often.id(), late);

    assertThat(decision).isInstanceOf(AdmissionDecision.Ticketed.class);
    assertThat(ports.sessions().find(often.id(), late).flatMap(Session::place))
        .contains(new Place(line.epoch(), 2));
    assertThat(((AdmissionDecision.Ticketed) decision).ticket().place())
        .contains(new Place(line.epoch(), 2));
  }

  /** The bucket's row still has the line of the time when the rate was enforced. */
  @Test
  void session_of_an_observed_rate_uses_a_slot_that_has_come_and_waits_for_none() {
    Tenant often = refusedTenant();
    BucketId connects = AdmissionFixture.connects(often);
    Line line = ports.buckets().find(connects).flatMap(Bucket::line).orElseThrow();
    Overrides observed =
        new Overrides(
            often.overrides().limits(),
            Map.of(Limit.TENANT_PER_MINUTE, LimitMode.OBSERVE),
            Optional.empty());
    ports.tenants().replace(often.changed(Tier.DEFAULTS.get(2), observed, often.status()));

    assertThat(ticket(often).wouldRefuse()).contains(Refusal.TENANT_RATE);
    assertThat(ports.buckets().find(connects).flatMap(Bucket::line)).contains(line);
    ports.passUntil(line.slot(2));
    Ticket atSlot = ticket(often);

    assertThat(atSlot.wouldRefuse()).isEmpty();
    assertThat(atSlot.lease()).isPresent();
  }

  /** A tenant without tokens, one of whose sessions is in line. Its slots are two seconds apart. */
  private Tenant refusedTenant() {
    Tenant tenant = ports.onboard("often", "gold", Map.of(Limit.TENANT_PER_MINUTE, 30L));
    BucketId connects = AdmissionFixture.connects(tenant);
    for (int i = 0; i < 3; i++) {
      ports
          .queue()
          .settle(
              connects, ports.queue().reserve(connects, 10, Duration.ofSeconds(30), Search.LONG));
    }
    admission.decide(tenant.id(), ports.open(tenant));
    return tenant;
  }

  private Ticket ticket(Tenant tenant) {
    AdmissionDecision decision = admission.decide(tenant.id(), ports.open(tenant));
    return ((AdmissionDecision.Ticketed) decision).ticket();
  }

  @Test
  void session_lasts_until_a_slot_that_has_moved() {
    spendAll();
    retryAt(admission, ports.open(acme));
    ports.sessions().moveEnd(acme.id(), session, ports.clock().instant().plusSeconds(3));
    Instant told = retryAt(admission, session).orElseThrow();
    Bucket read = ports.buckets().find(AdmissionFixture.connects(acme)).orElseThrow();
    Place first = new Place(read.line().orElseThrow().epoch(), 1);
    ports
        .buckets()
        .changeLine(
            read.id(), read.line(), read.lineMoved(first, told.plusSeconds(50)).orElseThrow());

    Instant moved = retryAt(admission, session).orElseThrow();

    assertThat(moved).isEqualTo(told.plusSeconds(70));
    assertThat(ports.sessions().find(acme.id(), session).orElseThrow().endsAt())
        .isAfter(moved.plusSeconds(10));
  }

  /** A program that claims tokens may write any line. */
  @Test
  void line_whose_slots_are_decades_ahead_counts_as_absent_and_is_replaced() {
    Instant far = Instant.parse("2100-01-01T00:00:00Z");
    Instant now = ports.clock().instant();
    Rate slow = new Rate(1);
    BucketId id = AdmissionFixture.connects(acme);
    Rate rate = ports.buckets().find(id).orElseThrow().spec().rate();
    for (Line line :
        List.of(
            new Line(0, 1, 1, far, now, rate, rate, 0, now, Set.of()),
            new Line(0, 1, 1, now, far, rate, rate, 0, now, Set.of()),
            new Line(0, 1, 2, far, now, rate, slow, 0, now, Set.of()),
            new Line(0, 100, 1, now, now, slow, rate, 0, far, Set.of()))) {
      AdmissionTest test = new AdmissionTest();
      test.ports.buckets().changeLine(id, Optional.empty(), line);
      Instant end = test.ports.sessions().find(acme.id(), test.session).orElseThrow().endsAt();

      assertThat(test.decide()).as("%s", line).isInstanceOf(AdmissionDecision.Ticketed.class);

      test.spendAll();
      assertThat(test.retryAt(test.admission, test.session).orElseThrow())
          .isBefore(now.plusSeconds(120));
      assertThat(test.ports.sessions().find(acme.id(), test.session).orElseThrow().endsAt())
          .isEqualTo(end);
      Line replaced = test.ports.buckets().find(id).orElseThrow().line().orElseThrow();
      assertThat(replaced.slot(replaced.issued())).isBefore(now.plusSeconds(120));
    }
  }

  @Test
  void sessions_that_open_a_line_together_last_until_their_slots() {
    spendAll();
    List<SessionId> brief = Stream.generate(() -> ports.open(acme)).limit(30).toList();
    brief.forEach(
        each -> ports.sessions().moveEnd(acme.id(), each, ports.clock().instant().plusSeconds(3)));

    List<Optional<Instant>> slots =
        Race.of(brief.size(), i -> retryAt(ports.admission(), brief.get(i)));

    assertThat(line().orElseThrow().issued()).isEqualTo(brief.size());
    for (int i = 0; i < brief.size(); i++) {
      assertThat(ports.sessions().find(acme.id(), brief.get(i)).orElseThrow().endsAt())
          .isAfter(slots.get(i).orElseThrow().plusSeconds(10));
    }
  }

  @Test
  void session_takes_its_place_later_if_none_can_be_taken_now() {
    spendAll();
    ports.buckets().outage().begin("changeLine");
    assertThat(retryAt(admission, session).orElseThrow()).isAfter(ports.clock().instant());
    assertThat(line()).isEmpty();
    ports.buckets().outage().end();

    assertThat(retryAt(admission, session)).isPresent();

    assertThat(line().orElseThrow().issued()).isEqualTo(1);
  }

  @Test
  void concurrent_handshakes_of_one_session_take_one_place() {
    spendAll();
    Optional<Instant> other = retryAt(admission, ports.open(acme));

    Race.of(40, i -> ports.admission().decide(acme.id(), session));

    assertThat(other).isPresent();
    assertThat(line().orElseThrow().issued()).isEqualTo(2);
    assertThat(retryAt(admission, session)).contains(other.get().plus(INTERVAL));
  }

  @Test
  void while_the_line_is_switched_off_it_is_ignored_and_its_old_places_are_void_afterwards() {
    spendAll();
    Instant next = retryAt(admission, session).orElseThrow();
    SessionId second = ports.open(acme);
    assertThat(retryAt(admission, second)).contains(next.plus(INTERVAL));
    Bucket waiting = ports.buckets().find(AdmissionFixture.connects(acme)).orElseThrow();

    switchLine(false);
    assertThat(retryAt(ports.admission(), second)).contains(next);
    assertThat(retryAt(ports.admission(), ports.open(acme))).contains(next);
    assertThat(line()).as("nobody takes a place").isEqualTo(waiting.line());
    ports.passUntil(next);
    assertThat(admission.decide(acme.id(), second)).isInstanceOf(AdmissionDecision.Ticketed.class);

    switchLine(true);
    Instant now = ports.clock().instant();
    long cleared = waiting.line().orElseThrow().epoch() + 1;
    assertThat(line().orElseThrow().epoch()).isEqualTo(cleared);
    assertThat(retryAt(admission, session)).contains(next.plus(INTERVAL));
    assertThat(line().orElseThrow().last()).isEqualTo(new Place(cleared + 1, 1));
    assertThat(now).isEqualTo(next);
  }

  /** As the control plane does it: a line that is switched on begins without places. */
  private void switchLine(boolean on) {
    BucketId id = AdmissionFixture.connects(acme);
    Bucket read = ports.buckets().find(id).orElseThrow();
    if (on) {
      ports.buckets().clearLine(id, read.line().orElseThrow(), ports.clock().instant());
    }
    ports.retune(id, read.spec().withLine(on));
  }

  private Optional<Line> line() {
    return ports.buckets().find(AdmissionFixture.connects(acme)).orElseThrow().line();
  }

  @Test
  void failing_bucket_admits_or_refuses_as_the_tier_states() {
    ports.queue().outage().begin();
    assertThat(((AdmissionDecision.Ticketed) decide()).ticket().lease())
        .isEqualTo(Optional.empty());
    replace(TenantStatus.ACTIVE, OnUnavailable.REFUSE);
    assertThat(refusal(decide())).isEqualTo(Refusal.UNDECIDED);
  }

  @Test
  void nobody_is_admitted_without_a_token_for_want_of_credentials() {
    replace(TenantStatus.ACTIVE, OnUnavailable.ADMIT);
    ports.queue().outage().beginWithoutCredentials();
    assertThat(refusal(decide())).isEqualTo(Refusal.UNDECIDED);
  }

  @Test
  void read_without_credentials_is_undecided_and_gives_the_token_back() {
    ports.facts().outage().beginWithoutCredentials();
    assertThat(refusal(decide())).isEqualTo(Refusal.UNDECIDED);
    assertThat(available()).isEqualTo(3);
  }

  @Test
  void failed_read_gives_the_token_back() {
    ports.facts().outage().begin("read");
    assertThatThrownBy(this::decide).isInstanceOf(Unavailable.class);
    assertThat(available()).isEqualTo(3);
  }

  private long refused() {
    return ports.activity().of(acme.id()).refused();
  }

  @Test
  void every_refusal_of_a_tenants_session_is_counted() {
    join(10, "c");
    assertThat(refusal(decide())).isEqualTo(Refusal.SESSION_CONNECTIONS);
    assertThat(refused()).isEqualTo(1);
    for (int i = 0; i < 10; i++) {
      ports.sessions().leave(acme.id(), session, "c" + i);
    }
    ports.clock().advance(RefusalTally.APART);
    spendAll();
    assertThat(refusal(decide())).isEqualTo(Refusal.TENANT_RATE);
    assertThat(refused()).isEqualTo(2);
    assertThat(refusal(decide())).isEqualTo(Refusal.TENANT_RATE);
    ports.clock().advance(RefusalTally.APART);
    assertThat(refusal(decide())).isEqualTo(Refusal.TENANT_RATE);
    assertThat(refused()).isEqualTo(4);
    ports.clock().advance(RefusalTally.APART);
    replace(TenantStatus.ACTIVE, OnUnavailable.REFUSE);
    ports.clock().advance(Duration.ofMinutes(1));
    ports.queue().outage().begin();
    assertThat(refusal(decide())).isEqualTo(Refusal.UNDECIDED);
    assertThat(refused()).isEqualTo(5);
  }

  @Test
  void unknown_sessions_are_not_counted_as_refusals() {
    for (int i = 0; i < 10; i++) {
      assertThat(refusal(admission.decide(acme.id(), MADE_UP))).isEqualTo(Refusal.UNKNOWN);
      ports.clock().advance(RefusalTally.APART);
    }
    ports.clock().advance(Duration.ofHours(1));
    assertThat(refusal(decide())).isEqualTo(Refusal.UNKNOWN);
    assertThat(refused()).isZero();
  }

  @Test
  void ticket_is_not_counted_as_a_refusal() {
    decide();
    assertThat(refused()).isZero();
  }

  @Test
  void refusals_of_unknown_and_removed_tenants_are_not_counted() {
    ports.sessions().createCount(new TenantId("nobody"));
    admission.decide(new TenantId("nobody"), session);
    assertThat(ports.activity().of(new TenantId("nobody")).refused()).isZero();
    AdmissionFactsReader remembering =
        new AdmissionFactsReader() {
          @Override
          public boolean tenantExists(TenantId tenant) {
            return true;
          }

          @Override
          public AdmissionFacts read(TenantId tenant, SessionId of) {
            return ports.facts().read(tenant, of);
          }
        };
    Admission late =
        new Admission(
            remembering,
            ports.claims(),
            ports.sessions(),
            ports.tally(),
            ports.enforcement(),
            Runnable::run,
            pause -> {},
            ports.clock());
    assertThat(refusal(late.decide(new TenantId("nobody"), session))).isEqualTo(Refusal.UNKNOWN);
    assertThat(ports.activity().of(new TenantId("nobody")).refused()).isZero();
  }

  @Test
  void refusal_is_the_same_if_counting_fails() {
    ports.activity().outage().begin();
    spendAll();
    AdmissionDecision first = withoutNewPlace(decide());
    assertThat(refusal(first)).isEqualTo(Refusal.TENANT_RATE);
    assertThat(decide()).isEqualTo(first);
    assertThat(ports.buckets().find(AdmissionFixture.connects(acme)).orElseThrow().emptyHint())
        .isPresent();
  }

  private void spendAll() {
    BucketId bucket = AdmissionFixture.connects(acme);
    ports
        .queue()
        .settle(bucket, ports.queue().reserve(bucket, 3, Duration.ofSeconds(30), Search.LONG));
  }

  private void join(int sockets, String prefix) {
    for (int i = 0; i < sockets; i++) {
      ports
          .sessions()
          .join(
              acme.id(),
              session,
              prefix + i,
              100,
              Gcra.perMinute(acme.limits().get(Limit.SESSION_PER_MINUTE)),
              Optional.empty(),
              ports.clock().instant(),
              ports.clock().instant());
    }
  }
}
