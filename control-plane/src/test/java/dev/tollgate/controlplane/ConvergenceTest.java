package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Faults.Fault;
import dev.tollgate.http.testing.RecordingContext;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A fault at any call of a port does not change the end state of a call of the API. */
class ConvergenceTest {
  private static final String WITH_EMAILS =
      """
      {"isolation":"POOL","buckets":{"send-email":{"ratePerMinute":0.2,"capacity":5}},
       "limits":{"tenantPerMinute":30,"sessionPerMinute":5,"connectionsPerSession":2,
                 "tenantConnections":10,"sessionTTL":200,"messagesPerMinute":60}}""";
  private static final String WITHOUT_EMAILS =
      """
      {"isolation":"SILO","fillMode":"SHARED",
       "limits":{"tenantPerMinute":90,"sessionPerMinute":5,"connectionsPerSession":2,
                 "tenantConnections":10,"sessionTTL":200,"messagesPerMinute":60}}""";

  /** Gold, but with few messages a minute: each is a token that every fixture would put. */
  private static final String GOLD_TIER =
      """
      {"isolation":"SILO",
       "limits":{"tenantPerMinute":180,"sessionPerMinute":30,"connectionsPerSession":10,
                 "tenantConnections":1000,"sessionTTL":300,"messagesPerMinute":60}}""";

  private static final String GOLD = "{\"tier\":\"gold\"}";
  private static final String BRONZE = "{\"tier\":\"bronze\"}";
  private static final Release NEXT = new Release("processor:2");

  /** The minutes until a silo is closed, surely empty and removed. */
  private static final int MINUTES_TO_DRAIN = 3;

  /** Every how many calls another call comes between: by default at half of them. */
  private static final int STRIDE = Integer.getInteger("tests.times", 1) > 1 ? 1 : 2;

