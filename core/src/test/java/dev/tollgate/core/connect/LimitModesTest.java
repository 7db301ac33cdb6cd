package dev.tollgate.core.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Handshakes under limits that are observed or off. */
final class LimitModesTest {
  private static final int SEED = 20_261_127;

  /** One tenant, its admission and its registration. */
  private static final class World {
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
    private final Tenant tenant;
    private int connections;

    World(Map<Limit, Long> limits, Map<Limit, LimitMode> modes) {
      Map<Limit, Long> all = new EnumMap<>(Limit.class);
      all.put(Limit.TENANT_CONNECTIONS, 100_000L);
      all.put(Limit.CONNECTIONS_PER_SESSION, 1_000L);
      all.put(Limit.SESSION_PER_MINUTE, 1_000L);
      all.put(Limit.TENANT_PER_MINUTE, 1_000L);
      all.put(Limit.SESSION_TTL, 86_400L);
      all.putAll(limits);
      tenant = ports.onboard("acme", "gold", new Overrides(all, modes, Optional.of(false)));
    }

    SessionId session() {
      return ((SessionLifecycle.Opened) ports.lifecycle().open(tenant, Optional.empty()))
          .session()
          .id();
    }

    /** The tickets of so many connections that none of them has used yet. */
    List<Ticket> tickets(SessionId session, int count) {
      return Stream.generate(() -> admission.decide(tenant.id(), session))
          .limit(count)
          .map(decision -> ((AdmissionDecision.Ticketed) decision).ticket())
          .toList();
    }

    Registration.Result register(Ticket ticket) {
      return registration.register(ticket, "c" + ++connections);
    }

    /** The refusal, or why an observed limit would refuse, with the word {@code observed}. */
    String connect(SessionId session) {
      AdmissionDecision decision = admission.decide(tenant.id(), session);
      if (decision instanceof AdmissionDecision.Refused refused) {
        return refused.refusal().name();
      }
      Registration.Result result = register(((AdmissionDecision.Ticketed) decision).ticket());
      return result instanceof Registration.NotRegistered refused
          ? refused.refusal().name()
          : ((Registration.Registered) result)
              .wouldRefuse()
              .map(why -> "observed " + why)
              .orElse("admitted");
    }

    long tokens() {
      return ports.queue().level(new BucketId(tenant.id(), Action.CONNECT));
    }

    TenantActivity activity() {
      return ports.activity().of(tenant.id());
    }
  }

  private static Map<Limit, LimitMode> all(LimitMode mode) {
    return Map.of(
        Limit.TENANT_PER_MINUTE, mode,
        Limit.SESSION_PER_MINUTE, mode,
        Limit.CONNECTIONS_PER_SESSION, mode,
        Limit.TENANT_CONNECTIONS, mode);
  }

  private static Limit limit(Refusal why) {
    return why.limit().orElseThrow();
  }

  @ParameterizedTest
  @EnumSource(names = {"TENANT_CONNECTIONS", "SESSION_CONNECTIONS", "SESSION_RATE", "TENANT_RATE"})
  void observed_limit_lets_through_and_tells(Refusal why) {
    World world = new World(Map.of(limit(why), 2L), Map.of(limit(why), LimitMode.OBSERVE));
    SessionId session = world.session();

    List<String> verdicts = Stream.generate(() -> world.connect(session)).limit(5).toList();

    assertThat(verdicts)
        .containsExactly(
            "admitted", "admitted", "observed " + why, "observed " + why, "observed " + why);
    assertThat(world.activity().refused()).isZero();
    assertThat(world.ports.sessions().count(world.tenant.id())).isEqualTo(5);
  }

  @ParameterizedTest
  @EnumSource(names = {"TENANT_CONNECTIONS", "SESSION_CONNECTIONS", "SESSION_RATE", "TENANT_RATE"})
  void limit_that_is_off_is_neither_checked_nor_counted(Refusal why) {
    World world = new World(Map.of(limit(why), 2L), Map.of(limit(why), LimitMode.OFF));
    SessionId session = world.session();

    assertThat(Stream.generate(() -> world.connect(session)).limit(5)).containsOnly("admitted");
  }

