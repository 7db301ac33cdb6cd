package dev.tollgate.core.testing.contract;

import static dev.tollgate.core.testing.Samples.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.session.Caller;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Lifetime;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.SessionPages;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sessions.Consistency;
import dev.tollgate.core.session.Subject;
import dev.tollgate.core.session.SubjectSessions;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.memory.InMemorySessions;
import dev.tollgate.core.testing.memory.RecordingSockets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** The contract of {@link Sessions}. */
public abstract class SessionsContract {
  private static final Instant SECOND = NOW.truncatedTo(ChronoUnit.SECONDS);
  private static final Lifetime LIFETIME =
      new Lifetime(Optional.of(SECOND), Optional.of(SECOND.plusSeconds(900)));
  private static final Gcra OFTEN = Gcra.perMinute(600);
  private static final Duration LIFE = Duration.ofMinutes(5);

  /** The sessions under test; they may contain rows of other tests. */
  protected abstract Sessions sessions();

  @Test
  void find_of_an_unknown_session_is_empty() {
    assertThat(sessions().find(Samples.tenantId(), Samples.sessionId())).isEmpty();
  }

  @Test
  void created_session_is_read_unchanged() {
    Session session =
        new Session(
            Samples.tenantId(),
            Samples.sessionId(),
            Set.of("L0SM9cOFvHcCIhw=", "b"),
            Instant.ofEpochSecond(NOW.getEpochSecond() + 300),
            Optional.of(NOW.plusNanos(1)));

    sessions().create(session);

    assertThat(sessions().find(session.tenant(), session.id())).contains(session);
  }

  @Test
  void session_ends_at_a_whole_second() {
    Session session =
        new Session(Samples.tenantId(), Samples.sessionId(), Set.of(), NOW, Optional.empty());

    sessions().create(session);

    assertThat(sessions().find(session.tenant(), session.id()).orElseThrow().endsAt())
        .isEqualTo(Instant.ofEpochSecond(NOW.getEpochSecond()));
  }

  @Test
  void expired_session_is_found() {
    Session expired = Samples.session(Samples.tenantId(), Duration.ofDays(-1));
    sessions().create(expired);

    assertThat(sessions().find(expired.tenant(), expired.id())).contains(expired);
    assertThat(list(expired.tenant())).containsExactly(expired);
  }

  @Test
  void session_is_found_only_for_its_tenant() {
    Session session = Samples.session(Samples.tenantId(), LIFE);
    sessions().create(session);

    assertThat(sessions().find(Samples.tenantId(), session.id())).isEmpty();
    assertThat(sessions().moveEnd(Samples.tenantId(), session.id(), NOW)).isEmpty();
    assertThat(sessions().find(session.tenant(), session.id())).isPresent();
  }

  private Session created(Set<String> connections) {
    Session session =
        new Session(
            Samples.tenantId(),
            Samples.sessionId(),
            connections,
            Instant.ofEpochSecond(NOW.getEpochSecond() + 300),
            Optional.of(NOW));
    sessions().create(session);
    return session;
  }

  @Test
  void place_is_kept_and_the_session_lasts_until_its_slot() {
    Session session = created(Set.of("a"));
    Place place = new Place(1, 2);
    Instant slot = session.endsAt().plusSeconds(90);

    assertThat(sessions().keepPlace(session, place, false, slot, NOW)).isEqualTo(WriteResult.DONE);

    Session kept = endedAt(session, slot).with(Optional.of(place), false);
    assertThat(sessions().find(session.tenant(), session.id())).contains(kept);
    assertThat(sessions().keepPlace(kept, new Place(1, 9), true, NOW, NOW))
        .isEqualTo(WriteResult.DONE);
    assertThat(sessions().find(session.tenant(), session.id()))
        .contains(kept.with(Optional.of(new Place(1, 9)), true));
  }

