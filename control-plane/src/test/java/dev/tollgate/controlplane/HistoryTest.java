package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.Counts.Tokens;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What happened to tenants. */
class HistoryTest {
  private static final Map<String, String> DEFAULTS = Map.of();

  private final ControlPlaneFixture at = new ControlPlaneFixture();
  private final Instant now = at.clock.instant().truncatedTo(ChronoUnit.MINUTES);

  private void happened(String tenant, int minutesAgo, Counts counts) {
    Instant when = now.minus(Duration.ofMinutes(minutesAgo));
    at.history.add(tenant + minutesAgo, List.of(new Change(new TenantId(tenant), when, counts)));
  }

  private static Counts refused(long count) {
    return new Counts(0, Map.of(Refusal.TENANT_RATE, count), 5, Map.of());
  }

  private static Counts admitted(long count) {
    return new Counts(
        count, Map.of(), count, Map.of(new Action("connect"), new Tokens(count, count)));
  }

  private static String ranked(JsonNode document) {
    StringBuilder ids = new StringBuilder();
    document.get("tenants").forEach(tenant -> ids.append(tenant.get("tenantId").asText()));
    return ids.toString();
  }

  @Test
  void the_last_hour_of_a_tenant() {
    at.onboard("acme", "bronze");
    happened("acme", 61, admitted(9));
    happened("acme", 7, admitted(2).plus(refused(3)));

    JsonNode document = at.history("/tenants/acme/history", DEFAULTS).document();

    assertThat(document.get("from").asText()).isEqualTo(now.minusSeconds(3_540).toString());
    assertThat(document.get("to").asText()).isEqualTo(now.plusSeconds(60).toString());
    assertThat(document.get("steps").toString())
        .isEqualTo(
            "[{\"at\":\""
                + now.minusSeconds(420)
                + "\",\"admitted\":2,\"refused\":3,\"refusedFor\":{\"TENANT_RATE\":3},"
                + "\"wouldRefuse\":0,\"wouldRefuseFor\":{},\"peakConnections\":5,"
                + "\"tokens\":[{\"action\":\"connect\",\"minted\":2,\"taken\":2}]}]");
  }

  @Test
  void a_tenant_without_history_has_no_steps_and_an_unknown_one_is_not_found() {
    at.onboard("acme", "bronze");
    happened("gone", 7, admitted(2));

    assertThat(at.history("/tenants/acme/history", DEFAULTS).document().get("steps")).isEmpty();
    assertThat(at.history("/tenants/gone/history", DEFAULTS).document().get("steps")).hasSize(1);
    assertThat(at.history("/tenants/nobody/history", DEFAULTS).status()).isEqualTo(404);
  }

  @Test
  void all_tenants_in_steps() {
    happened("acme", 7, admitted(2));
    happened("globex", 7, admitted(3));
    happened("globex", 400, admitted(4));

    JsonNode document =
        at.history("/fleet", Map.of("from", now.minus(Duration.ofDays(1)).toString(), "step", "1d"))
            .document();

    assertThat(document.get("stepSeconds").asLong()).isEqualTo(86_400);
    long admitted = 0;
    for (JsonNode step : document.get("steps")) {
      admitted += step.get("admitted").asLong();
    }
    assertThat(admitted).isEqualTo(9);
  }

  @Test
  void tenants_by_what_happened_to_them_lately() {
    happened("a", 1, admitted(9));
    happened("b", 2, refused(7));
    happened("c", 3, refused(7).plus(admitted(2)));
    happened("d", 4, refused(8));
    happened("e", 5, refused(100));

    JsonNode refused = at.history("/fleet/tenants", DEFAULTS).document();
    assertThat(ranked(refused)).isEqualTo("dbc");
    assertThat(refused.get("activeTenants").asLong()).isEqualTo(4);
    assertThat(ranked(ranking(Map.of("sort", "admitted")))).isEqualTo("ac");
    assertThat(ranked(ranking(Map.of("sort", "connections")))).isEqualTo("abcd");
    assertThat(ranked(ranking(Map.of("sort", "tokens")))).isEqualTo("ac");
    assertThat(ranked(ranking(Map.of("window", "15m", "limit", "2")))).isEqualTo("ed");
    assertThat(ranked(ranking(Map.of("to", now.minusSeconds(180).toString())))).isEqualTo("ed");
  }

