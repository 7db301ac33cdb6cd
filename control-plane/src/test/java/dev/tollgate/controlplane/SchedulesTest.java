package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.http.testing.HttpApiEvents;
import dev.tollgate.http.testing.RecordingContext;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits that are multiplied for a while. */
class SchedulesTest {
  private static final Instant OPENS = Instant.parse("2026-03-12T17:00:00Z");
  private static final Instant CLOSES = Instant.parse("2026-03-13T01:00:00Z");
  private static final String ID = "20260312T1700Z";
  private static final String TWICE = body("2", "2026-03-12T18:00", "2026-03-13T02:00");

  private static final String OWN =
      """
      {"isolation":"POOL","limits":{"tenantPerMinute":30,"sessionPerMinute":5,
       "connectionsPerSession":2,"tenantConnections":10,"sessionTTL":200,
       "sessionLifetime":600,"messagesPerMinute":60},
       "buckets":{"send-email":{"refill":{"every":"DAY","at":"00:00","zone":"Europe/Berlin"},
        "capacity":1000}}}""";

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  private static String body(String factor, String from, String to) {
    return """
        {"factor":%s,"from":"%s","to":"%s","zone":"Europe/Berlin"}"""
        .formatted(factor, from, to);
  }

  @BeforeEach
  void onboard() {
    at.context = new RecordingContext(Duration.ofSeconds(50));
    at.putTier("own", OWN);
    at.onboard("acme", "own");
    at.onboard("beta", "own");
    at.patch("beta", "{\"overrides\":{\"tenantPerMinute\":50}}");
  }

  private Answer add(String owner, String body) {
    return at.schedules("POST", owner, "", body, false);
  }

  private Answer cancel(String owner) {
    return at.schedules("DELETE", owner, ID, "", false);
  }

  private long rate(String tenant) {
    Tenant found = at.tenant(tenant).orElseThrow();
    long rate = found.limits().get(Limit.TENANT_PER_MINUTE);
    Map<Action, BucketSpec> rows = new HashMap<>();
    at.buckets
        .list(new TenantId(tenant))
        .buckets()
        .forEach(row -> rows.put(row.id().action(), row.spec()));
    assertThat(rows).isEqualTo(found.buckets());
    assertThat(rows.get(Action.CONNECT).capacity()).isEqualTo(rate);
    return rate;
  }

  private void to(Instant instant) {
    at.clock.advance(Duration.between(at.clock.instant(), instant));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void window_of_a_tier_opens_and_closes_on_time_or_by_the_sweep(boolean punctual) {
    Answer answer = add("tiers/own", TWICE);

    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.document().path("id").asText()).isEqualTo(ID);
    assertThat(answer.document().path("open").asBoolean()).isFalse();
    assertThat(at.windows.timers().values())
        .extracting(timer -> timer.at())
        .containsExactlyInAnyOrder(OPENS, CLOSES);
    assertThat(rate("acme")).isEqualTo(30);
    to(OPENS.minusNanos(1));
    at.sweep();
    at.fire(Subject.tier(new TierName("own")));
    assertThat(rate("acme")).isEqualTo(30);
    to(OPENS);
    move(punctual);
    assertThat(rate("acme")).isEqualTo(60);
    assertThat(rate("beta")).isEqualTo(100);
    assertThat(bucket("acme", "send-email").capacity()).isEqualTo(2_000);
    assertThat(at.get("acme").document().at("/tierSchedules/" + ID + "/open").asBoolean()).isTrue();
    at.onboard("gamma", "own");
    assertThat(rate("gamma")).isEqualTo(60);
    at.assertConsistent();
    to(CLOSES.minusNanos(1));
    move(punctual);
    assertThat(rate("acme")).isEqualTo(60);
    to(CLOSES);
    move(punctual);
    assertThat(rate("acme")).isEqualTo(30);
    assertThat(rate("beta")).isEqualTo(50);
    assertThat(bucket("acme", "send-email").capacity()).isEqualTo(1_000);
    assertThat(at.getTier("own").document().has("schedules")).isFalse();
    at.assertConsistent();
  }