  @Test
  void place_is_not_kept_if_the_session_took_another_or_has_ended() {
    Session session = created(Set.of());
    Place place = new Place(0, 1);
    sessions().keepPlace(session, place, true, NOW, NOW);

    assertThat(sessions().keepPlace(session, new Place(0, 2), true, NOW, NOW))
        .isEqualTo(WriteResult.CONFLICT);
    assertThat(
            sessions()
                .keepPlace(
                    session.with(Optional.of(place), true),
                    new Place(0, 2),
                    true,
                    NOW,
                    session.endsAt()))
        .isEqualTo(WriteResult.CONFLICT);
    assertThat(
            sessions().keepPlace(Samples.session(Samples.tenantId(), LIFE), place, true, NOW, NOW))
        .isEqualTo(WriteResult.CONFLICT);
    assertThat(sessions().find(session.tenant(), session.id()))
        .contains(session.with(Optional.of(place), true));
  }

  @Test
  void place_is_kept_although_the_session_was_renewed_since_it_was_read() {
    Session session = created(Set.of());
    Instant renewed = session.endsAt().plusSeconds(600);
    sessions().renew(session.tenant(), session.id(), renewed, Lifetime.UNKNOWN, NOW);

    assertThat(
            sessions()
                .keepPlace(session, new Place(1, 2), true, session.endsAt().plusSeconds(9), NOW))
        .isEqualTo(WriteResult.DONE);

    Session kept = sessions().find(session.tenant(), session.id()).orElseThrow();
    assertThat(kept.endsAt()).isEqualTo(renewed);
    assertThat(kept.place()).contains(new Place(1, 2));
  }

  private Session endedAt(Session session, Instant end) {
    return new Session(
        session.tenant(), session.id(), session.connections(), end, session.arrival());
  }

  @Test
  void session_that_ends_leaves_its_place_once() {
    Session session = created(Set.of()).with(Optional.of(new Place(7, 8)), true);
    sessions().keepPlace(session.with(Optional.empty(), false), new Place(7, 8), true, NOW, NOW);

    assertThat(Race.of(8, i -> sessions().moveEnd(session.tenant(), session.id(), NOW)))
        .filteredOn(ended -> ended.flatMap(Session::place).isPresent())
        .hasSize(1);
    assertThat(sessions().find(session.tenant(), session.id()).orElseThrow().place()).isEmpty();
  }

  @Test
  void move_end_sets_the_end_and_returns_the_session() {
    Session session = created(Set.of("a", "b"));
    Session ended = endedAt(session, Instant.ofEpochSecond(NOW.getEpochSecond() - 3600));

    for (int i = 0; i < 2; i++) {
      assertThat(sessions().moveEnd(session.tenant(), session.id(), NOW.minusSeconds(3600)))
          .contains(ended);
      assertThat(sessions().find(session.tenant(), session.id())).contains(ended);
    }
  }

  @Test
  void move_end_of_a_missing_session_creates_none() {
    Session never = Samples.session(Samples.tenantId(), LIFE);

    assertThat(sessions().moveEnd(never.tenant(), never.id(), NOW)).isEmpty();

    assertThat(sessions().find(never.tenant(), never.id())).isEmpty();
  }

  @RepeatedTest(20)
  void one_of_many_concurrent_takes_gets_the_connections() {
    Session session = created(Set.of("a", "b"));

    List<Set<String>> answers =
        Race.of(6, i -> sessions().takeConnections(session.tenant(), session.id()));

    assertThat(answers.stream().filter(taken -> !taken.isEmpty()))
        .containsExactly(Set.of("a", "b"));
    assertThat(sessions().find(session.tenant(), session.id()).orElseThrow())
        .isEqualTo(
            new Session(
                session.tenant(), session.id(), Set.of(), session.endsAt(), session.arrival()));
  }

  @Test
  void take_from_a_missing_or_empty_session_gets_nothing_and_creates_none() {
    Session never = Samples.session(Samples.tenantId(), LIFE);
    Session empty = created(Set.of());

    assertThat(sessions().takeConnections(never.tenant(), never.id())).isEmpty();
    assertThat(sessions().takeConnections(empty.tenant(), empty.id())).isEmpty();

    assertThat(sessions().find(never.tenant(), never.id())).isEmpty();
    assertThat(sessions().find(empty.tenant(), empty.id())).contains(empty);
  }