  @ParameterizedTest
  @ValueSource(longs = {2, -26 * 60})
  void tenants_of_a_day_can_be_ranked(long minutes) {
    Map<String, String> query = Map.of("to", now.plus(Duration.ofMinutes(minutes)).toString());

    assertThat(at.history("/fleet/tenants", query).status()).isEqualTo(400);
    assertThat(ranking(query).toString()).contains("an instant of the last 26 hours");
  }

  private JsonNode ranking(Map<String, String> query) {
    return at.history("/fleet/tenants", query).document();
  }

  private void hour(int daysAgo, Counts counts) {
    Instant hour = now.truncatedTo(ChronoUnit.HOURS).minus(Duration.ofDays(daysAgo));
    at.history.putHour(hour, Map.of(new TenantId("acme"), counts), counts);
  }

  private Map<String, String> since(int days, String step) {
    Instant end = now.plusSeconds(60);
    return Map.of("from", end.minus(Duration.ofDays(days)).toString(), "step", step);
  }

  @Test
  void hours_are_read_of_a_year_with_the_minutes_of_today() {
    hour(399, admitted(3));
    hour(40, admitted(4));
    happened("acme", 7, admitted(2));

    for (String path : List.of("/tenants/acme/history", "/fleet")) {
      JsonNode steps = at.history(path, since(400, "1d")).document().get("steps");
      assertThat(steps.valueStream().map(step -> step.get("admitted").asLong()))
          .containsExactly(3L, 4L, 2L);
      assertThat(steps.get(2).get("at").asText())
          .isEqualTo(now.minusSeconds(420).truncatedTo(ChronoUnit.DAYS).toString());
    }
    assertThat(at.history("/fleet", since(41, "1h")).document().get("steps")).hasSize(2);
  }

  @Test
  void minutes_are_read_of_a_month_of_a_tenant_and_a_week_of_all() {
    hour(3, admitted(4));
    happened("acme", 7, admitted(2));

    assertThat(at.history("/tenants/acme/history", since(31, "30m")).document().get("steps"))
        .hasSize(1);
    assertThat(at.history("/fleet", since(7, "30m")).document().get("steps")).hasSize(1);
    assertThat(at.history("/fleet", since(8, "1h")).document().get("steps")).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource({
    "/tenants/acme/history,33,90m,step,a multiple of 1h",
    "/fleet,8,90m,step,a multiple of 1h",
    "/fleet,100,1h,step,at most 1500 steps",
    "/fleet,401,1d,from,at most 400 days before to"
  })
  void a_long_span_has_steps_of_hours(
      String path, int days, String step, String field, String expected) {
    ControlPlaneFixture.Answer answer = at.history(path, since(days, step));

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.document().at("/errors/0/field").asText()).isEqualTo(field);
    assertThat(answer.document().toString()).contains(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "/fleet,step,30s",
    "/fleet,step,0m",
    "/fleet,from,yesterday",
    "/fleet,to,2026-01-01",
    "/fleet,from,2026-01-01T00:00:30Z",
    "/fleet,from,2020-01-01T00:00:00Z",
    "/fleet/tenants,window,16m",
    "/fleet/tenants,window,5",
    "/fleet/tenants,sort,size",
    "/fleet/tenants,limit,1000",
    "/tenants/acme/history,step,1s",
    "/tenants/Acme/history,tenantId,"
  })
  void bad_input_is_refused(String path, String field, String value) {
    ControlPlaneFixture.Answer answer =
        at.history(path, value == null ? Map.of() : Map.of(field, value));

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.document().at("/errors/0/field").asText()).isEqualTo(field);
  }
}
