package dev.tollgate.core.testing.contract;

import static dev.tollgate.core.testing.Samples.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Connections.CountResult;
import dev.tollgate.core.session.Connections.JoinResult;
import dev.tollgate.core.session.Connections.LeaveResult;
import dev.tollgate.core.session.Correction;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Lifetime;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The contract of {@link Connections}. */
public abstract class ConnectionsContract {
  private static final Gcra FAST = Gcra.perMinute(600);
  private static final long MANY = 1_000;
  private static final Instant SECOND = NOW.truncatedTo(ChronoUnit.SECONDS);

  /** The connections under test; they may contain rows of other tests. */
  protected abstract Connections connections();

  /** The sessions that the connections belong to. */
  protected abstract Sessions sessions();

  private Session created(Duration life) {
    Session session = Samples.session(Samples.tenantId(), life);
    sessions().create(session);
    return session;
  }

  private Session created() {
    return created(Duration.ofMinutes(5));
  }

  private Session current(Session session) {
    return sessions().find(session.tenant(), session.id()).orElseThrow();
  }

  private JoinResult join(
      Session session,
      String connectionId,
      long max,
      Gcra rate,
      Optional<Instant> expected,
      Instant now) {
    return connections()
        .join(session.tenant(), session.id(), connectionId, max, rate, expected, now, now);
  }

  private JoinResult joinUntil(Session session, String connectionId, Instant endsAt, Instant now) {
    return connections()
        .join(
            session.tenant(),
            session.id(),
            connectionId,
            MANY,
            FAST,
            current(session).arrival(),
            endsAt,
            now);
  }

  private JoinResult join(Session session, String connectionId, long max) {
    return join(session, connectionId, max, FAST, Optional.empty(), NOW);
  }

  private LeaveResult leave(Session session, String connectionId) {
    return connections().leave(session.tenant(), session.id(), connectionId);
  }

  private TenantId counted(int times) {
    TenantId tenant = Samples.tenantId();
    for (int i = 0; i < times; i++) {
      assertThat(connections().countUp(tenant, "c" + i, MANY)).isEqualTo(CountResult.COUNTED);
    }
    return tenant;
  }

  private JoinResult joinFrom(Session session, String connectionId, Place place) {
    return connections()
        .join(
            session.tenant(),
            session.id(),
            connectionId,
            MANY,
            FAST,
            Optional.empty(),
            Optional.of(place),
            NOW,
            NOW);
  }

  @Test
  void place_admits_one_connection() {
    Session session = created();
    Place place = new Place(3, 4);
    sessions().keepPlace(session, place, true, NOW, NOW);

    assertThat(joinFrom(session, "a", new Place(3, 5))).isEqualTo(JoinResult.PLACE_USED);
    List<JoinResult> answers = Race.of(6, i -> joinFrom(session, "c" + i, place));

    assertThat(Collections.frequency(answers, JoinResult.ADDED)).isEqualTo(1);
    assertThat(Collections.frequency(answers, JoinResult.PLACE_USED)).isEqualTo(5);
    assertThat(current(session).place()).isEmpty();
    assertThat(current(session).connections()).hasSize(1);
  }

  @Test
  void connection_without_a_place_leaves_that_of_its_session() {
    Session session = created();
    Place place = new Place(3, 4);
    sessions().keepPlace(session, place, true, NOW, NOW);

    assertThat(join(session, "a", 2)).isEqualTo(JoinResult.ADDED);

    assertThat(current(session).place()).contains(place);
  }

  @Test
  void join_adds_the_connection_and_moves_the_arrival_time() {
    Session session = created();

    assertThat(join(session, "a", 2)).isEqualTo(JoinResult.ADDED);

    assertThat(current(session))
        .isEqualTo(
            new Session(
                session.tenant(),
                session.id(),
                Collections.singleton("a"),
                session.endsAt(),
                Optional.of(NOW.plus(FAST.interval())),
                Map.of("a", SECOND),
                Optional.empty(),
                Map.of(),
                new Lifetime(Optional.of(SECOND), Optional.empty()),
                Optional.empty(),
                false));
  }

