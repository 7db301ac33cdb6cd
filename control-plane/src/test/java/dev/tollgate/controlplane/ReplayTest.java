package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.controlplane.ControlPlaneFixture.Snapshot;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.http.testing.HttpApiEvents;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Dry runs that replay the recorded minutes. */
class ReplayTest {
  private static final String FREE =
      """
      {"isolation":"POOL","limits":{"tenantPerMinute":30,"sessionPerMinute":5,
       "connectionsPerSession":2,"tenantConnections":20,"sessionTTL":200,
       "messagesPerMinute":60}%s}""";

  private final ControlPlaneFixture at = new ControlPlaneFixture();
  private final Instant now = at.clock.instant().truncatedTo(ChronoUnit.MINUTES);

  private void happened(String tenant, int minutesAgo, long admitted, long peak, long messages) {
    Counts counts =
        new Counts(
            admitted,
            Map.of(),
            peak,
            Map.of(Action.MESSAGE, new Counts.Tokens(messages, messages)));
    Instant when = now.minus(Duration.ofMinutes(minutesAgo));
    at.history.add(tenant + minutesAgo, List.of(new Change(new TenantId(tenant), when, counts)));
  }

  /** The definition of the tests' tier with some of its limits replaced, and more fields. */
  private static String free(String more, String... limits) {
    String definition = FREE.formatted(more.isEmpty() ? "" : "," + more);
    for (String limit : limits) {
      definition =
          definition.replaceAll(
              "(\"" + limit.split("=")[0] + "\"):\\d+", "$1:" + limit.split("=")[1]);
    }
    return definition;
  }

  private Answer replay(String definition, Map<String, String> more) {
    return send(HttpApiEvents.of("PUT /tiers/{tier}", Map.of("tier", "free"), definition), more);
  }

  private JsonNode replay(String definition) {
    Answer answer = replay(definition, Map.of());
    assertThat(answer.status()).as("%s", answer).isEqualTo(200);
    return answer.document().get("replay");
  }

  private Answer send(APIGatewayV2HTTPEvent event, Map<String, String> more) {
    Map<String, String> query = new HashMap<>(Map.of("dryRun", "true", "replay", "1h"));
    query.putAll(more);
    event.setQueryStringParameters(query);
    return at.send(event);
  }

  private static List<String> rows(JsonNode replay) {
    return replay
        .get("limits")
        .valueStream()
        .map(
            row ->
                "%s %s %s-%s"
                    .formatted(
                        row.get("tenantId").textValue(),
                        row.get("limit").textValue(),
                        row.get("least"),
                        row.get("most")))
        .toList();
  }

  private void onboard(String tenant, String overrides) {
    at.post(
        "{\"tenantId\":\"%s\",\"tier\":\"free\",\"overrides\":%s}".formatted(tenant, overrides));
  }

  @Test
  void altered_limits_with_their_bounds() {
    at.putTier("free", free(""));
    onboard("acme", "{}");
    onboard("quiet", "{}");
    happened("acme", 63, 90, 17, 55);
    happened("acme", 5, 25, 15, 50);
    happened("acme", 4, 2, 12, 0);
    happened("acme", 2, 30, 20, 60);
    happened("quiet", 3, 5, 5, 5);

    JsonNode replay =
        replay(free("", "tenantPerMinute=10", "tenantConnections=11", "messagesPerMinute=40"));

    assertThat(replay.get("from").textValue()).isEqualTo(now.minusSeconds(3_720).toString());
    assertThat(replay.get("to").textValue()).isEqualTo(now.minusSeconds(120).toString());
    assertThat(rows(replay))
        .containsExactly(
            "acme tenantPerMinute 5-17",
            "acme tenantConnections 0-27",
            "acme messagesPerMinute 0-10");
    assertThat(replay.at("/limits/0").toString())
        .isEqualTo(
            "{\"tenantId\":\"acme\",\"limit\":\"tenantPerMinute\",\"now\":30,\"new\":10,"
                + "\"least\":5,\"most\":17,\"minutes\":2,\"longestSeconds\":120,"
                + "\"first\":\"%s\",\"last\":\"%s\"}"
                    .formatted(now.minusSeconds(300), now.minusSeconds(240)));
    assertThat(replay.get("leftOut")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"modes\":{\"messagesPerMinute\":\"OBSERVE\"}",
        "\"modes\":{\"messagesPerMinute\":\"OFF\"}",
        "\"fillMode\":\"DIRECT\""
      })
  void messages_that_the_history_does_not_have_are_not_replayed(String before) {
    String[] few = {"tenantPerMinute=10", "messagesPerMinute=10"};
    at.putTier("free", free(before, few));
    onboard("acme", "{}");
    happened("acme", 5, 5, 5, 60);

    String after = before.contains("DIRECT") ? before : "";
    JsonNode replay = replay(free(after, "tenantPerMinute=10", "messagesPerMinute=9"));

    assertThat(rows(replay)).isEmpty();
    assertThat(replay.get("leftOut")).isEmpty();
    assertThat(replay.get("notKnown").toString()).isEqualTo("{\"messagesPerMinute\":1}");
    assertThat(replay(free(before, few)).get("notKnown")).isEmpty();
  }