  @Test
  void remove_of_a_session_with_connections_changes_nothing() {
    Session session = created(Set.of("a"));

    assertThat(sessions().remove(session.tenant(), session.id())).isEqualTo(WriteResult.CONFLICT);

    assertThat(sessions().find(session.tenant(), session.id())).contains(session);
  }

  @Test
  void remove_of_an_empty_session_is_idempotent() {
    Session session = created(Set.of());

    List<WriteResult> answers = Race.of(4, i -> sessions().remove(session.tenant(), session.id()));

    assertThat(answers).containsOnly(WriteResult.DONE);
    assertThat(sessions().find(session.tenant(), session.id())).isEmpty();
  }

  private List<Session> list(TenantId tenant) {
    List<Session> all = new ArrayList<>();
    SessionPages.forEach(sessions(), tenant, Consistency.CONSISTENT, all::addAll);
    return all;
  }

  @Test
  void pages_contain_exactly_the_tenants_sessions_by_id() {
    TenantId tenant = Samples.tenantId();
    List<Session> all =
        IntStream.range(0, 12).mapToObj(i -> Samples.session(tenant, LIFE)).toList();
    all.forEach(sessions()::create);
    sessions().create(Samples.session(Samples.tenantId(), LIFE));

    List<Session> byId =
        all.stream().sorted(Comparator.comparing(session -> session.id().value())).toList();
    assertThat(list(tenant)).isEqualTo(byId);
    assertThat(list(Samples.tenantId())).isEmpty();
    for (Consistency consistency : Consistency.values()) {
      List<Session> found = new ArrayList<>();
      Optional<String> cursor = Optional.empty();
      do {
        Page<Session> page = sessions().page(tenant, cursor, 5, consistency);
        assertThat(page.items()).hasSizeLessThanOrEqualTo(5);
        found.addAll(page.items());
        cursor = page.next();
      } while (cursor.isPresent());
      assertThat(found).as(consistency.toString()).isEqualTo(byId);
    }
  }

  @Test
  void session_that_has_ended_is_moved_and_another_is_not() {
    Session session = Samples.session(Samples.tenantId(), LIFE);
    sessions().create(session);
    Instant past = NOW.minusSeconds(3_600);
    Instant end = session.endsAt();

    assertThat(sessions().moveEndIfEnded(session.tenant(), session.id(), past, end.minusNanos(1)))
        .isEmpty();
    assertThat(sessions().find(session.tenant(), session.id())).contains(session);
    assertThat(
            sessions()
                .moveEndIfEnded(session.tenant(), session.id(), past, end)
                .orElseThrow()
                .endsAt())
        .isEqualTo(past.truncatedTo(ChronoUnit.SECONDS));
    assertThat(sessions().moveEndIfEnded(Samples.tenantId(), session.id(), past, end)).isEmpty();
  }

  @Test
  void acquire_creation_enforces_the_rate_to_the_nanosecond() {
    TenantId tenant = Samples.tenantId();
    Gcra rate = Gcra.perMinute(7);
    Random random = new Random(20_260_301);
    Optional<Instant> arrival = Optional.empty();
    Instant now = NOW;
    for (int i = 0; i < 60; i++) {
      Optional<Instant> expected =
          rate.conforms(arrival, now)
              ? Optional.empty()
              : Optional.of(rate.conformsAt(arrival, now));

      assertThat(sessions().acquireCreation(tenant, rate, now)).isEqualTo(expected);

      if (expected.isEmpty()) {
        arrival = Optional.of(rate.after(arrival, now));
      }
      now = next(expected, now, random);
    }
  }

  /** Sometimes exactly when a creation is allowed, or a nanosecond before. */
  private static Instant next(Optional<Instant> retryAt, Instant now, Random random) {
    Instant some = now.plusNanos(random.nextLong(8_000_000_000L));
    return switch (random.nextInt(4)) {
      case 0 -> retryAt.orElse(some);
      case 1 -> retryAt.map(at -> at.minusNanos(1)).orElse(now);
      default -> some;
    };
  }

