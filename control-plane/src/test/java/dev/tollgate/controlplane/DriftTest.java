package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.assertj.core.api.Assertions.tuple;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.controlplane.doctor.TestPolicies;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketRows;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.FunctionQuotas;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Faults.Fault;
import dev.tollgate.core.testing.memory.InMemoryFillSchedules.Scheduled;
import dev.tollgate.http.testing.HttpApiEvents;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The doctor finds and repairs resources that were changed or deleted by hand, and nothing else.
 */
class DriftTest {
  private static final String FILLED =
      """
      {"isolation":"POOL","fillMode":"%s","hibernateAfterMinutes":5,
       "limits":{"tenantPerMinute":4,"sessionPerMinute":5,"connectionsPerSession":2,
                 "tenantConnections":10,"sessionTTL":200,"messagesPerMinute":8}}""";
  private static final BucketId ACME = ControlPlaneFixture.bucket("acme", "connect");
  private static final BucketId SHARED = ControlPlaneFixture.bucket("beta", "connect");
  private static final BucketId UNKNOWN = ControlPlaneFixture.bucket("gamma", "send-email");
  private static final Shard SHARD = Shard.of(SHARED.tenant());
  private static final Shard EMPTY =
      Shard.all().stream().filter(shard -> !shard.equals(SHARD)).findFirst().orElseThrow();
  private static final Scheduled ANY =
      new Scheduled(BucketSpec.ofRate(Rate.perMinute(1)), FillState.State.PRODUCED);

  private static ControlPlaneFixture healthy() {
    ControlPlaneFixture at = new ControlPlaneFixture();
    at.putTier("shared", FILLED.formatted("SHARED"));
    at.onboard("acme", "bronze");
    at.onboard("beta", "shared");
    return at;
  }

  /** Requests a check of {@code limit} resources at a time, and returns all findings. */
  static List<JsonNode> allFindings(ControlPlaneFixture at, String route, int limit) {
    List<JsonNode> findings = new ArrayList<>();
    Map<String, String> query = new HashMap<>(Map.of("limit", Integer.toString(limit)));
    while (true) {
      APIGatewayV2HTTPEvent event = HttpApiEvents.of(route);
      event.setQueryStringParameters(query);
      Answer answer = at.send(event);
      if (answer.status() != 200) {
        throw new Unavailable(answer.document().toString());
      }
      answer.document().get("findings").forEach(findings::add);
      if (!answer.document().has("next")) {
        return findings;
      }
      query.put("cursor", answer.document().get("next").textValue());
    }
  }

  private static List<String> drift(ControlPlaneFixture at) {
    return allFindings(at, "GET /drift", 2).stream().map(DriftTest::described).toList();
  }

  private static String described(JsonNode finding) {
    return "%s %s %s"
        .formatted(
            finding.get("kind").textValue(),
            finding.get("resource").textValue(),
            finding.get("name").textValue());
  }

  private static List<JsonNode> repair(ControlPlaneFixture at) {
    return allFindings(at, "POST /repairs", 2);
  }

  /**
   * A manual change.
   *
   * @param findings the findings of the next check
   * @param isDelayed whether a repair must wait a minute before it can create a queue again
   */
  record ManualChange(
      String name, Consumer<ControlPlaneFixture> apply, List<String> findings, boolean isDelayed) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static ManualChange change(
      String name, Consumer<ControlPlaneFixture> apply, String... findings) {
    return new ManualChange(name, apply, List.of(findings), false);
  }

