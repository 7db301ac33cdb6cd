package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.session.Correction;
import dev.tollgate.core.testing.Faults;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The doctor finds connections that were admitted without a token, and nothing else. */
class OverAdmissionTest {
  private static final String TIER =
      """
      {"isolation":"POOL","fillMode":"%s","hibernateAfterMinutes":5,
       "limits":{"tenantPerMinute":%d,"sessionPerMinute":5,"connectionsPerSession":2,
                 "tenantConnections":1000,"sessionTTL":200,"messagesPerMinute":8}}""";
  private static final BucketId ACME = ControlPlaneFixture.bucket("acme", "connect");
  private static final Duration QUIET = Duration.ofMinutes(3);
  private static final Duration LEASE = Duration.ofSeconds(30);

  private static ControlPlaneFixture onboarded(String mode) {
    ControlPlaneFixture at = new ControlPlaneFixture();
    at.putTier("own", TIER.formatted(mode, 8));
    at.onboard("acme", "own");
    return at;
  }

  private static void count(ControlPlaneFixture at, int connections, boolean withToken) {
    for (int i = 0; i < connections; i++) {
      at.sessions.countUp(ACME.tenant(), "c" + i, 10_000, withToken, at.clock.instant());
    }
  }

  /** Connects with tokens, which are spent. Returns how many there were. */
  private static int connect(ControlPlaneFixture at, int max) {
    List<Lease> leases = at.tokens.reserve(ACME, max, LEASE, Search.LONG);
    at.tokens.settle(ACME, leases);
    count(at, leases.size(), true);
    return leases.size();
  }

  private static void fillMinutes(ControlPlaneFixture at, int minutes) {
    for (int i = 0; i < minutes; i++) {
      at.clock.advance(Duration.ofMinutes(1));
      at.maintenance().maintain(ACME, Instant.MAX);
    }
  }

  private static List<JsonNode> findings(ControlPlaneFixture at, String route) {
    return DriftTest.allFindings(at, route, 2);
  }

  private static List<String> details(ControlPlaneFixture at) {
    return findings(at, "GET /drift").stream()
        .filter(finding -> finding.get("kind").textValue().equals("OVER_ADMITTED"))
        .map(finding -> finding.get("detail").textValue())
        .toList();
  }