  @Test
  void concurrent_creations_are_acquired_as_often_as_the_rate_allows() {
    TenantId tenant = Samples.tenantId();

    List<Optional<Instant>> answers =
        Race.of(12, i -> sessions().acquireCreation(tenant, Gcra.perMinute(5), NOW));

    assertThat(answers.stream().filter(Optional::isEmpty)).hasSize(5);
    assertThat(answers.stream().flatMap(Optional::stream)).containsOnly(NOW.plusSeconds(12));
  }

  @Test
  void creations_are_counted_per_tenant() {
    TenantId tenant = Samples.tenantId();
    assertThat(sessions().acquireCreation(tenant, Gcra.perMinute(1), NOW)).isEmpty();

    assertThat(sessions().acquireCreation(tenant, Gcra.perMinute(1), NOW)).isPresent();
    assertThat(sessions().acquireCreation(Samples.tenantId(), Gcra.perMinute(1), NOW)).isEmpty();
  }

  @Test
  void deleted_creation_rate_starts_anew_and_deletion_is_idempotent() {
    TenantId tenant = Samples.tenantId();
    assertThat(sessions().acquireCreation(tenant, Gcra.perMinute(1), NOW)).isEmpty();
    sessions().deleteCreationRate(tenant);
    sessions().deleteCreationRate(tenant);
    assertThat(sessions().acquireCreation(tenant, Gcra.perMinute(1), NOW)).isEmpty();
  }

  @Test
  void renew_moves_only_the_end_and_never_back() {
    Session session = created(Set.of("a"));
    Instant later = session.endsAt().plusSeconds(1);

    assertThat(sessions().renew(session.tenant(), session.id(), later.plusNanos(5), LIFETIME, NOW))
        .isEqualTo(WriteResult.DONE);
    assertThat(sessions().renew(session.tenant(), session.id(), session.endsAt(), LIFETIME, NOW))
        .isEqualTo(WriteResult.CONFLICT);
    assertThat(
            sessions().renew(session.tenant(), session.id(), later.plusSeconds(9), LIFETIME, later))
        .isEqualTo(WriteResult.CONFLICT);

    assertThat(sessions().find(session.tenant(), session.id()))
        .contains(
            new Session(
                session.tenant(),
                session.id(),
                session.connections(),
                later,
                session.arrival(),
                session.joinedAt(),
                session.messageAt(),
                session.processed(),
                LIFETIME,
                session.place(),
                false));
  }

  @Test
  void extend_records_a_message_in_the_write_that_moves_the_end() {
    Session session = created(Set.of("a"));
    Instant later = session.endsAt().plusSeconds(60);
    Map<String, Instant> processed = Map.of("A_z-9", later, "7", later.plusSeconds(1));

    assertThat(sessions().extend(session, later.plusNanos(5), processed, NOW))
        .isEqualTo(WriteResult.DONE);

    Session extended =
        new Session(
            session.tenant(),
            session.id(),
            session.connections(),
            later,
            session.arrival(),
            session.joinedAt(),
            Optional.of(SECOND),
            processed,
            new Lifetime(Optional.of(SECOND), Optional.empty()),
            Optional.empty(),
            false);
    assertThat(sessions().find(session.tenant(), session.id())).contains(extended);
    assertThat(list(session.tenant())).containsExactly(extended);
    assertThat(sessions().extend(extended, later.plusSeconds(60), Map.of("m", later), NOW))
        .isEqualTo(WriteResult.DONE);
    assertThat(sessions().find(session.tenant(), session.id()).orElseThrow().processed())
        .isEqualTo(Map.of("m", later));
  }