  /** The reader is late: the limits are exceeded between the decision and the registration. */
  @ParameterizedTest
  @EnumSource(names = {"TENANT_CONNECTIONS", "SESSION_CONNECTIONS", "SESSION_RATE"})
  void registration_observes_what_the_decision_did_not_see(Refusal why) {
    World world = new World(Map.of(limit(why), 2L), Map.of(limit(why), LimitMode.OBSERVE));
    SessionId session = world.session();
    long full = world.tokens();
    List<Ticket> tickets = world.tickets(session, 5);

    List<Registration.Result> results = tickets.stream().map(world::register).toList();

    Registration.Registered admitted = new Registration.Registered(true);
    Registration.Registered observed = new Registration.Registered(true, Optional.of(why));
    assertThat(results).containsExactly(admitted, admitted, observed, observed, observed);
    // The rate is enforced, so every connection keeps its token.
    assertThat(world.tokens()).isEqualTo(full - 5);
    assertThat(world.activity().withoutToken()).isZero();
  }

  @Test
  void connection_that_any_observed_limit_would_refuse_keeps_no_token_of_an_observed_rate() {
    World world = new World(Map.of(Limit.TENANT_CONNECTIONS, 2L), all(LimitMode.OBSERVE));
    SessionId session = world.session();
    long full = world.tokens();
    List<Ticket> tickets = world.tickets(session, 5);

    tickets.forEach(world::register);

    assertThat(world.tokens()).isEqualTo(full - 2);
    assertThat(world.activity().withoutToken()).isEqualTo(3);
    assertThat(world.activity().admitted()).isEqualTo(5);
  }

  @Test
  void observed_connections_are_counted() {
    World world =
        new World(
            Map.of(Limit.TENANT_CONNECTIONS, 1L),
            Map.of(Limit.TENANT_CONNECTIONS, LimitMode.OBSERVE));
    Faults faults = new Faults();
    Activity activity = faults.around(Activity.class, world.ports.activity());
    Registration registration =
        new Registration(
            world.ports.sessions(),
            world.ports.heldTokens(),
            new RefusalTally(activity, Runnable::run, world.ports.clock()),
            world.ports.enforcement(),
            Runnable::run,
            pause -> {},
            world.ports.clock());
    List<Ticket> tickets = world.tickets(world.session(), 2);

    registration.register(tickets.get(0), "c1");
    assertThat(faults.calls()).isEmpty();
    registration.register(tickets.get(1), "c2");
    assertThat(faults.calls()).containsExactly("Activity.addRefused");
  }

  @Test
  void nobody_waits_in_line_for_an_observed_rate() {
    World world =
        new World(
            Map.of(Limit.TENANT_PER_MINUTE, 3L),
            Map.of(Limit.TENANT_PER_MINUTE, LimitMode.OBSERVE));
    SessionId session = world.session();

    assertThat(Stream.generate(() -> world.connect(session)).limit(5).toList())
        .endsWith("observed TENANT_RATE");

    BucketId connects = new BucketId(world.tenant.id(), Action.CONNECT);
    assertThat(world.ports.buckets().find(connects).orElseThrow().line()).isEmpty();
  }

  @Test
  void observed_limit_does_not_weaken_one_that_is_enforced() {
    World world =
        new World(
            Map.of(Limit.TENANT_CONNECTIONS, 1L, Limit.TENANT_PER_MINUTE, 3L),
            Map.of(Limit.TENANT_CONNECTIONS, LimitMode.OBSERVE));
    SessionId session = world.session();

    assertThat(Stream.generate(() -> world.connect(session)).limit(5))
        .containsExactly(
            "admitted",
            "observed TENANT_CONNECTIONS",
            "observed TENANT_CONNECTIONS",
            "TENANT_RATE",
            "TENANT_RATE");
  }

  @Test
  void lease_that_ended_is_observed_with_the_rate() {
    World world = new World(Map.of(), Map.of(Limit.TENANT_PER_MINUTE, LimitMode.OBSERVE));
    SessionId session = world.session();
    AdmissionDecision decision = world.admission.decide(world.tenant.id(), session);
    world.ports.clock().advance(Duration.ofMinutes(1));

    assertThat(world.register(((AdmissionDecision.Ticketed) decision).ticket()))
        .isEqualTo(new Registration.Registered(false, Optional.of(Refusal.LEASE_ENDED)));
  }