  @Test
  void join_of_a_full_session_changes_nothing() {
    Session session = created();
    join(session, "a", 2);
    join(session, "b", 2);
    Session full = current(session);

    assertThat(join(session, "c", 2)).isEqualTo(JoinResult.FULL);

    assertThat(current(session)).isEqualTo(full);
  }

  @Test
  void repeated_join_changes_nothing_even_at_the_limit_and_above_the_rate() {
    Session session = created();
    Gcra slow = Gcra.perMinute(1);
    assertThat(join(session, "a", 1, slow, Optional.empty(), NOW)).isEqualTo(JoinResult.ADDED);
    Session full = current(session);

    assertThat(join(session, "a", 1, slow, full.arrival(), NOW))
        .isEqualTo(JoinResult.ALREADY_JOINED);

    assertThat(current(session)).isEqualTo(full);
  }

  @Test
  void join_of_an_unknown_session_creates_none() {
    Session never = Samples.session(Samples.tenantId(), Duration.ofMinutes(5));

    assertThat(join(never, "a", 2)).isEqualTo(JoinResult.NO_SESSION);

    assertThat(sessions().find(never.tenant(), never.id())).isEmpty();
  }

  private JoinResult open(Session session, String connectionId, long max, Instant now) {
    return connections()
        .open(
            session.tenant(),
            session.id(),
            connectionId,
            max,
            FAST,
            Optional.empty(),
            now.plusSeconds(100),
            now);
  }

  @Test
  void open_creates_a_session_that_does_not_exist_and_joins_one_that_does() {
    Session session = Samples.session(Samples.tenantId(), Duration.ofMinutes(5));

    assertThat(open(session, "a", 2, NOW)).isEqualTo(JoinResult.ADDED);
    assertThat(open(session, "a", 2, NOW)).isEqualTo(JoinResult.ALREADY_JOINED);
    assertThat(open(session, "b", 2, NOW)).isEqualTo(JoinResult.ADDED);
    assertThat(open(session, "c", 2, NOW)).isEqualTo(JoinResult.FULL);

    assertThat(current(session).connections()).containsExactlyInAnyOrder("a", "b");
    assertThat(current(session).endsAt()).isEqualTo(SECOND.plusSeconds(100));
    assertThat(current(session).joinedAt("a")).isEqualTo(SECOND);
  }

  @Test
  void open_begins_an_ended_session_again_unless_it_has_connections() {
    Session session = Samples.session(Samples.tenantId(), Duration.ofMinutes(5));
    open(session, "a", 9, NOW);
    Instant ended = SECOND.plusSeconds(100);
    assertThat(open(session, "b", 9, ended)).isEqualTo(JoinResult.NO_SESSION);
    connections().leave(session.tenant(), session.id(), "a");

    assertThat(open(session, "b", 9, ended)).isEqualTo(JoinResult.ADDED);

    assertThat(current(session).connections()).containsExactly("b");
    assertThat(current(session).endsAt()).isEqualTo(ended.plusSeconds(100));
  }

  @Test
  void open_never_shortens_a_session_and_keeps_its_rate() {
    Session session = created();
    assertThat(open(session, "a", 9, NOW)).isEqualTo(JoinResult.ADDED);
    assertThat(current(session).endsAt())
        .isEqualTo(session.endsAt().truncatedTo(ChronoUnit.SECONDS));
    Gcra slow = Gcra.perMinute(1);
    assertThat(
            connections()
                .open(session.tenant(), session.id(), "b", 9, slow, Optional.empty(), SECOND, NOW))
        .isEqualTo(JoinResult.TOO_SOON);
  }

  @Test
  void of_racing_opens_as_many_join_as_the_session_has_places() {
    Session session = Samples.session(Samples.tenantId(), Duration.ofMinutes(5));
    List<JoinResult> answers = Race.of(8, i -> open(session, "c" + i, 3, NOW));
    assertThat(answers).filteredOn(JoinResult.ADDED::equals).hasSize(3);
    assertThat(current(session).connections()).hasSize(3);
  }