  @Test
  void extend_of_a_changed_or_missing_session_records_nothing() {
    Session session = created(Set.of());
    Session never = Samples.session(Samples.tenantId(), LIFE);
    Instant later = session.endsAt().plusSeconds(60);
    Session moved = sessions().moveEnd(session.tenant(), session.id(), NOW).orElseThrow();

    assertThat(sessions().extend(session, later, Map.of("m", later), NOW))
        .isEqualTo(WriteResult.CONFLICT);
    assertThat(sessions().extend(never, later, Map.of("m", later), NOW))
        .isEqualTo(WriteResult.CONFLICT);

    assertThat(sessions().find(session.tenant(), session.id())).contains(moved);
    assertThat(sessions().find(never.tenant(), never.id())).isEmpty();
  }

  @Test
  void other_changes_keep_the_sessions_recorded_messages() {
    Map<String, Instant> processed = Map.of("m", Instant.ofEpochSecond(NOW.getEpochSecond() + 600));
    Session session =
        new Session(
            Samples.tenantId(),
            Samples.sessionId(),
            Set.of("a"),
            Instant.ofEpochSecond(NOW.getEpochSecond() + 300),
            Optional.of(NOW),
            Map.of(),
            Optional.empty(),
            processed,
            LIFETIME,
            Optional.of(new Place(7, 8)),
            true);
    sessions().create(session);
    sessions()
        .renew(session.tenant(), session.id(), session.endsAt().plusSeconds(9), LIFETIME, NOW);
    sessions().takeConnections(session.tenant(), session.id());

    Session changed = sessions().moveEnd(session.tenant(), session.id(), NOW).orElseThrow();
    assertThat(changed.processed()).isEqualTo(processed);
    assertThat(changed.lifetime()).isEqualTo(LIFETIME);
  }

  @Test
  void earlier_ending_token_neither_shortens_a_session_nor_changes_its_creation() {
    Session session = created(Set.of());
    Instant later = session.endsAt().plusSeconds(9);
    Instant tokenEndsAt = LIFETIME.tokenEndsAt().orElseThrow();
    Lifetime shorter = new Lifetime(LIFETIME.createdAt(), Optional.of(tokenEndsAt.minusSeconds(1)));
    Lifetime longer =
        new Lifetime(Optional.of(SECOND.plusSeconds(60)), Optional.of(tokenEndsAt.plusSeconds(1)));
    sessions().renew(session.tenant(), session.id(), session.endsAt(), LIFETIME, NOW);

    assertThat(sessions().renew(session.tenant(), session.id(), later, shorter, NOW))
        .isEqualTo(WriteResult.CONFLICT);
    assertThat(sessions().renew(session.tenant(), session.id(), later, longer, NOW))
        .isEqualTo(WriteResult.DONE);
    assertThat(sessions().renew(session.tenant(), session.id(), later, Lifetime.UNKNOWN, NOW))
        .isEqualTo(WriteResult.DONE);

    Session renewed = sessions().find(session.tenant(), session.id()).orElseThrow();
    assertThat(renewed.endsAt()).isEqualTo(later);
    assertThat(renewed.lifetime())
        .isEqualTo(new Lifetime(LIFETIME.createdAt(), longer.tokenEndsAt()));
    Map<String, Instant> none = Map.of();
    assertThat(sessions().extend(renewed, later, none, NOW.plusSeconds(60)))
        .isEqualTo(WriteResult.DONE);
    assertThat(sessions().find(session.tenant(), session.id()).orElseThrow().lifetime())
        .isEqualTo(renewed.lifetime());
  }

  private WriteResult record(TenantId tenant, Subject subject, SessionId id, long max) {
    SubjectSessions read = sessions().findForSubject(tenant, subject);
    WriteResult written =
        sessions().addToSubject(tenant, subject, id, max, OFTEN, read, NOW, NOW.plus(LIFE));
    // The arrival time may have moved in either direction since it was read.
    return written == WriteResult.DONE
        ? written
        : sessions()
            .addToSubject(
                tenant,
                subject,
                id,
                max,
                OFTEN,
                sessions().findForSubject(tenant, subject),
                NOW,
                NOW.plus(LIFE));
  }