  static Stream<ManualChange> manualChanges() {
    return Stream.of(
        new ManualChange(
            "queue deleted",
            at -> at.queues.delete(ACME),
            List.of("MISSING queue connect_acme"),
            true),
        change(
            "retention changed",
            at -> at.queues.setLifetime(ACME, Duration.ofMinutes(1)),
            "DIFFERS queue connect_acme"),
        change("row broken", at -> at.buckets.corrupt(ACME), "DIFFERS bucket connect_acme"),
        change(
            "row with a malformed key",
            at -> at.buckets.addStray(ACME.tenant(), "bucket:No Action"),
            "UNSETTLED tenant acme"),
        change(
            "schedule deleted", at -> at.schedules.delete(ACME), "MISSING schedule connect_acme"),
        change(
            "schedule disabled",
            at -> at.schedules.edit(ACME, new Scheduled(ANY.spec(), FillState.State.HIBERNATING)),
            "DIFFERS schedule connect_acme"),
        change(
            "schedule of a shared bucket",
            at -> at.schedules.edit(SHARED, ANY),
            "DIFFERS schedule connect_beta"),
        change(
            "shard deleted", at -> at.schedules.delete(SHARD), "MISSING shard-schedule " + SHARD),
        change(
            "shard disabled", at -> at.schedules.disable(SHARD), "DIFFERS shard-schedule " + SHARD),
        change("shard created", at -> at.schedules.put(EMPTY), "ORPHANED shard-schedule " + EMPTY),
        change("row deleted", at -> at.buckets.remove(ACME), "MISSING bucket connect_acme"),
        change(
            "rate in the row changed",
            at ->
                at.buckets.replace(
                    at.buckets.find(ACME).orElseThrow().retuned(ANY.spec(), at.clock.instant())),
            "DIFFERS bucket connect_acme"),
        change(
            "row suspended",
            at -> {
              Bucket row = at.buckets.find(ACME).orElseThrow();
              at.buckets.replace(row.suspended(row.spec(), at.clock.instant()));
            },
            "DIFFERS bucket connect_acme"),
        change(
            "row created",
            at -> {
              BucketId other = ControlPlaneFixture.bucket("acme", "send-email");
              at.buckets.open(Bucket.opened(other, ANY.spec(), at.clock.instant()));
            },
            "ORPHANED bucket send-email_acme"),
        change(
            "queue created",
            at -> at.queues.ensure(UNKNOWN, Duration.ofDays(14)),
            "ORPHANED queue send-email_gamma"),
        change(
            "schedule created",
            at -> at.schedules.edit(UNKNOWN, ANY),
            "ORPHANED schedule send-email_gamma"),
        change(
            "tenant unsettled",
            at -> at.tenants.replace(at.tenant("acme").orElseThrow().withNextVersion()),
            "UNSETTLED tenant acme"),
        change(
            "tier replaced",
            at ->
                at.tiers.put(
                    at.tiers
                        .find(at.tenant("acme").orElseThrow().tier())
                        .map(
                            tier ->
                                new Tier(
                                        tier.name(),
                                        tier.isolation(),
                                        tier.limits(),
                                        tier.buckets(),
                                        new FillPolicy(tier.fillPolicy().mode(), 7),
                                        tier.onUnavailable(),
                                        tier.line(),
                                        tier.retreat(),
                                        tier.version(),
                                        tier.rolledOut())
                                    .withVersionAfter(tier.version()))
                        .orElseThrow()),
            "UNSETTLED tenant acme"));
  }

  @ParameterizedTest
  @MethodSource("manualChanges")
  void manual_changes_are_found_and_repaired(ManualChange change) {
    ControlPlaneFixture at = healthy();
    assertThat(drift(at)).isEmpty();
    change.apply().accept(at);

    assertThat(drift(at)).isEqualTo(change.findings());
    assertThat(at.pauses).contains(Duration.ofSeconds(2));
    List<JsonNode> repaired = repair(at);

    assertThat(repaired).extracting(DriftTest::described).isEqualTo(change.findings());
    assertThat(repaired)
        .allMatch(finding -> finding.get("repaired").booleanValue() != change.isDelayed())
        .allMatch(finding -> finding.has("reason") == change.isDelayed());
    if (change.isDelayed()) {
      assertThat(drift(at)).containsExactly("UNSETTLED tenant acme");
      at.clock.advance(Duration.ofMinutes(1));
      assertThat(repair(at)).allMatch(finding -> finding.get("repaired").booleanValue());
    }
    at.sweep();
    assertThat(drift(at)).isEmpty();
    at.assertConsistent();
    assertThat(at.schedules.shards()).containsExactly(SHARD);
    assertThat(at.tokens.has(UNKNOWN)).isFalse();
  }