  /**
   * A call of the API or of the sweep, and the calls before it.
   *
   * @param minutes the minutes until its changes are complete, if nothing fails
   */
  record Scenario(
      String name,
      Consumer<ControlPlaneFixture> before,
      Consumer<ControlPlaneFixture> call,
      int minutes) {
    Scenario(
        String name, Consumer<ControlPlaneFixture> before, Consumer<ControlPlaneFixture> call) {
      this(name, before, call, 0);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static final List<Scenario> SCENARIOS =
      List.of(
          new Scenario("onboard", at -> {}, at -> at.onboard("acme", "bronze")),
          new Scenario(
              "change tier",
              at -> at.onboard("acme", "bronze"),
              at -> at.patch("acme", "{\"tier\":\"silver\"}")),
          new Scenario(
              "lose a bucket",
              at -> {
                at.putTier("own", WITH_EMAILS);
                at.onboard("acme", "own");
              },
              at -> at.patch("acme", "{\"tier\":\"bronze\"}")),
          new Scenario(
              "suspend",
              at -> at.onboard("acme", "bronze"),
              at -> at.patch("acme", "{\"status\":\"SUSPENDED\"}")),
          new Scenario(
              "activate",
              at -> {
                at.onboard("acme", "bronze");
                at.patch("acme", "{\"status\":\"SUSPENDED\"}");
              },
              at -> at.patch("acme", "{\"status\":\"ACTIVE\"}")),
          new Scenario("offboard", ConvergenceTest::onboardWithSockets, at -> at.delete("acme")),
          new Scenario(
              "roll out a tier",
              at -> {
                at.putTier("own", WITH_EMAILS);
                at.onboard("acme", "own");
                at.onboard("beta", "own");
                at.onboard("gamma", "bronze");
              },
              at -> at.putTier("own", WITHOUT_EMAILS)),
          new Scenario(
              "suspend with sockets",
              ConvergenceTest::onboardWithSockets,
              at -> at.patch("acme", "{\"status\":\"SUSPENDED\"}")),
          new Scenario("onboard a silo", at -> {}, at -> at.onboard("acme", "gold")),
          new Scenario(
              "move to a silo", at -> at.onboard("acme", "bronze"), at -> at.patch("acme", GOLD)),
          new Scenario(
              "leave a silo",
              ConvergenceTest::onboardWithTraffic,
              at -> at.patch("acme", BRONZE),
              MINUTES_TO_DRAIN),
          new Scenario(
              "leave a silo whose function was never created",
              at -> {
                at.siloFunctions.outage().begin();
                onboardWithTraffic(at);
                at.siloFunctions.outage().end();
              },
              at -> at.patch("acme", BRONZE),
              MINUTES_TO_DRAIN + 2),
          new Scenario(
              "drain",
              at -> {
                onboardWithTraffic(at);
                at.patch("acme", BRONZE);
              },
              at -> at.sweep(MINUTES_TO_DRAIN),
              1),
          new Scenario(
              "return while draining",
              at -> {
                onboardWithTraffic(at);
                at.patch("acme", BRONZE);
                at.sweep(1);
              },
              at -> at.patch("acme", GOLD)),
          new Scenario(
              "return after draining",
              at -> {
                onboardWithTraffic(at);
                at.patch("acme", BRONZE);
                at.sweep(MINUTES_TO_DRAIN);
              },
              at -> at.patch("acme", GOLD),
              1),
          new Scenario(
              "offboard a silo", ConvergenceTest::onboardWithTraffic, at -> at.delete("acme")),
          new Scenario(
              "offboard while draining",
              at -> {
                onboardWithTraffic(at);
                at.patch("acme", BRONZE);
                at.sweep(1);
              },
              at -> at.delete("acme")),
          new Scenario(
              "new release",
              at -> {
                onboardWithTraffic(at);
                at.sweep();
                at.onboard("beta", "bronze");
                at.onboard("gamma", "gold");
              },
              at -> {
                at.deploy(NEXT);
                at.sweep(1);
              },
              2),
          new Scenario("new tier", at -> {}, at -> at.putTier("own", WITH_EMAILS)),
          new Scenario(
              "delete tier", at -> at.putTier("own", WITH_EMAILS), at -> at.deleteTier("own")));

  private static ControlPlaneFixture fixture() {
    ControlPlaneFixture fixture = new ControlPlaneFixture();
    fixture.putTier("gold", GOLD_TIER);
    return fixture;
  }

  private static void onboardWithTraffic(ControlPlaneFixture at) {
    at.onboard("acme", "gold");
    at.messages.send();
    at.messages.process();
    at.messages.send();
    at.messages.sendDeadLetter();
  }

  private static void onboardWithSockets(ControlPlaneFixture at) {
    at.onboard("acme", "bronze");
    TenantId acme = new TenantId("acme");
    for (int i = 0; i < 2; i++) {
      SessionId id = new SessionId(Integer.toString(i).repeat(32));
      at.sessions.create(
          new Session(
              acme, id, Set.of(), ControlPlaneFixture.START.plusSeconds(60), Optional.empty()));
      at.sessions.join(
          acme,
          id,
          "socket-" + i,
          2,
          Gcra.perMinute(5),
          Optional.empty(),
          ControlPlaneFixture.START,
          ControlPlaneFixture.START);
      at.sessions.countUp(acme, 10);
    }
    Session noting = at.sessions.list(acme).get(0);
    at.sessions.extend(
        noting,
        noting.endsAt(),
        Map.of("m", ControlPlaneFixture.START.plusSeconds(600)),
        ControlPlaneFixture.START);
  }

  static Stream<Arguments> disturbances() {
    return SCENARIOS.stream()
        .flatMap(
            scenario ->
                Stream.of(
                    Arguments.of(scenario, "unreachable", Faults.UNREACHABLE),
                    Arguments.of(scenario, "answer lost", Faults.ANSWER_LOST),
                    Arguments.of(scenario, "killed", Faults.KILLED)));
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("disturbances")
  void a_disturbed_call_is_finished_by_the_sweep_or_its_repetition(
      Scenario scenario, String name, Fault fault) {
    ControlPlaneFixture undisturbed = fixture();
    scenario.before().accept(undisturbed);
    undisturbed.faults.none();
    undisturbed.context = new RecordingContext(Duration.ofSeconds(29));
    scenario.call().accept(undisturbed);
    int calls = undisturbed.faults.calls().size();
    if (scenario.minutes() == 0) {
      assertThat(undisturbed.context.logged()).isEmpty();
    }
    undisturbed.sweep(scenario.minutes());
    undisturbed.assertConsistent();
    assertThat(calls).isPositive();

    for (int at = 1; at <= calls; at++) {
      ControlPlaneFixture disturbed = fixture();
      scenario.before().accept(disturbed);
      disturbed.faults.plan(at, fault);
      try {
        scenario.call().accept(disturbed);
      } catch (Faults.Killed | Unavailable expected) {
        // The process or a sweep was killed; its changes stay.
      }
      disturbed.faults.none();
      try {
        disturbed.sweep(scenario.minutes() + 1);
        disturbed.assertConsistent();
        scenario.call().accept(disturbed);
        disturbed.sweep(scenario.minutes() + 1);
        disturbed.assertConsistent();
        if (disturbed.tenant("acme").isPresent()) {
          disturbed.messages.assertNothingIsLost();
        } else {
          assertThat(disturbed.sessions.count(new TenantId("acme"))).isZero();
        }
        assertThat(disturbed.snapshot().rows()).isEqualTo(undisturbed.snapshot().rows());
        assertThat(disturbed.snapshot().schedules()).isEqualTo(undisturbed.snapshot().schedules());
        assertThat(processedMessages(disturbed)).isEqualTo(processedMessages(undisturbed));
      } catch (AssertionError different) {
        fail("disturbed at call " + at + " of " + undisturbed.faults.calls(), different);
      }
    }
  }

  /** The processed messages of each session. */
  private static Map<SessionId, Map<String, Instant>> processedMessages(ControlPlaneFixture at) {
    return at.sessions.list(new TenantId("acme")).stream()
        .collect(Collectors.toMap(Session::id, Session::processed));
  }

  static Stream<Arguments> pairs() {
    return SCENARIOS.stream()
        .flatMap(
            first ->
                Stream.of(
                    Arguments.of(first, "onboard", call(at -> at.onboard("acme", "bronze"))),
                    Arguments.of(
                        first, "silver", call(at -> at.patch("acme", "{\"tier\":\"silver\"}"))),
                    Arguments.of(first, "gold", call(at -> at.patch("acme", GOLD))),
                    Arguments.of(
                        first,
                        "suspend",
                        call(at -> at.patch("acme", "{\"status\":\"SUSPENDED\"}"))),
                    Arguments.of(first, "offboard", call(at -> at.delete("acme"))),
                    Arguments.of(first, "tier", call(at -> at.putTier("own", WITHOUT_EMAILS))),
                    Arguments.of(first, "bronze", call(at -> at.putTier("bronze", WITH_EMAILS))),
                    Arguments.of(first, "sweep", call(ControlPlaneFixture::sweep))));
  }

  private static Consumer<ControlPlaneFixture> call(Consumer<ControlPlaneFixture> call) {
    return call;
  }

  @ParameterizedTest(name = "{0} while {1}")
  @MethodSource("pairs")
  void two_concurrent_calls_end_in_the_desired_state(
      Scenario scenario, String name, Consumer<ControlPlaneFixture> other) {
    ControlPlaneFixture alone = fixture();
    scenario.before().accept(alone);
    alone.faults.none();
    scenario.call().accept(alone);
    List<String> calls = alone.faults.calls();

    int first = 1 + Math.floorMod((scenario.name() + name).hashCode(), STRIDE);
    for (int at = first; at <= calls.size(); at += STRIDE) {
      ControlPlaneFixture shared = fixture();
      scenario.before().accept(shared);
      shared.faults.plan(at, Faults.concurrently(() -> other.accept(shared)));
      scenario.call().accept(shared);
      shared.faults.none();
      try {
        shared.sweep(scenario.minutes() + MINUTES_TO_DRAIN + 2);
        shared.assertConsistent();
        if (!(scenario.name() + name).contains("offboard")) {
          shared.messages.assertNothingIsLost();
        }
      } catch (AssertionError inconsistent) {
        fail("interrupted before call " + at + " of " + calls, inconsistent);
      }
    }
  }
}