  private Set<SessionId> recorded(TenantId tenant, Subject subject) {
    return sessions().findForSubject(tenant, subject).sessions();
  }

  @Test
  void concurrent_creations_of_a_subject_keep_to_its_rate() {
    Tenant bronze = Samples.tenant();
    Optional<Caller> ann = Optional.of(new Caller(Subject.of(bronze.id(), "ann"), NOW.plus(LIFE)));

    List<Long> opened =
        Race.of(
            4,
            i ->
                Stream.generate(() -> lifecycle().open(bronze, ann))
                    .limit(20)
                    .filter(SessionLifecycle.Opened.class::isInstance)
                    .map(opening -> ((SessionLifecycle.Opened) opening).session().id())
                    .peek(id -> lifecycle().end(bronze.id(), id))
                    .count());

    assertThat(opened.stream().mapToLong(Long::longValue).sum()).isBetween(1L, 4L);
    for (int i = 0; i < 5; i++) {
      if (lifecycle().open(bronze, ann) instanceof SessionLifecycle.Opened last) {
        lifecycle().end(bronze.id(), last.session().id());
      }
    }
    assertThat(lifecycle().open(bronze, ann))
        .isEqualTo(new SessionLifecycle.SubjectTooFast(NOW.plusSeconds(15)));
    assertThat(lasting(bronze.id())).isZero();
    Gcra turns = Gcra.perMinute(600);
    assertThat(
            Stream.generate(() -> sessions().acquireCreation(bronze.id(), turns, NOW))
                .limit(600)
                .filter(Optional::isEmpty))
        .hasSize(596);
  }

  @Test
  void sessions_of_a_subject_are_recorded_until_the_tenants_subjects_are_deleted() {
    TenantId tenant = Samples.tenantId();
    Subject ann = Subject.of(tenant, "ann");
    Subject bob = Subject.of(tenant, "bob");
    SessionId one = Samples.sessionId();
    SessionId two = Samples.sessionId();

    assertThat(recorded(tenant, ann)).isEmpty();
    assertThat(record(tenant, ann, one, 2)).isEqualTo(WriteResult.DONE);
    assertThat(record(tenant, ann, two, 2)).isEqualTo(WriteResult.DONE);
    assertThat(record(tenant, ann, two, 2)).isEqualTo(WriteResult.DONE);
    assertThat(record(tenant, bob, one, 2)).isEqualTo(WriteResult.DONE);
    assertThat(record(tenant, ann, Samples.sessionId(), 2)).isEqualTo(WriteResult.CONFLICT);
    assertThat(recorded(tenant, ann)).containsExactlyInAnyOrder(one, two);
    assertThat(recorded(Samples.tenantId(), ann)).isEmpty();

    sessions().deleteSubjects(tenant);
    sessions().deleteSubjects(tenant);

    assertThat(recorded(tenant, ann)).isEmpty();
    assertThat(recorded(tenant, bob)).isEmpty();
  }

  @RepeatedTest(5)
  void concurrent_recordings_for_a_subject_succeed_up_to_its_limit() {
    TenantId tenant = Samples.tenantId();
    Subject ann = Subject.of(tenant, "ann");

    List<WriteResult> answers = Race.of(12, i -> record(tenant, ann, Samples.sessionId(), 5));

    assertThat(answers.stream().filter(WriteResult.DONE::equals)).hasSize(5);
    assertThat(recorded(tenant, ann)).hasSize(5);
  }

  @RepeatedTest(5)
  void one_of_many_concurrent_replacements_of_a_subjects_sessions_succeeds() {
    TenantId tenant = Samples.tenantId();
    Subject ann = Subject.of(tenant, "ann");
    SessionId expired = Samples.sessionId();
    SessionId lasting = Samples.sessionId();
    record(tenant, ann, expired, 2);
    record(tenant, ann, lasting, 2);
    SubjectSessions read = sessions().findForSubject(tenant, ann);
    assertThat(read.sessions()).containsExactlyInAnyOrder(expired, lasting);

    List<WriteResult> answers =
        Race.of(
            6,
            i ->
                sessions()
                    .replaceForSubject(
                        tenant,
                        ann,
                        Set.of(lasting, Samples.sessionId()),
                        OFTEN,
                        read,
                        NOW,
                        NOW.plus(LIFE)));

    assertThat(answers.stream().filter(WriteResult.DONE::equals)).hasSize(1);
    assertThat(recorded(tenant, ann)).hasSize(2).contains(lasting).doesNotContain(expired);
  }