  @Test
  void join_compares_the_end_to_the_second_whether_or_not_the_row_exists() {
    Session session = created(Duration.ofSeconds(10));

    assertThat(join(session, "a", 9, FAST, Optional.empty(), session.endsAt().minusNanos(1)))
        .isEqualTo(JoinResult.ADDED);
    assertThat(join(session, "b", 9, FAST, Optional.empty(), session.endsAt()))
        .isEqualTo(JoinResult.NO_SESSION);
    assertThat(join(session, "a", 9, FAST, Optional.empty(), session.endsAt()))
        .isEqualTo(JoinResult.NO_SESSION);
  }

  @Test
  void join_extends_a_session_that_would_end_earlier() {
    Session session = created(Duration.ofSeconds(60));
    Instant connected = NOW.plusSeconds(40);

    assertThat(joinUntil(session, "a", connected.plusSeconds(60), connected))
        .isEqualTo(JoinResult.ADDED);

    assertThat(current(session).endsAt())
        .isEqualTo(Instant.ofEpochSecond(NOW.getEpochSecond() + 100));
    assertThat(joinUntil(session, "b", NOW.plusSeconds(130), NOW.plusSeconds(70)))
        .isEqualTo(JoinResult.ADDED);
  }

  @Test
  void join_and_leave_keep_the_sessions_recorded_messages() {
    Session session = created();
    Map<String, Instant> processed = Map.of("m", session.endsAt());
    sessions().extend(session, session.endsAt().plusSeconds(1), processed, NOW);

    join(session, "a", 2);
    assertThat(current(session).processed()).isEqualTo(processed);
    leave(session, "a");
    assertThat(current(session).processed()).isEqualTo(processed);
  }

  @Test
  void join_never_shortens_a_session() {
    Session session = created(Duration.ofMinutes(5));

    assertThat(joinUntil(session, "a", NOW.plusSeconds(60), NOW)).isEqualTo(JoinResult.ADDED);

    assertThat(current(session).endsAt()).isEqualTo(session.endsAt());
    assertThat(current(session).connections()).containsExactly("a");
  }

  @Test
  void refused_join_does_not_extend_the_session() {
    Session session = created(Duration.ofMinutes(5));
    join(session, "a", 1);

    assertThat(
            connections()
                .join(
                    session.tenant(),
                    session.id(),
                    "b",
                    1,
                    FAST,
                    current(session).arrival(),
                    session.endsAt().plusSeconds(60),
                    NOW))
        .isEqualTo(JoinResult.FULL);

    assertThat(current(session).endsAt()).isEqualTo(session.endsAt());
  }

  @Test
  void join_enforces_the_rate_to_the_nanosecond_for_any_expected_arrival() {
    Session session = created(Duration.ofDays(1));
    Gcra rate = Gcra.perMinute(7);
    Random random = new Random(20_260_302);
    Optional<Instant> arrival = Optional.empty();
    Instant now = NOW;
    for (int i = 0; i < 80; i++) {
      boolean conforms = rate.conforms(arrival, now);
      Optional<Instant> expected =
          switch (random.nextInt(4)) {
            case 0 -> Optional.empty();
            case 1 -> Optional.of(now.minusSeconds(1));
            case 2 -> Optional.of(now.plusSeconds(random.nextInt(100)));
            default -> arrival;
          };

      assertThat(join(session, "c" + i, MANY, rate, expected, now))
          .isEqualTo(conforms ? JoinResult.ADDED : JoinResult.TOO_SOON);

      if (conforms) {
        arrival = Optional.of(rate.after(arrival, now));
      }
      assertThat(current(session).arrival()).isEqualTo(arrival);
      now = next(rate.conformsAt(arrival, now), now, random);
    }
  }