  /** Both let it through: the session's rate first, and then the token's. */
  @Test
  void lease_that_ends_meanwhile_is_observed_with_another_limit() {
    World world = new World(Map.of(Limit.SESSION_PER_MINUTE, 1L), all(LimitMode.OBSERVE));
    SessionId session = world.session();
    List<Ticket> tickets = world.tickets(session, 2);
    world.register(tickets.get(0));
    world.ports.queue().outage().begin();

    assertThat(world.register(tickets.get(1)))
        .isEqualTo(new Registration.Registered(false, Optional.of(Refusal.SESSION_RATE)));
    world.ports.queue().outage().end();
  }

  @Test
  void token_stays_spent_if_it_is_not_certain_that_the_books_say_so() {
    World world = new World(Map.of(Limit.SESSION_PER_MINUTE, 1L), all(LimitMode.OBSERVE));
    SessionId session = world.session();
    long full = world.tokens();
    List<Ticket> tickets = world.tickets(session, 3);
    world.ports.sessions().outage().begin("countWithoutToken");
    tickets.forEach(world::register);
    world.ports.sessions().outage().end();

    TenantActivity books = world.activity();
    assertThat(books.admitted() - books.withoutToken()).isLessThanOrEqualTo(full - world.tokens());
    assertThat(full - world.tokens()).isEqualTo(3);
  }

  @Test
  void rate_that_is_off_needs_no_queue() {
    World world = new World(Map.of(), Map.of(Limit.TENANT_PER_MINUTE, LimitMode.OFF));
    SessionId session = world.session();
    long full = world.tokens();
    world.connect(session);
    long before = world.ports.queue().reserves();

    assertThat(Stream.generate(() -> world.connect(session)).limit(5)).containsOnly("admitted");

    assertThat(world.ports.queue().reserves()).isEqualTo(before);
    assertThat(world.tokens()).isEqualTo(full);
  }

  /**
   * The same handshakes under the same rates, enforced and observed: the verdicts are the same,
   * because an observed connection uses up nothing that a refused one would not.
   */
  @Test
  void observed_verdicts_are_the_enforced_ones() {
    Map<String, Integer> seen = new TreeMap<>();
    for (int seed = SEED; seed < SEED + 8; seed++) {
      sameVerdicts(seed).forEach((verdict, count) -> seen.merge(verdict, count, Integer::sum));
    }
    assertThat(seen).containsOnlyKeys("admitted", "SESSION_RATE", "TENANT_RATE");
  }

  private static Map<String, Integer> sameVerdicts(int seed) {
    Random random = new Random(seed);
    Map<Limit, Long> limits =
        Map.of(
            Limit.TENANT_PER_MINUTE, 3L + random.nextInt(30),
            Limit.SESSION_PER_MINUTE, 2L + random.nextInt(5));
    World enforced = new World(limits, Map.of());
    World observed = new World(limits, all(LimitMode.OBSERVE));
    List<SessionId> first = Stream.generate(enforced::session).limit(6).toList();
    List<SessionId> second = Stream.generate(observed::session).limit(6).toList();
    Map<String, Integer> seen = new TreeMap<>();
    for (int i = 0; i < 1_000; i++) {
      int session = random.nextInt(6);
      String verdict = enforced.connect(first.get(session));
      assertThat(observed.connect(second.get(session)))
          .as("handshake %d with seed %d", i, seed)
          .isEqualTo(verdict.equals("admitted") ? verdict : "observed " + verdict);
      seen.merge(verdict, 1, Integer::sum);
      Duration pause = Duration.ofMillis(random.nextInt(4_000));
      for (World world : List.of(enforced, observed)) {
        world.ports.passUntil(world.ports.clock().instant().plus(pause));
        world.ports.fill().fill(new BucketId(world.tenant.id(), Action.CONNECT));
      }
    }
    assertThat(observed.tokens()).as("tokens with seed %d", seed).isEqualTo(enforced.tokens());
    return seen;
  }
}