  private BucketSpec bucket(String tenant, String action) {
    return at.buckets.find(ControlPlaneFixture.bucket(tenant, action)).orElseThrow().spec();
  }

  private void move(boolean punctual) {
    if (punctual) {
      at.fire(Subject.tier(new TierName("own")));
      at.fire(Subject.tier(new TierName("own")));
    } else {
      at.sweep();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void window_of_a_tenant_opens_and_closes_on_time_or_by_the_sweep(boolean punctual) {
    assertThat(add("tenants/acme", TWICE).status()).isEqualTo(201);
    to(OPENS);
    moveAcme(punctual);
    assertThat(rate("acme")).isEqualTo(60);
    assertThat(rate("beta")).isEqualTo(50);
    assertThat(at.author.get().who()).startsWith("tollgate:");
    at.patch("acme", "{\"overrides\":{\"tenantPerMinute\":40}}");
    assertThat(rate("acme")).isEqualTo(80);
    at.patch("acme", "{\"tier\":\"bronze\",\"overrides\":{}}");
    assertThat(rate("acme")).isEqualTo(120);
    at.assertConsistent();
    to(CLOSES);
    moveAcme(punctual);
    assertThat(rate("acme")).isEqualTo(60);
    at.assertConsistent();
  }

  private void moveAcme(boolean punctual) {
    if (punctual) {
      at.fire(Subject.tenant(new TenantId("acme")));
      at.fire(Subject.tenant(new TenantId("acme")));
      assertThat(at.author.get()).isNotEqualTo(Author.UNKNOWN);
    } else {
      at.sweep();
    }
  }

  @Test
  void window_that_has_begun_opens_at_once_and_a_missed_one_closes() {
    add("tiers/own", body("3", "2026-03-12T09:00", "2026-03-12T18:00"));
    assertThat(rate("acme")).isEqualTo(90);
    assertThat(at.windows.timers()).hasSize(1);
    add("tiers/own", TWICE);
    to(CLOSES);
    at.sweep();
    assertThat(rate("acme")).isEqualTo(30);
    assertThat(at.getTier("own").document().has("schedules")).isFalse();
  }

  @Test
  void window_is_added_once_and_stays_when_tier_or_tenant_are_changed() {
    add("tiers/own", TWICE);
    add("tenants/acme", TWICE);

    assertThat(add("tiers/own", TWICE).status()).isEqualTo(200);
    assertThat(add("tenants/acme", TWICE).status()).isEqualTo(200);
    at.putTier("own", OWN.replace(":30,", ":31,"));
    at.patch("acme", "{\"overrides\":{\"tenantConnections\":3}}");
    assertThat(at.onboard("acme", "own").status()).isEqualTo(409);
    at.patch("acme", "{\"overrides\":{}}");
    assertThat(at.onboard("acme", "own").status()).isEqualTo(200);
    assertThat(at.getTier("own").document().at("/schedules/" + ID + "/factor").asInt())
        .isEqualTo(2);
    assertThat(at.get("acme").document().at("/schedules/" + ID + "/factor").asInt()).isEqualTo(2);
    assertThat(at.putTier("own", at.getTier("own").document().toString()).status()).isEqualTo(200);
  }

  @Test
  void dry_run_shows_what_changes_when_the_window_opens_and_writes_nothing() {
    var before = at.snapshot();

    Answer ofTier = at.schedules("POST", "tiers/own", "", TWICE, true);
    Answer ofTenant = at.schedules("POST", "tenants/beta", "", TWICE, true);

    assertThat(ofTier.document().at("/totals/changed").asInt()).isEqualTo(2);
    assertThat(ofTier.document().at("/tenants/1/changes/limits/tenantPerMinute/to").asInt())
        .isEqualTo(100);
    assertThat(ofTier.document().at("/changes/schedules/" + ID + "/factor/to").asInt())
        .isEqualTo(2);
    assertThat(ofTenant.document().at("/tenants/0/changes/buckets/connect/capacity/to").asInt())
        .isEqualTo(100);
    assertThat(at.snapshot()).isEqualTo(before);
    assertThat(at.windows.timers()).isEmpty();
    add("tiers/own", TWICE);
    Answer waiting = at.schedules("DELETE", "tiers/own", ID, "", true);
    assertThat(waiting.document().at("/totals/changed").asInt()).isZero();
    to(OPENS);
    at.sweep();
    Answer open = at.schedules("DELETE", "tiers/own", ID, "", true);
    assertThat(open.document().at("/totals/changed").asInt()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tiers/own", "tenants/acme"})
  void cancelled_window_closes_and_its_schedules_are_deleted(String owner) {
    add(owner, TWICE);
    to(OPENS);
    at.sweep();
    assertThat(rate("acme")).isEqualTo(60);

    assertThat(cancel(owner).status()).isEqualTo(204);

    assertThat(rate("acme")).isEqualTo(30);
    assertThat(at.windows.timers()).isEmpty();
    assertThat(cancel(owner).status()).isEqualTo(404);
    at.assertConsistent();
  }

  @Test
  void removed_owner_has_no_schedules() {
    add("tenants/acme", TWICE);
    add("tiers/own", TWICE);
    at.delete("acme");
    assertThat(at.windows.timers().values())
        .extracting(timer -> timer.owner().value())
        .containsOnly("tier/own");
    at.delete("beta");
    at.deleteTier("own");
    assertThat(at.windows.timers()).isEmpty();
    to(OPENS);
    at.fire(Subject.tenant(new TenantId("acme")));
    at.fire(Subject.tier(new TierName("own")));
    at.sweep();
    assertThat(at.tenant("acme")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 | 2026-03-12T18:00 | 2026-03-13T02:00 | factor",
        "101 | 2026-03-12T18:00 | 2026-03-13T02:00 | factor",
        "1 | 2026-03-12T18:00 | 2026-03-13T02:00 | factor",
        "2 | 2026-03-12T18:00 | 2026-03-12T17:00 | to",
        "2 | 2026-03-12T08:00 | 2026-03-12T09:00 | to",
        "2 | 2026-03-12T08:00 | 2026-03-12T25:00 | to",
        "2 | 2026-03-12T20:00 | 2026-03-12T21:00 | from",
        // tenantPerMinute of beta is 50 and of own 30; a capacity is 1,000.
        "100 | 2026-03-14T20:00 | 2026-03-14T21:00 |"
      })
  void bad_input_is_refused_with_the_reason(String factor, String from, String to, String field) {
    add("tiers/own", TWICE);
    add("tenants/acme", TWICE);

    for (String owner : new String[] {"tiers/own", "tenants/acme"}) {
      Answer answer = add(owner, body(factor, from, to));
      assertThat(answer.status()).as(owner).isEqualTo(field == null ? 201 : 400);
      if (field != null) {
        assertThat(answer.document().at("/errors/0/field").asText()).isEqualTo(field);
      }
    }
  }

  @Test
  void unknown_zones_owners_and_schedules_are_refused() {
    assertThat(add("tiers/own", TWICE.replace("Berlin", "Atlantis")).status()).isEqualTo(400);
    assertThat(add("tiers/none", TWICE).status()).isEqualTo(404);
    assertThat(add("tenants/none", TWICE).status()).isEqualTo(404);
    assertThat(cancel("tiers/none").status()).isEqualTo(404);
    assertThat(cancel("tenants/none").status()).isEqualTo(404);
    assertThat(cancel("tiers/own").status()).isEqualTo(404);
    assertThat(at.windows.timers()).isEmpty();
  }

  @Test
  void factor_that_exceeds_a_limit_of_the_owner_or_of_a_tenant_is_refused() {
    at.patch("beta", "{\"overrides\":{\"tenantPerMinute\":20000}}");

    Answer conflict = add("tiers/own", TWICE);
    assertThat(conflict.status()).isEqualTo(409);
    assertThat(conflict.document().path("detail").asText())
        .contains("beta: factor: 2", "tenantPerMinute is 20000, and 40000 is above");
    assertThat(add("tenants/beta", TWICE).status()).isEqualTo(400);
    at.patch("beta", "{\"overrides\":{}}");
    assertThat(add("tiers/own", TWICE).status()).isEqualTo(201);
    assertThat(at.patch("beta", "{\"overrides\":{\"tenantPerMinute\":20000}}").status())
        .isEqualTo(400);
    assertThat(at.putTier("own", OWN.replace(":30,", ":20000,")).status()).isEqualTo(400);
  }

  @Test
  void schedules_are_at_most_twenty() {
    for (int day = 1; day <= LimitSchedules.MAX; day++) {
      String date = "2026-04-%02dT".formatted(day);
      assertThat(add("tiers/own", body("2", date + "10:00", date + "11:00")).status())
          .isEqualTo(201);
    }
    assertThat(add("tiers/own", TWICE).status()).isEqualTo(400);
  }

  @Test
  void doctor_finds_no_drift_while_a_window_is_open_and_reports_and_repairs_missing_schedules() {
    add("tiers/own", TWICE);
    add("tenants/acme", TWICE);
    to(OPENS);
    at.windows.due(OPENS);
    at.sweep();
    assertThat(findings("GET /drift")).isEmpty();

    at.windows.timers().keySet().forEach(at.windows::lose);

    assertThat(findings("GET /drift"))
        .containsOnlyKeys("tier/own/" + ID, "tenant/acme/" + ID)
        .containsValue(
            "no schedule at 2026-03-13T02:00 Europe/Berlin (expected: one; without it"
                + " the sweep is up to a minute late)");
    findings("POST /repairs");
    assertThat(at.windows.timers()).hasSize(2);
    assertThat(findings("GET /drift")).isEmpty();
  }

  private Map<String, String> findings(String route) {
    Map<String, String> findings = new HashMap<>();
    Optional<String> cursor = Optional.empty();
    do {
      var event = HttpApiEvents.of(route);
      event.setQueryStringParameters(new HashMap<>());
      cursor.ifPresent(next -> event.getQueryStringParameters().put("cursor", next));
      Answer answer = at.send(event);
      answer
          .document()
          .path("findings")
          .forEach(
              each -> {
                if (each.path("resource").asText().matches("tenant|bucket|window-schedule")) {
                  findings.put(each.path("name").asText(), each.path("detail").asText());
                }
              });
      cursor = Optional.ofNullable(answer.document().path("next").textValue());
    } while (cursor.isPresent());
    return findings;
  }

  @Test
  void scheduler_that_fails_leaves_everything_as_it_was() {
    at.windows.outage().begin();

    assertThat(add("tiers/own", TWICE).status()).isEqualTo(503);
    assertThat(add("tenants/acme", TWICE).status()).isEqualTo(503);

    at.windows.outage().end();
    assertThat(at.getTier("own").document().has("schedules")).isFalse();
    assertThat(at.get("acme").document().has("schedules")).isFalse();
  }

  @Test
  void dry_run_neither_removes_other_windows_nor_ignores_those_of_tenants_that_open_by_then() {
    String earlier = body("3", "2026-03-12T12:00", "2026-03-12T13:00");
    String own = body("4", "2026-03-12T18:00", "2026-03-12T19:00");
    add("tiers/own", earlier);
    add("tenants/acme", earlier);
    add("tenants/acme", own);

    var document = at.schedules("POST", "tiers/own", "", TWICE, true).document();

    assertThat(document.at("/changes/schedules").properties()).hasSize(1);
    assertThat(document.at("/tenants/0/changes/limits/tenantPerMinute/to").asInt()).isEqualTo(120);
    assertThat(document.at("/tenants/0/changes/schedules").properties()).hasSize(1);
    assertThat(document.at("/tenants/1/changes/limits/tenantPerMinute/to").asInt()).isEqualTo(100);
    var ofTenant = at.schedules("POST", "tenants/beta", "", TWICE, true).document();
    assertThat(ofTenant.at("/tenants/0/changes/limits/tenantPerMinute/to").asInt()).isEqualTo(100);
  }

  @Test
  void window_can_be_cancelled_while_another_one_exceeds_a_limit() {
    add("tiers/own", TWICE);
    add("tiers/own", body("3", "2026-03-14T18:00", "2026-03-14T19:00"));
    add("tenants/beta", TWICE);
    // A request that was checked before the window of the tier was there.
    Tenant beta = at.tenant("beta").orElseThrow();
    at.tenants.replace(
        beta.changed(
            at.tiers.find(beta.tier()).orElseThrow(),
            Overrides.of(Map.of(Limit.TENANT_PER_MINUTE, 20_000L))
                .with(beta.overrides().schedules()),
            beta.status()));

    assertThat(cancel("tenants/beta").status()).isEqualTo(204);
    assertThat(cancel("tiers/own").status()).isEqualTo(204);
  }

  /** As a window may be, once its zone has changed its rules. */
  @ParameterizedTest
  @ValueSource(strings = {"tiers/own", "tenants/acme"})
  void empty_window_can_be_cancelled(String owner) {
    LimitSchedule empty =
        LimitSchedule.of(
            new BigDecimal(2), "2026-03-29T02:30", "2026-03-29T03:30", "Europe/Berlin");
    LimitSchedules stored = new LimitSchedules(List.of(empty));
    Tier own = at.tiers.find(new TierName("own")).orElseThrow();
    at.tiers.put(own.with(stored).withVersionAfter(own.version()));
    Tenant acme = at.tenant("acme").orElseThrow();
    at.tenants.replace(acme.changed(own, acme.overrides().with(stored), acme.status()));

    assertThat(at.schedules("DELETE", owner, empty.id(), "", false).status()).isEqualTo(204);

    assertThat(at.schedules("DELETE", owner, empty.id(), "", false).status()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tiers/own", "tenants/acme"})
  void stale_version_is_refused_and_an_end_that_is_near_is_left_to_the_sweep(String owner) {
    assertThat(conditional("POST", owner, "\"99\"").status()).isEqualTo(412);
    assertThat(at.windows.timers()).isEmpty();
    to(OPENS.minusSeconds(5));
    Answer added = conditional("POST", owner, "*");
    assertThat(added.status()).isEqualTo(201);
    assertThat(at.windows.timers()).hasSize(1);
    assertThat(conditional("DELETE", owner, "\"1\"").status()).isEqualTo(412);
    to(OPENS.plusSeconds(1));
    at.sweep();
    assertThat(rate("acme")).isEqualTo(60);
    assertThat(conditional("DELETE", owner, added.headers().get("etag")).status())
        .as("the window has opened since")
        .isEqualTo(412);
  }

  private Answer conditional(String method, String owner, String ifMatch) {
    String[] parts = owner.split("/", -1);
    String variable = parts[0].equals("tiers") ? "tier" : "tenantId";
    String route = method + " /" + parts[0] + "/{" + variable + "}/schedules";
    var event =
        method.equals("POST")
            ? HttpApiEvents.of(route, Map.of(variable, parts[1]), TWICE)
            : HttpApiEvents.of(route + "/{schedule}", Map.of(variable, parts[1], "schedule", ID));
    event.getHeaders().put("if-match", ifMatch);
    return at.send(event);
  }

  @Test
  void document_that_is_read_while_a_window_is_open_restores_the_limits_without_the_factor() {
    add("tiers/own", TWICE);
    add("tenants/beta", TWICE);
    to(OPENS);
    at.sweep();

    var tier = at.getTier("own").document();
    var overrides = at.get("beta").document().path("overrides");
    assertThat(at.putTier("own", tier.toString()).status()).isEqualTo(200);
    assertThat(at.patch("beta", "{\"overrides\":" + overrides + "}").status()).isEqualTo(200);

    assertThat(rate("acme")).isEqualTo(60);
    to(CLOSES);
    at.sweep();
    assertThat(rate("acme")).isEqualTo(30);
    assertThat(rate("beta")).isEqualTo(50);
    assertThat(at.getTier("own").document().path("limits")).isEqualTo(tier.path("limits"));
    at.assertConsistent();
  }

  @Test
  void tenant_that_is_suspended_moved_or_created_again_has_the_limits_of_the_open_windows() {
    add("tiers/own", TWICE);
    add("tenants/acme", body("3", "2026-03-12T18:00", "2026-03-13T02:00"));
    at.patch("acme", "{\"status\":\"SUSPENDED\"}");
    at.patch("beta", "{\"status\":\"SUSPENDED\"}");
    to(OPENS);
    at.sweep();
    at.assertConsistent();
    at.patch("acme", "{\"status\":\"ACTIVE\"}");
    at.patch("beta", "{\"status\":\"ACTIVE\"}");
    assertThat(rate("acme")).isEqualTo(90);
    assertThat(rate("beta")).isEqualTo(100);
    at.patch("beta", "{\"tier\":\"bronze\"}");
    assertThat(rate("beta")).isEqualTo(50);
    at.delete("acme");
    at.onboard("acme", "own");
    // SQS creates a queue of the same name a minute later.
    at.sweep(2);
    assertThat(rate("acme")).isEqualTo(60);
    at.assertConsistent();
  }

  @Test
  void clock_that_skips_several_windows_leaves_the_limits_of_the_last_one() {
    add("tiers/own", TWICE);
    add("tiers/own", body("3", "2026-03-13T02:00", "2026-03-13T03:00"));
    add("tiers/own", body("4", "2026-03-13T04:00", "2026-03-13T05:00"));
    to(Instant.parse("2026-03-13T03:30:00Z"));
    at.sweep();
    assertThat(rate("acme")).isEqualTo(120);
    assertThat(at.getTier("own").document().path("schedules").properties()).hasSize(1);
    at.assertConsistent();
  }

  @Test
  void modes_stay() {
    at.putTier(
        "own",
        OWN.replace(
            "\"buckets\"",
            "\"modes\":{\"tenantPerMinute\":\"OBSERVE\",\"tenantConnections\":\"OFF\"},\"buckets\""));
    add("tiers/own", TWICE);
    to(OPENS);
    at.sweep();

    var limits = at.tenant("acme").orElseThrow().limits();
    assertThat(limits.get(Limit.TENANT_PER_MINUTE)).isEqualTo(60);
    assertThat(limits.mode(Limit.TENANT_PER_MINUTE)).isEqualTo(LimitMode.OBSERVE);
    assertThat(limits.mode(Limit.TENANT_CONNECTIONS)).isEqualTo(LimitMode.OFF);
  }

  @ParameterizedTest
  @ValueSource(strings = {"2.0", "2e0", "0.2e1", "2.000"})
  void factor_is_any_json_number(String factor) {
    assertThat(add("tiers/own", TWICE).status()).isEqualTo(201);
    assertThat(add("tiers/own", TWICE.replace(":2,", ":" + factor + ",")).status()).isEqualTo(200);
    assertThat(add("tiers/own", TWICE.replace(":2,", ":1.005,")).status()).isEqualTo(400);
  }
}