  @Test
  void find_of_many_returns_the_existing_ones() {
    TenantId tenant = Samples.tenantId();
    List<Session> all =
        IntStream.range(0, 120).mapToObj(i -> Samples.session(tenant, LIFE)).toList();
    all.forEach(sessions()::create);
    Set<SessionId> ids = all.stream().skip(1).map(Session::id).collect(Collectors.toSet());
    ids.add(Samples.sessionId());

    assertThat(sessions().find(tenant, ids))
        .containsExactlyInAnyOrderElementsOf(all.subList(1, all.size()));
    assertThat(sessions().find(tenant, Set.of())).isEmpty();
    assertThat(sessions().find(Samples.tenantId(), ids)).isEmpty();
  }

  private SessionLifecycle lifecycle() {
    return new SessionLifecycle(
        sessions(), new InMemorySessions(), new RecordingSockets(), new SecureRandom(), () -> NOW);
  }

  private long lasting(TenantId tenant) {
    return list(tenant).stream().filter(session -> !session.hasEndedAt(NOW)).count();
  }

  @RepeatedTest(5)
  void concurrent_opens_for_a_subject_succeed_up_to_its_limit() {
    Tenant bronze = Samples.tenant();
    Optional<Caller> ann = Optional.of(new Caller(Subject.of(bronze.id(), "ann"), NOW.plus(LIFE)));

    List<SessionLifecycle.OpenResult> answers = Race.of(12, i -> lifecycle().open(bronze, ann));

    assertThat(answers.stream().filter(SessionLifecycle.Opened.class::isInstance)).hasSize(2);
    assertThat(answers.stream().filter(SessionLifecycle.SubjectFull.class::isInstance)).hasSize(10);
    assertThat(lasting(bronze.id())).isEqualTo(2);
  }

  @RepeatedTest(5)
  void concurrent_opens_and_ends_never_exceed_the_subjects_limit() {
    Tenant bronze = Samples.tenant();
    Optional<Caller> ann = Optional.of(new Caller(Subject.of(bronze.id(), "ann"), NOW.plus(LIFE)));

    List<Long> had =
        Race.of(
            4,
            i -> {
              for (int j = 0; j < 5; j++) {
                if (lifecycle().open(bronze, ann) instanceof SessionLifecycle.Opened opened) {
                  lifecycle().end(bronze.id(), opened.session().id());
                }
              }
              return lifecycle().open(bronze, ann) instanceof SessionLifecycle.Opened ? 1L : 0L;
            });

    assertThat(had.stream().mapToLong(Long::longValue).sum())
        .isEqualTo(lasting(bronze.id()))
        .isLessThanOrEqualTo(2);
  }

  @Test
  void one_of_two_concurrent_extensions_to_the_same_end_succeeds() {
    Session session = created(Set.of("a"));
    Map<String, Instant> one = Map.of("one", session.endsAt());

    assertThat(sessions().extend(session, session.endsAt(), one, NOW)).isEqualTo(WriteResult.DONE);
    assertThat(sessions().extend(session, session.endsAt(), Map.of(), NOW))
        .isEqualTo(WriteResult.CONFLICT);

    Session extended = sessions().find(session.tenant(), session.id()).orElseThrow();
    assertThat(extended.endsAt()).isEqualTo(session.endsAt());
    assertThat(extended.messageAt()).contains(NOW.truncatedTo(ChronoUnit.SECONDS));
    assertThat(extended.processed()).isEqualTo(one);
    assertThat(sessions().extend(extended, session.endsAt(), one, NOW)).isEqualTo(WriteResult.DONE);
  }
}