  @Test
  void only_limits_that_change_are_replayed() {
    at.putTier("free", free(""));
    onboard("acme", "{}");
    happened("acme", 5, 500, 500, 500);

    assertThat(rows(replay(free("")))).isEmpty();
    assertThat(rows(replay(free("", "sessionTTL=100")))).isEmpty();
    assertThat(rows(replay(free("", "tenantConnections=19"))))
        .containsExactly("acme tenantConnections 0-500");
    assertThat(replay("{\"isolation\":\"POOL\"" + free("").substring(19)).get("leftOut")).isEmpty();
  }

  @Test
  void a_smaller_capacity_is_replayed_at_the_same_rate() {
    at.putTier("free", free(""));
    onboard("acme", "{}");
    happened("acme", 5, 10, 1, 0);

    assertThat(rows(replay(free("\"buckets\":{\"connect\":{\"capacity\":9}}"))))
        .containsExactly("acme tenantPerMinute 0-1");
  }

  @Test
  void overrides_are_left_out_where_the_change_does_not_reach_them() {
    at.putTier("free", free(""));
    onboard("acme", "{\"tenantPerMinute\":40}");
    onboard("beta", "{\"tenantConnections\":5}");
    happened("acme", 5, 50, 50, 0);
    happened("beta", 5, 50, 50, 0);

    JsonNode replay = replay(free("", "tenantPerMinute=20", "tenantConnections=10"));

    assertThat(rows(replay))
        .containsExactly("acme tenantConnections 0-50", "beta tenantPerMinute 10-30");
    assertThat(replay.get("leftOut").toString())
        .isEqualTo("{\"tenantConnections\":1,\"tenantPerMinute\":1}");
    // The capacity changes for a tenant with a rate of its own, too.
    assertThat(rows(replay(free("\"buckets\":{\"connect\":{\"capacity\":35}}"))))
        .containsExactly("acme tenantPerMinute 0-15", "beta tenantPerMinute 0-15");
  }

  @Test
  void a_limit_that_is_not_enforced_refuses_nobody_and_one_that_will_be_does() {
    at.putTier("free", free("\"modes\":{\"tenantConnections\":\"OBSERVE\"}"));
    onboard("acme", "{}");
    onboard("beta", "{\"modes\":{\"tenantConnections\":\"OFF\",\"tenantPerMinute\":\"OBSERVE\"}}");
    happened("acme", 5, 50, 50, 0);
    happened("beta", 5, 50, 50, 0);

    String observed = "\"modes\":{\"tenantConnections\":\"OBSERVE\",\"tenantPerMinute\":\"OFF\"}";
    assertThat(rows(replay(free(observed, "tenantPerMinute=20", "tenantConnections=10"))))
        .isEmpty();
    JsonNode enforced = replay(free(""));
    assertThat(rows(enforced)).containsExactly("acme tenantConnections 0-50");
    assertThat(enforced.at("/limits/0/now")).isEqualTo(enforced.at("/limits/0/new"));
    assertThat(enforced.get("leftOut").toString()).isEqualTo("{\"tenantConnections\":1}");
    assertThat(rows(replay(free("", "tenantPerMinute=20")))).hasSize(2);
  }

  @Test
  void a_tier_that_does_not_exist_has_no_tenants() {
    JsonNode replay = replay(free(""));

    assertThat(replay.get("limits")).isEmpty();
    assertThat(replay.get("leftOut")).isEmpty();
  }

  @Test
  void a_page_ends_when_half_of_the_time_is_over_and_the_next_one_continues() {
    at.putTier("free", free(""));
    for (int i = 10; i < 22; i++) {
      onboard("tenant-" + i, "{}");
      happened("tenant-" + i, 5, 25, 5, 0);
    }
    String lower = free("", "tenantPerMinute=20");
    at.faults.none();
    assertThat(rows(replay(lower))).hasSize(12);
    int firstRead = at.faults.calls().indexOf("History.of") + 1;
    at.faults.plan(
        firstRead + 4, Faults.concurrently(() -> at.clock.advance(Duration.ofSeconds(11))));

    Answer first = replay(lower, Map.of());
    Answer second = replay(lower, Map.of("cursor", first.document().get("next").textValue()));
    Answer small = replay(lower, Map.of("limit", "3"));

    assertThat(rows(first.document().get("replay"))).hasSize(6);
    assertThat(first.document().at("/totals/tenants").asInt()).isEqualTo(6);
    assertThat(first.document().get("tenants")).hasSize(6);
    assertThat(second.document().has("next")).isFalse();
    List<String> all = new ArrayList<>(rows(first.document().get("replay")));
    all.addAll(rows(second.document().get("replay")));
    assertThat(all).doesNotHaveDuplicates().hasSize(12);
    assertThat(rows(small.document().get("replay"))).hasSize(3);
    assertThat(small.document().has("next")).isTrue();
  }