  @Test
  void a_foreign_queue_with_the_name_of_a_bucket_is_reported_and_kept() {
    ControlPlaneFixture at = healthy();
    at.queues.createForeignQueue(UNKNOWN);

    assertThat(drift(at)).containsExactly("ORPHANED queue send-email_gamma");
    assertThat(repair(at))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.get("repaired").booleanValue()).isFalse();
              assertThat(finding.get("reason").textValue()).contains("delete it by hand");
            });

    at.sweep();
    assertThat(at.tokens.has(UNKNOWN)).isTrue();
  }

  @Test
  void a_foreign_queue_stays_when_the_row_of_its_name_is_removed() {
    ControlPlaneFixture at = healthy();
    BucketId billing = ControlPlaneFixture.bucket("acme", "billing");
    at.queues.createForeignQueue(billing);
    at.buckets.open(
        Bucket.opened(billing, BucketSpec.ofRate(Rate.perMinute(1)), at.clock.instant()));

    assertThat(repair(at)).hasSize(2);

    assertThat(at.buckets.has(billing)).isFalse();
    assertThat(at.tokens.has(billing)).isTrue();
    assertThat(drift(at)).containsExactly("ORPHANED queue billing_acme");

    at.queues.createForeignQueue(ACME);
    at.delete("acme");
    at.sweep(2);
    assertThat(at.tenant("acme")).isEmpty();
    assertThat(at.tokens.has(billing)).isTrue();
    assertThat(at.tokens.has(ACME)).isTrue();
    assertThat(at.context.logged())
        .anyMatch(line -> line.contains("queue connect_acme is kept: it lacks"));
  }

  @Test
  void a_foreign_queue_is_not_used_for_a_new_bucket() {
    ControlPlaneFixture at = healthy();
    BucketId connect = ControlPlaneFixture.bucket("delta", "connect");
    at.queues.createForeignQueue(connect);

    at.onboard("delta", "bronze");
    at.sweep(2);

    assertThat(at.queues.owner(connect)).isEqualTo(BucketQueues.Owner.OTHER);
    assertThat(at.buckets.has(connect)).isFalse();
    assertThat(at.tenant("delta").orElseThrow().isSettled()).isFalse();
    at.delete("delta");
    at.sweep(2);
    assertThat(at.tokens.has(connect)).isTrue();
    assertThat(at.tenant("delta")).isEmpty();
  }

  @Test
  void an_untagged_queue_is_used_for_a_bucket_with_a_row() {
    ControlPlaneFixture at = healthy();
    at.queues.createForeignQueue(ACME);
    at.patch("acme", "{\"status\":\"SUSPENDED\"}");

    assertThat(at.queues.owner(ACME)).isEqualTo(BucketQueues.Owner.THIS_DEPLOYMENT);
  }

  @Test
  void a_bucket_with_a_broken_row_gets_no_extra_tokens() {
    ControlPlaneFixture at = healthy();
    long held = at.tokens.available(ACME);
    for (int i = 0; i < 3; i++) {
      at.tokens.settle(
          ACME, at.tokens.reserve(ACME, 10, Duration.ofSeconds(30), TokenQueue.Search.LONG));
    }
    assertThat(at.tokens.available(ACME)).isLessThan(held);
    long left = at.tokens.available(ACME);
    Instant broken = at.clock.instant();
    at.buckets.corrupt(ACME);

    assertThat(repair(at))
        .extracting(DriftTest::described)
        .containsExactly("DIFFERS bucket connect_acme");

    long seconds = Duration.between(broken, at.clock.instant()).toSeconds();
    assertThat(at.tokens.available(ACME)).isBetween(left, left + seconds + 1);
  }

  @Test
  void an_unreadable_row_does_not_prevent_suspension_or_offboarding() {
    ControlPlaneFixture at = healthy();
    at.buckets.corrupt(ACME);
    at.buckets.corrupt(ControlPlaneFixture.bucket("acme", "billing"));
    at.buckets.addStray(ACME.tenant(), "bucket:No Action");

    assertThat(at.get("acme").status()).isEqualTo(200);
    assertThat(at.patch("acme", "{\"status\":\"SUSPENDED\"}").status()).isEqualTo(200);
    assertThat(at.tenant("acme").orElseThrow().isSettled()).isTrue();
    assertThat(at.buckets.find(ACME).orElseThrow().fillState().state())
        .isEqualTo(FillState.State.SUSPENDED);

    at.buckets.corrupt(ACME);
    at.buckets.corrupt(ControlPlaneFixture.bucket("acme", "billing"));
    at.buckets.addStray(ACME.tenant(), "bucket:No Action");
    at.delete("acme");
    at.sweep(2);
    assertThat(at.tenant("acme")).isEmpty();
    assertThat(at.buckets.list(ACME.tenant())).isEqualTo(new BucketRows(List.of()));
    assertThat(drift(at)).isEmpty();
  }

  @Test
  void a_repair_without_findings_changes_nothing() {
    ControlPlaneFixture at = healthy();
    long version = at.tenant("acme").orElseThrow().version();
    at.faults.none();

    assertThat(repair(at)).isEmpty();

    assertThat(at.faults.calls())
        .noneMatch(call -> call.matches(".*\\.(put|make|keep|delete|replace|remove|markObserved)"));
    assertThat(at.tenant("acme").orElseThrow().version()).isEqualTo(version);
  }

  @Test
  void a_report_shows_type_and_number_of_the_checked_resources() {
    ControlPlaneFixture at = healthy();
    List<String> checked = new ArrayList<>();
    Map<String, String> query = new HashMap<>(Map.of("limit", "3"));
    do {
      APIGatewayV2HTTPEvent event = HttpApiEvents.of("GET /drift");
      event.setQueryStringParameters(query);
      JsonNode part = at.send(event).document();
      checked.add(part.get("checked").asText() + " " + part.get("resources").textValue());
      query.remove("cursor");
      Optional.ofNullable(part.get("next"))
          .ifPresent(next -> query.put("cursor", next.textValue()));
    } while (query.containsKey("cursor"));

    assertThat(checked)
        .containsExactly(
            "2 tenants", "3 queues", "1 queues", "2 schedules", "16 shards", "5 quotas");
  }

  /**
   * The bucket changes through all its states within an hour: with claims, without claims,
   * suspended and active again.
   */
  @ParameterizedTest
  @ValueSource(strings = {"PRODUCER", "SHARED", "DIRECT"})
  void a_healthy_deployment_has_no_findings_in_any_bucket_state(String mode) {
    ControlPlaneFixture at = new ControlPlaneFixture();
    at.putTier("own", FILLED.formatted(mode));
    at.onboard("acme", "own");
    List<FillState.State> states = new ArrayList<>();
    for (int minute = 0; minute < 60; minute++) {
      at.clock.advance(Duration.ofMinutes(1));
      if (minute == 30) {
        at.maintenance().maintainOnRequest(ACME, Instant.MAX);
      }
      if (minute == 40) {
        at.patch("acme", "{\"status\":\"SUSPENDED\"}");
      }
      if (minute == 45) {
        at.patch("acme", "{\"status\":\"ACTIVE\"}");
      }
      for (Bucket row : at.buckets.list(ACME.tenant()).buckets()) {
        FillState.State state = row.fillState().state();
        states.add(state);
        if (state == FillState.State.PRODUCED) {
          at.maintenance().maintain(row.id(), Instant.MAX);
        } else if (state == FillState.State.DIRECT && row.shardDueAt().isPresent() && minute > 36) {
          at.maintenance().maintainInShard(row.id(), Instant.MAX);
        }
      }
      assertThat(drift(at)).as("minute %s, %s", minute, states).isEmpty();
    }
    assertThat(states)
        .contains(FillState.State.PRODUCED, FillState.State.SUSPENDED)
        .contains(mode.equals("DIRECT") ? FillState.State.DIRECT : FillState.State.HIBERNATING);
  }

  @Test
  void a_bucket_woken_during_a_check_is_not_reported() {
    ControlPlaneFixture sleeping = asleep();
    sleeping.faults.none();
    assertThat(drift(sleeping)).isEmpty();
    int calls = sleeping.faults.calls().size();

    for (int call = 1; call <= calls; call++) {
      ControlPlaneFixture at = asleep();
      at.faults.plan(
          call, Faults.concurrently(() -> at.maintenance().maintainOnRequest(ACME, Instant.MAX)));

      assertThat(drift(at)).as("woken before call %s", call).isEmpty();
    }
  }

  private static ControlPlaneFixture asleep() {
    ControlPlaneFixture at = healthy();
    Bucket row = at.buckets.find(ACME).orElseThrow();
    at.clock.advance(Duration.ofMinutes(1));
    Bucket next = row.hibernating(at.clock.instant());
    at.buckets.replace(next);
    at.schedules.put(next);
    return at;
  }

  @Test
  void a_tenant_onboarded_during_the_repair_of_an_orphan_gets_all_resources() {
    Consumer<ControlPlaneFixture> orphans =
        at -> {
          at.queues.ensure(ControlPlaneFixture.bucket("gamma", "connect"), Duration.ofDays(14));
          at.schedules.edit(ControlPlaneFixture.bucket("gamma", "connect"), ANY);
          at.schedules.put(Shard.of(new TenantId("gamma")));
        };
    assertOnboardingIsSafe(orphans);
  }

  @Test
  void a_shard_that_gets_its_first_bucket_during_a_repair_has_a_schedule() {
    assertOnboardingIsSafe(at -> at.schedules.put(Shard.of(new TenantId("gamma"))));
  }

  private static void assertOnboardingIsSafe(Consumer<ControlPlaneFixture> orphans) {
    ControlPlaneFixture alone = healthy();
    orphans.accept(alone);
    alone.faults.none();
    assertThat(repair(alone)).isNotEmpty();
    List<String> calls = alone.faults.calls();

    for (int call = 1; call <= calls.size(); call++) {
      ControlPlaneFixture at = healthy();
      orphans.accept(at);
      at.faults.plan(call, Faults.concurrently(() -> at.onboard("gamma", "shared")));
      repair(at);
      at.faults.none();
      try {
        at.sweep(2);
        assertThat(drift(at)).isEmpty();
        at.assertConsistent();
      } catch (AssertionError different) {
        fail("onboarded before call " + call + " of " + calls, different);
      }
    }
  }

  static Stream<Arguments> disturbances() {
    return Stream.of(
        Arguments.of("unreachable", Faults.UNREACHABLE),
        Arguments.of("answer lost", Faults.ANSWER_LOST),
        Arguments.of("killed", Faults.KILLED));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("disturbances")
  void a_disturbed_repair_is_finished_by_its_repetition(String name, Fault fault) {
    Consumer<ControlPlaneFixture> damage =
        at -> {
          at.schedules.delete(ACME);
          at.queues.setLifetime(SHARED, Duration.ofMinutes(1));
          at.schedules.disable(SHARD);
          at.schedules.put(EMPTY);
          at.queues.ensure(UNKNOWN, Duration.ofDays(14));
          at.schedules.edit(UNKNOWN, ANY);
        };
    ControlPlaneFixture undisturbed = healthy();
    damage.accept(undisturbed);
    undisturbed.faults.none();
    assertThat(repair(undisturbed)).hasSize(6);
    List<String> calls = undisturbed.faults.calls();

    for (int call = 1; call <= calls.size(); call++) {
      ControlPlaneFixture at = healthy();
      damage.accept(at);
      at.faults.plan(call, fault);
      try {
        repair(at);
      } catch (Faults.Killed | Unavailable | IllegalStateException expected) {
        // The process was killed or reported a failure; its changes stay.
      }
      at.faults.none();
      try {
        repair(at);
        assertThat(drift(at)).isEmpty();
        at.assertConsistent();
        assertThat(at.schedules.shards()).containsExactly(SHARD);
      } catch (AssertionError different) {
        fail("disturbed at call " + call + " of " + calls, different);
      }
    }
  }

  @Test
  void a_finding_without_time_for_its_repair_is_reported_as_not_repaired() {
    ControlPlaneFixture at = healthy();
    at.schedules.delete(ACME);
    at.context = new dev.tollgate.http.testing.RecordingContext(Duration.ofSeconds(9));
    at.faults.plan(1, Faults.concurrently(() -> at.clock.advance(Duration.ofSeconds(2))));

    APIGatewayV2HTTPEvent event = HttpApiEvents.of("POST /repairs");
    assertThat(at.send(event).status()).isEqualTo(503);
    assertThat(at.schedules.has(ACME)).isFalse();
  }

  @Test
  void a_quota_below_what_the_deployment_needs_is_reported_and_not_repaired() {
    ControlPlaneFixture at = healthy();
    at.onboard("delta", "gold");
    at.siloFunctions.allow(new FunctionQuotas(16, 160, 16));
    assertThat(drift(at)).isEmpty();

    at.siloFunctions.allow(new FunctionQuotas(10, 159, 16));
    List<JsonNode> findings = repair(at);

    assertThat(findings)
        .extracting(DriftTest::described, finding -> finding.get("detail").textValue())
        .containsExactly(
            tuple(
                "TOO_LOW quota concurrent-executions",
                "10 executions at once without a reservation (expected: at least 16, one for each"
                    + " of the stack's 15 functions and of 1 silos)"),
            tuple(
                "TOO_LOW quota code-storage",
                "159 bytes free, room for 9 more silos of 16 bytes (expected: for at least 10)"));
    assertThat(findings)
        .allSatisfy(
            finding -> {
              assertThat(finding.get("repaired").booleanValue()).isFalse();
              assertThat(finding.get("reason").textValue()).contains("Service Quotas");
            });
  }

  @Test
  void a_changed_policy_of_the_credentials_is_reported_and_not_repaired() {
    ControlPlaneFixture at = healthy();
    at.credentialsPolicy.set(Optional.of(TestPolicies.deployed().replace("dynamodb:Scan", "a:b")));

    assertThat(repair(at))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(described(finding)).isEqualTo("DIFFERS table-policy Tollgate-Credentials");
              assertThat(finding.get("detail").textValue())
                  .isEqualTo(
                      "no denial of Scan (expected: rows denied to all principals but the"
                          + " deployment's 2 roles, copies denied to everybody)");
              assertThat(finding.get("repaired").booleanValue()).isFalse();
              assertThat(finding.get("reason").textValue()).contains("by hand");
            });
  }

  @Test
  void a_policy_that_cannot_be_read_is_reported_beside_the_other_findings() {
    ControlPlaneFixture at = healthy();
    at.siloFunctions.allow(new FunctionQuotas(10, 160, 16));
    // The message of each answer has another request id.
    at.credentialsPolicy.fail("DynamoDB GetResourcePolicy: denied, request 1");
    at.credentialsPolicy.fail("DynamoDB GetResourcePolicy: denied, request 2");

    assertThat(repair(at))
        .extracting(DriftTest::described, finding -> finding.path("detail").textValue())
        .containsExactly(
            tuple(
                "TOO_LOW quota concurrent-executions",
                "10 executions at once without a reservation (expected: at least 15, one for each"
                    + " of the stack's 15 functions and of 0 silos)"),
            tuple(
                "UNCHECKED table-policy Tollgate-Credentials",
                "could not be checked: DynamoDB GetResourcePolicy: denied, request 2"));
  }

  @Test
  void a_weak_policy_that_the_second_check_cannot_read_is_still_reported() {
    ControlPlaneFixture at = healthy();
    at.credentialsPolicy.set(Optional.empty());
    at.duringPauses = pause -> at.credentialsPolicy.fail("throttled");

    assertThat(drift(at)).containsExactly("UNCHECKED table-policy Tollgate-Credentials");
  }

  @Tag("nightly")
  @Test
  void more_than_500_tenants_with_own_schedules_are_reported_and_not_repaired() {
    ControlPlaneFixture at = healthy();
    at.deploy(10_000);
    for (int i = 1; i < 500; i++) {
      at.onboard("many-" + i, "bronze");
    }
    assertThat(drift(at)).isEmpty();

    at.onboard("one-more", "bronze");
    List<JsonNode> findings = repair(at);

    assertThat(findings)
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(described(finding)).isEqualTo("TOO_LOW quota producer-schedules");
              assertThat(finding.get("detail").textValue())
                  .isEqualTo(
                      "501 active tenants have 1,002 schedules of the fill mode PRODUCER, which fire"
                          + " once a minute: up to 1,000 invocations a second, or 200 of the account's"
                          + " concurrent executions (expected: at most 500 such tenants)");
              assertThat(finding.get("repaired").booleanValue()).isFalse();
              assertThat(finding.get("reason").textValue()).contains("SHARED");
            });
  }

  @Test
  void more_than_500_tenants_without_shared_credentials_are_reported_and_not_repaired() {
    ControlPlaneFixture at = healthy();
    at.deploy(10_000);
    for (int i = 2; i < 500; i++) {
      at.onboard("many-" + i, "shared");
    }
    at.deployWithoutSharedCredentials();
    assertThat(drift(at)).isEmpty();

    at.onboard("one-more", "shared");
    List<JsonNode> findings = repair(at);

    assertThat(findings)
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(described(finding)).isEqualTo("TOO_LOW quota assume-role");
              assertThat(finding.get("detail").textValue()).startsWith("501 active tenants");
              assertThat(finding.get("repaired").booleanValue()).isFalse();
              assertThat(finding.get("reason").textValue()).contains("shareCredentials");
            });

    at.patch("acme", "{\"status\":\"SUSPENDED\"}");
    assertThat(drift(at)).as("a suspended tenant needs no credentials").isEmpty();
  }

  @Test
  void connect_rates_above_the_quota_of_new_connections_are_reported_and_not_repaired() {
    ControlPlaneFixture at = healthy();
    long perMinute =
        at.tenants.list(Optional.empty(), 100).items().stream()
            .mapToLong(tenant -> tenant.limits().get(Limit.TENANT_PER_MINUTE))
            .sum();
    int needed = (int) ((perMinute + 59) / 60);
    at.deploy(needed);
    assertThat(drift(at)).isEmpty();

    at.deploy(needed - 1);
    List<JsonNode> findings = repair(at);

    assertThat(findings)
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(described(finding)).isEqualTo("TOO_LOW quota new-connections");
              assertThat(finding.get("detail").textValue())
                  .isEqualTo(
                      "%d new connections a second (expected: at least %d, which the connect rates"
                          + " of 2 active tenants allow together)",
                      needed - 1, needed);
              assertThat(finding.get("repaired").booleanValue()).isFalse();
              assertThat(finding.get("reason").textValue()).contains("L-9ED1E49A");
            });

    at.patch("acme", "{\"status\":\"SUSPENDED\"}");
    assertThat(drift(at)).as("a suspended tenant opens no connections").isEmpty();
  }

  @Test
  void a_tenant_whose_tier_was_deleted_is_reconciled_and_reported() {
    ControlPlaneFixture at = healthy();
    at.tiers.remove(at.tenant("beta").orElseThrow().tier(), 1);
    at.queues.setLifetime(SHARED, Duration.ofMinutes(1));

    List<JsonNode> findings = repair(at);

    assertThat(findings)
        .extracting(DriftTest::described)
        .containsExactly("UNSETTLED tenant beta", "DIFFERS queue connect_beta");
    assertThat(findings).noneMatch(finding -> finding.get("repaired").booleanValue());
    assertThat(at.tokens.lifetime(SHARED)).isEqualTo(Duration.ofDays(14));
    assertThat(drift(at)).containsExactly("UNSETTLED tenant beta");
    assertThat(allFindings(at, "GET /drift", 2)).noneMatch(finding -> finding.has("pending"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"tenant unsettled", "tier replaced"})
  void a_difference_that_the_sweep_removes_is_pending(String name) {
    ControlPlaneFixture at = healthy();
    manualChanges().filter(change -> change.name().equals(name)).forEach(c -> c.apply().accept(at));

    assertThat(allFindings(at, "GET /drift", 2))
        .hasSize(1)
        .allMatch(finding -> finding.get("pending").booleanValue());
    at.sweep();
    assertThat(drift(at)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{}"})
  void a_repair_needs_no_body(String body) {
    assertThat(healthy().send(HttpApiEvents.of("POST /repairs", Map.of(), body)).status())
        .isEqualTo(200);
  }

  @Test
  void a_cursor_of_another_listing_and_a_body_with_fields_are_refused() {
    ControlPlaneFixture at = healthy();
    String next = at.send(HttpApiEvents.of("GET /drift")).document().get("next").textValue();
    APIGatewayV2HTTPEvent event = HttpApiEvents.of("POST /repairs");
    event.setQueryStringParameters(Map.of("cursor", next));

    assertThat(at.send(event).status()).isEqualTo(400);
    assertThat(
            at.send(HttpApiEvents.of("POST /repairs", Map.of(), "{\"tenantId\":\"acme\"}"))
                .status())
        .isEqualTo(400);
  }
}