  private static Instant next(Instant conformsAt, Instant now, Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> conformsAt;
      case 1 -> conformsAt.isAfter(now) ? conformsAt.minusNanos(1) : now;
      default -> now.plusNanos(random.nextLong(10_000_000_000L));
    };
  }

  @Test
  void concurrent_joins_fill_exactly_the_places() {
    Session session = created();

    List<JoinResult> answers = Race.of(12, i -> join(session, "c" + i, 5));

    assertThat(Collections.frequency(answers, JoinResult.ADDED)).isEqualTo(5);
    assertThat(Collections.frequency(answers, JoinResult.FULL)).isEqualTo(7);
    assertThat(current(session).connections()).hasSize(5);
  }

  @Test
  void concurrent_joins_add_as_many_as_the_rate_allows() {
    Session session = created();
    Gcra rate = Gcra.perMinute(5);

    List<JoinResult> answers =
        Race.of(12, i -> join(session, "c" + i, MANY, rate, Optional.empty(), NOW));

    assertThat(Collections.frequency(answers, JoinResult.ADDED)).isEqualTo(5);
    assertThat(Collections.frequency(answers, JoinResult.TOO_SOON)).isEqualTo(7);
    assertThat(current(session).arrival()).contains(NOW.plusSeconds(60));
  }

  @Test
  void concurrent_joins_with_one_id_add_one() {
    Session session = created();

    List<JoinResult> answers = Race.of(8, i -> join(session, "same", 3));

    assertThat(Collections.frequency(answers, JoinResult.ADDED)).isEqualTo(1);
    assertThat(Collections.frequency(answers, JoinResult.ALREADY_JOINED)).isEqualTo(7);
  }

  @Test
  void leave_removes_once_and_the_last_leave_keeps_an_empty_session() {
    Session session = created();
    join(session, "a", 2);
    join(session, "b", 2);

    assertThat(leave(session, "a")).isEqualTo(LeaveResult.REMOVED);
    assertThat(leave(session, "a")).isEqualTo(LeaveResult.NOT_JOINED);
    assertThat(leave(session, "b")).isEqualTo(LeaveResult.REMOVED);
    assertThat(leave(session, "b")).isEqualTo(LeaveResult.NOT_JOINED);

    assertThat(current(session).connections()).isEmpty();
    assertThat(current(session).arrival()).isPresent();
    assertThat(join(session, "c", 1)).isEqualTo(JoinResult.ADDED);
  }

  @Test
  void leave_gives_back_what_the_connection_used_of_the_rate() {
    Gcra rate = Gcra.perMinute(2);
    Session session = created();
    join(session, "a", MANY, rate, Optional.empty(), NOW);
    join(session, "b", MANY, rate, current(session).arrival(), NOW);
    assertThat(rate.remaining(current(session).arrival(), NOW)).isZero();

    LeaveResult left =
        connections().leave(session.tenant(), session.id(), "b", Duration.ofSeconds(30));
    LeaveResult again =
        connections().leave(session.tenant(), session.id(), "b", Duration.ofSeconds(30));

    assertThat(List.of(left, again)).containsExactly(LeaveResult.REMOVED, LeaveResult.NOT_JOINED);
    assertThat(current(session).arrival()).contains(NOW.plusSeconds(30));
    assertThat(current(session).connections()).containsExactly("a");
  }

  @Test
  void concurrent_leaves_with_one_id_remove_one() {
    Session session = created();
    join(session, "a", 2);

    List<LeaveResult> answers = Race.of(8, i -> leave(session, "a"));

    assertThat(Collections.frequency(answers, LeaveResult.REMOVED)).isEqualTo(1);
  }

  @Test
  void leave_of_a_missing_session_creates_none() {
    Session session = created();
    join(session, "a", 2);
    sessions().takeConnections(session.tenant(), session.id());
    sessions().remove(session.tenant(), session.id());

    assertThat(leave(session, "a")).isEqualTo(LeaveResult.NOT_JOINED);

    assertThat(sessions().find(session.tenant(), session.id())).isEmpty();
  }

  @Test
  void count_up_stops_at_the_limit() {
    TenantId tenant = counted(2);

    assertThat(connections().countUp(tenant, "more", 3)).isEqualTo(CountResult.COUNTED);
    assertThat(connections().countUp(tenant, "more", 3)).isEqualTo(CountResult.FULL);

    assertThat(connections().count(tenant)).isEqualTo(3);
  }

  @Test
  void sixty_concurrent_counts_for_ten_places_count_exactly_ten() {
    TenantId tenant = Samples.tenantId();

    List<CountResult> answers = Race.of(60, i -> connections().countUp(tenant, "c" + i, 10));

    assertThat(Collections.frequency(answers, CountResult.COUNTED)).isEqualTo(10);
    assertThat(connections().count(tenant)).isEqualTo(10);
  }

  @Test
  void count_down_subtracts_the_given_number() {
    TenantId tenant = counted(5);

    connections().countDown(tenant, Set.of("c0", "c1", "c2"));

    assertThat(connections().count(tenant)).isEqualTo(2);
  }

  @Test
  void count_down_never_goes_below_zero() {
    TenantId tenant = counted(2);

    connections().countDown(tenant, Set.of("c0", "c1", "c2"));
    connections().countDown(tenant, Set.of("c0"));

    assertThat(connections().count(tenant)).isZero();
    assertThat(connections().countUp(tenant, "more", 1)).isEqualTo(CountResult.COUNTED);
  }

  @Test
  void concurrent_count_downs_end_at_zero() {
    TenantId tenant = counted(7);

    Race.of(
        8,
        i -> {
          connections().countDown(tenant, Set.of("c" + i, "d" + i));
          return i;
        });

    assertThat(connections().count(tenant)).isZero();
  }

  @Test
  void count_down_of_a_tenant_without_a_count_creates_none() {
    TenantId tenant = counted(1);
    connections().deleteCount(tenant);

    connections().countDown(tenant, Set.of("c0"));

    assertThat(connections().count(tenant)).isZero();
    assertThat(connections().countUp(tenant, "more", 1)).isEqualTo(CountResult.COUNTED);
  }

  private ConnectionCount count(TenantId tenant) {
    return connections().readCount(tenant);
  }

  private static long part(ConnectionCount count, String connectionId) {
    return count.parts().get(ConnectionCount.partOf(connectionId));
  }

  private static Correction correction(String connectionId, long by) {
    return new Correction(by, Map.of(ConnectionCount.partOf(connectionId), by));
  }

  @Test
  void connection_is_counted_in_its_part() {
    TenantId tenant = counted(3);
    connections().undoCountUp(tenant, "c1");
    connections().countUp(tenant, "c0", MANY);

    ConnectionCount count = count(tenant);

    assertThat(count.open()).isEqualTo(3);
    assertThat(part(count, "c0")).isEqualTo(2);
    assertThat(part(count, "c1")).isZero();
    assertThat(part(count, "c2")).isEqualTo(1);
    assertThat(count.unattributed()).isZero();
    connections().countDown(tenant, Set.of("c0", "c2"));
    assertThat(part(count(tenant), "c0")).isEqualTo(1);
    assertThat(part(count(tenant), "c2")).isZero();
    assertThat(count(tenant).open()).isEqualTo(1);
  }

  @Test
  void connections_of_one_part_are_counted_down_together() {
    TenantId tenant = Samples.tenantId();
    List<String> ids =
        IntStream.range(0, 10_000)
            .mapToObj(i -> "c" + i)
            .filter(id -> ConnectionCount.partOf(id) == 7)
            .limit(5)
            .toList();
    ids.forEach(id -> connections().countUp(tenant, id, MANY));

    connections().countDown(tenant, Set.copyOf(ids.subList(0, 3)));

    assertThat(count(tenant).parts().get(7)).isEqualTo(2);
    assertThat(count(tenant).open()).isEqualTo(2);
  }

  @Test
  void hundred_connections_are_counted_down_by_one_write() {
    TenantId tenant = counted(100);

    connections()
        .countDown(
            tenant,
            IntStream.range(0, 100).mapToObj(i -> "c" + i).collect(Collectors.toUnmodifiableSet()));

    assertThat(count(tenant)).isEqualTo(ConnectionCount.NONE);
  }

  @Test
  void correction_is_added_despite_concurrent_counts() {
    TenantId tenant = counted(3);
    ConnectionCount countRead = count(tenant);
    connections().countUp(tenant, "c3", MANY);
    connections().countUp(tenant, "c4", MANY);

    assertThat(connections().correct(tenant, countRead, correction("c0", -1)))
        .isEqualTo(WriteResult.DONE);

    assertThat(count(tenant).open()).isEqualTo(4);
    assertThat(part(count(tenant), "c0")).isZero();
    assertThat(part(count(tenant), "c4")).isEqualTo(1);
    assertThat(count(tenant).correction()).isPresent();
  }

  @Test
  void correction_is_refused_after_another_correction() {
    TenantId tenant = counted(3);
    ConnectionCount countRead = count(tenant);
    connections().correct(tenant, countRead, correction("c0", -1));
    ConnectionCount corrected = count(tenant);

    assertThat(connections().correct(tenant, countRead, correction("c0", -1)))
        .isEqualTo(WriteResult.CONFLICT);
    assertThat(count(tenant)).isEqualTo(corrected);
    assertThat(connections().correct(tenant, corrected, correction("c0", 1)))
        .isEqualTo(WriteResult.DONE);
    assertThat(connections().correct(tenant, corrected, correction("c0", 1)))
        .isEqualTo(WriteResult.CONFLICT);

    assertThat(count(tenant).open()).isEqualTo(3);
  }

  @Test
  void correction_never_makes_the_count_negative() {
    TenantId tenant = counted(3);
    ConnectionCount countRead = count(tenant);
    connections().countDown(tenant, Set.of("c0", "c1"));

    assertThat(connections().correct(tenant, countRead, correction("c2", -2)))
        .isEqualTo(WriteResult.CONFLICT);
    assertThat(connections().correct(tenant, countRead, correction("c2", -1)))
        .isEqualTo(WriteResult.DONE);

    assertThat(count(tenant).open()).isZero();
  }

  @Test
  void correction_that_moves_connections_between_parts_keeps_the_total() {
    TenantId tenant = counted(2);
    int from = ConnectionCount.partOf("c0");
    int to = (from + 1) % ConnectionCount.PARTS;
    long before = count(tenant).parts().get(to);

    connections().correct(tenant, count(tenant), new Correction(0, Map.of(from, -1L, to, 1L)));

    assertThat(count(tenant).open()).isEqualTo(2);
    assertThat(count(tenant).parts().get(to)).isEqualTo(before + 1);
  }

  @Test
  void correction_treats_a_missing_count_as_zero() {
    TenantId tenant = Samples.tenantId();

    assertThat(connections().correct(tenant, ConnectionCount.NONE, correction("a", -1)))
        .isEqualTo(WriteResult.CONFLICT);
    assertThat(connections().correct(tenant, ConnectionCount.NONE, correction("a", 2)))
        .isEqualTo(WriteResult.DONE);

    assertThat(count(tenant).open()).isEqualTo(2);
    assertThat(part(count(tenant), "a")).isEqualTo(2);
  }

  @Test
  void one_of_many_concurrent_corrections_succeeds() {
    TenantId tenant = counted(3);
    ConnectionCount countRead = count(tenant);

    List<WriteResult> answers =
        Race.of(8, i -> connections().correct(tenant, countRead, correction("c0", -1)));

    assertThat(Collections.frequency(answers, WriteResult.DONE)).isEqualTo(1);
    assertThat(count(tenant).open()).isEqualTo(2);
  }

  @Test
  void join_records_its_time_and_leave_removes_it() {
    Session session = created();

    join(session, "a", 2);
    join(session, "b", 2, FAST, Optional.empty(), NOW.plusSeconds(3));

    assertThat(current(session).joinedAt())
        .isEqualTo(Map.of("a", SECOND, "b", SECOND.plusSeconds(3)));
    leave(session, "a");
    assertThat(current(session).joinedAt()).isEqualTo(Map.of("b", SECOND.plusSeconds(3)));
  }

  @Test
  void delete_count_is_idempotent() {
    TenantId tenant = counted(3);

    connections().deleteCount(tenant);
    connections().deleteCount(tenant);

    assertThat(connections().count(tenant)).isZero();
  }
}