  @Test
  void the_first_tenants_are_replayed_even_if_they_take_all_the_time() {
    at.putTier("free", free(""));
    onboard("acme", "{}");
    onboard("beta", "{}");
    happened("beta", 5, 25, 5, 0);
    at.faults.none();
    String lower = free("", "tenantPerMinute=20");
    replay(lower);
    at.faults.plan(
        at.faults.calls().indexOf("History.of") + 1,
        Faults.concurrently(() -> at.clock.advance(Duration.ofSeconds(15))));

    assertThat(rows(replay(lower))).containsExactly("beta tenantPerMinute 0-5");
  }

  @Test
  void other_overrides_of_a_tenant() {
    at.putTier("free", free(""));
    onboard("acme", "{\"tenantPerMinute\":40}");
    happened("acme", 5, 35, 5, 0);

    Answer answer =
        send(
            HttpApiEvents.of(
                "PATCH /tenants/{tenantId}",
                Map.of("tenantId", "acme"),
                "{\"overrides\":{\"tenantPerMinute\":20}}"),
            Map.of());

    assertThat(answer.status()).as("%s", answer).isEqualTo(200);
    assertThat(rows(answer.document().get("replay"))).containsExactly("acme tenantPerMinute 0-15");
    assertThat(at.get("acme").document().at("/limits/tenantPerMinute").asInt()).isEqualTo(40);
  }

  @Test
  void a_replay_only_reads() {
    at.putTier("free", free(""));
    onboard("acme", "{}");
    happened("acme", 5, 25, 5, 0);
    Snapshot before = at.snapshot();
    at.faults.none();

    assertThat(rows(replay(free("", "tenantPerMinute=20")))).hasSize(1);

    assertThat(at.faults.calls())
        .containsOnly(
            "Tiers.find", "Tenants.inTier", "History.of", "Connections.count", "Buckets.list");
    assertThat(at.snapshot()).isEqualTo(before);
  }

  @Test
  void without_replay_no_minutes_are_read() {
    at.putTier("free", free(""));
    onboard("acme", "{}");
    at.faults.none();
    APIGatewayV2HTTPEvent event =
        HttpApiEvents.of(
            "PUT /tiers/{tier}", Map.of("tier", "free"), free("", "tenantPerMinute=20"));
    event.setQueryStringParameters(new HashMap<>(Map.of("dryRun", "true")));

    assertThat(at.send(event).document().has("replay")).isFalse();
    assertThat(at.faults.calls()).doesNotContain("History.of");
  }

  @ParameterizedTest
  @CsvSource({
    "replay, 32d, 'at most 31d, because minutes are not kept longer', true",
    "replay, 745h, 'at most 31d, because minutes are not kept longer', true",
    "replay, week, 'minutes, hours or days: 5m, 1h, 7d', true",
    "replay, 0d, 'minutes, hours or days: 5m, 1h, 7d', true",
    "replay, 1d, no value without dryRun=true, false",
    "cursor, acme, , true",
  })
  void bad_parameters_are_refused_and_nothing_is_changed(
      String name, String value, String expected, String dryRun) {
    at.putTier("free", free(""));
    onboard("acme", "{}");
    Snapshot before = at.snapshot();

    for (String route : List.of("PUT /tiers/{tier}", "PATCH /tenants/{tenantId}")) {
      if (name.equals("cursor") && !route.startsWith("PUT")) {
        continue;
      }
      String body =
          route.startsWith("PUT")
              ? free("", "tenantPerMinute=20")
              : "{\"overrides\":{\"tenantPerMinute\":20}}";
      Answer answer =
          send(
              HttpApiEvents.of(route, Map.of("tier", "free", "tenantId", "acme"), body),
              Map.of(name, value, "dryRun", dryRun));

      assertThat(answer.status()).as("%s", answer).isEqualTo(400);
      assertThat(answer.document().at("/errors/0/field").textValue()).isEqualTo(name);
      assertThat(answer.document().at("/errors/0/value").textValue()).isEqualTo(value);
      if (name.equals("replay")) {
        assertThat(answer.document().at("/errors/0/expected").textValue()).isEqualTo(expected);
      }
    }
    assertThat(at.snapshot()).isEqualTo(before);
  }

  @Test
  void the_longest_replay_begins_while_minutes_are_kept() {
    at.putTier("free", free(""));
    onboard("acme", "{}");
    happened("acme", 31 * 24 * 60, 25, 5, 0);

    Answer answer = replay(free("", "tenantPerMinute=20"), Map.of("replay", "31d"));

    assertThat(rows(answer.document().get("replay"))).containsExactly("acme tenantPerMinute 0-5");
  }
}