  private static void assertFound(ControlPlaneFixture at) {
    assertThat(findings(at, "GET /drift"))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.get("kind").textValue()).isEqualTo("OVER_ADMITTED");
              assertThat(finding.get("resource").textValue()).isEqualTo("bucket");
              assertThat(finding.get("name").textValue()).isEqualTo("connect_acme");
              assertThat(finding.get("tenantId").textValue()).isEqualTo("acme");
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"PRODUCER", "SHARED"})
  void one_connection_more_than_tokens_is_found_and_not_repaired(String mode) {
    ControlPlaneFixture at = onboarded(mode);
    assertThat(connect(at, 3)).isEqualTo(3);
    at.tokens.reserve(ACME, 2, Duration.ofMinutes(10), Search.LONG);
    at.clock.advance(QUIET);
    assertThat(findings(at, "GET /drift")).isEmpty();

    count(at, 1, true);
    assertThat(findings(at, "GET /drift")).as("the queue's count may be old").isEmpty();
    at.clock.advance(QUIET);

    assertFound(at);
    assertThat(details(at))
        .containsExactly(
            "4 connections admitted with a token, 3 tokens gone: 8 minted, 3 in the queue, 2 in"
                + " flight (expected: at least 4 tokens gone)");
    assertThat(findings(at, "POST /repairs"))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.get("repaired").booleanValue()).isFalse();
              assertThat(finding.get("reason").textValue()).contains("repair.md");
            });
  }

  /** Records a connection two minutes ago. */
  private static void use(ControlPlaneFixture at) {
    at.history.add(
        at.clock.instant().toString(),
        List.of(
            new Change(
                ACME.tenant(),
                at.clock.instant().truncatedTo(ChronoUnit.MINUTES).minusSeconds(120),
                new Counts(1, Map.of(), 1, Map.of()))));
  }

  /** The metric lines of the sweeps of an hour, in each minute of which the tenant is in use. */
  private static List<String> watched(ControlPlaneFixture at) {
    int before = at.context.logged().size();
    for (int minute = 0; minute < 60; minute++) {
      at.clock.advance(Duration.ofMinutes(1));
      use(at);
      at.sweep();
    }
    return at.context.logged().stream()
        .skip(before)
        .filter(line -> line.contains("OverAdmitted"))
        .toList();
  }

  /**
   * Sweeps begin 45 seconds after each full minute, for two hours, in which the tenant is in use.
   * One sweep of each hour takes 20 seconds longer before its check, or begins 20 seconds later.
   */
  @ParameterizedTest
  @CsvSource({"-2,0", "-1,0", "0,0", "1,0", "2,0", "-2,20", "-1,20", "0,20", "1,20", "2,20"})
  void a_slow_or_late_sweep_skips_no_tenant(int offset, long late) {
    ControlPlaneFixture at = onboarded("PRODUCER");
    at.sweep(2);
    Instant start = at.clock.instant().truncatedTo(ChronoUnit.MINUTES).plusSeconds(105);
    long turn = Math.floorMod("acme".hashCode(), 60L);
    List<String> checks = new ArrayList<>();
    for (int i = 0; i < 120; i++) {
      Instant begin = start.plusSeconds(60L * i);
      boolean isSlow = Math.floorMod(begin.getEpochSecond() / 60 + offset, 60L) == turn;
      Instant begins = begin.plusSeconds(isSlow ? late : 0);
      at.clock.advance(Duration.between(at.clock.instant(), begins));
      use(at);
      at.faults.none();
      if (isSlow) {
        at.faults.plan(1, Faults.concurrently(() -> at.clock.advance(Duration.ofSeconds(20))));
      }
      at.sweep();
      checks.addAll(
          at.faults.calls().stream().filter(call -> call.startsWith("Activity.of")).toList());
    }
    assertThat(checks).hasSize(2);
  }

  @Test
  void sweep_writes_a_metric_of_an_over_admitted_tenant_once_an_hour() {
    ControlPlaneFixture at = onboarded("PRODUCER");
    connect(at, 8);
    count(at, 5, false);
    at.faults.none();
    assertThat(watched(at)).isEmpty();
    assertThat(at.faults.calls()).filteredOn(call -> call.startsWith("Activity.of")).hasSize(1);

    count(at, 1, true);
    assertThat(watched(at))
        .singleElement()
        .asString()
        .contains("\"OverAdmitted\":1", "\"tenantId\":\"acme\"")
        .contains("9 connections admitted with a token, 8 tokens minted");
    at.delete("acme");
    assertThat(watched(at)).isEmpty();
  }

  @Test
  void more_connections_than_minted_tokens_are_found_while_others_connect() {
    ControlPlaneFixture at = onboarded("PRODUCER");
    connect(at, 8);
    count(at, 1, true);
    at.faults.none();
    assertFound(at);

    for (int call = 1; call <= at.faults.calls().size(); call++) {
      at.faults.plan(call, Faults.concurrently(() -> count(at, 1, true)));
      assertFound(at);
    }
  }

  @Test
  void connections_without_a_token_and_corrected_counts_are_no_over_admission() {
    ControlPlaneFixture at = onboarded("PRODUCER");
    connect(at, 8);
    count(at, 5, false);
    count(at, 2, true);
    at.sessions.countWithoutToken(ACME.tenant());
    at.sessions.correct(
        ACME.tenant(), at.sessions.readCount(ACME.tenant()), new Correction(-1, Map.of()));
    assertThat(details(at)).isEmpty();
    at.clock.advance(QUIET);
    assertThat(details(at)).isEmpty();
    assertThat(at.activity("acme").document().at("/tenants/0/withoutToken").longValue())
        .isEqualTo(7);

    count(at, 1, true);
    assertThat(details(at)).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PRODUCER", "SHARED"})
  void healthy_tenant_has_no_finding_whatever_happens_to_its_tokens(String mode) {
    ControlPlaneFixture at = onboarded(mode);
    connect(at, 5);
    // A storm: tokens are counted as held or in the queue although their connections are admitted.
    for (int second = 0; second < 240; second++) {
      at.clock.advance(Duration.ofSeconds(1));
      if (second % 60 == 0) {
        at.maintenance().maintain(ACME, Instant.MAX);
      }
      List<Lease> leases = at.tokens.reserve(ACME, 10, LEASE, Search.LONG);
      count(at, leases.size(), true);
      if (second % 20 == 0) {
        assertThat(details(at)).as("storm, second %s", second).isEmpty();
      }
      at.tokens.settle(ACME, leases);
    }
    at.clock.advance(QUIET);
    assertThat(details(at)).as("after the storm").isEmpty();

    fillMinutes(at, 20);
    assertThat(at.buckets.find(ACME).orElseThrow().fillState().state())
        .isEqualTo(FillState.State.HIBERNATING);
    assertThat(details(at)).as("hibernating").isEmpty();

    at.clock.advance(Duration.ofDays(15));
    assertThat(details(at)).as("expired").isEmpty();
    at.maintenance().maintainOnRequest(ACME, Instant.MAX);
    assertThat(connect(at, 4)).isEqualTo(4);
    assertThat(details(at)).as("woken").isEmpty();

    at.putTier("own", TIER.formatted(mode, 2));
    at.sweep(2);
    fillMinutes(at, 5);
    assertThat(at.tokens.level(ACME)).isLessThanOrEqualTo(2);
    assertThat(details(at)).as("lower capacity").isEmpty();

    at.delete("acme");
    at.sweep(2);
    at.onboard("acme", "own");
    assertThat(connect(at, 1)).isEqualTo(1);
    at.clock.advance(QUIET);
    assertThat(findings(at, "GET /drift")).as("onboarded again").isEmpty();
    count(at, 1, true);
    at.clock.advance(QUIET);
    assertFound(at);
  }

  static Stream<Consumer<ControlPlaneFixture>> lossesOfTheCount() {
    return Stream.of(
        at -> at.buckets.corrupt(ACME),
        at -> at.buckets.remove(ACME),
        at -> at.buckets.replace(at.buckets.find(ACME).orElseThrow().direct(at.clock.instant())));
  }

  /** The row of a bucket that a schedule filled, or that was recreated, lacks some tokens. */
  @ParameterizedTest
  @MethodSource("lossesOfTheCount")
  void bucket_whose_minted_tokens_are_not_all_counted_is_not_checked(
      Consumer<ControlPlaneFixture> loss) {
    ControlPlaneFixture at = onboarded("PRODUCER");
    connect(at, 8);
    loss.accept(at);
    findings(at, "POST /repairs");
    at.clock.advance(QUIET);

    assertThat(at.buckets.find(ACME).orElseThrow().mintedInFull()).isFalse();
    assertThat(details(at)).isEmpty();
    assertThat(at.get("acme").bucket("connect").has("minted")).isFalse();
  }
}
