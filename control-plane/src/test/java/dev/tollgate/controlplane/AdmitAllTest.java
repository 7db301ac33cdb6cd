package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.core.enforcement.AdmitAll;
import dev.tollgate.http.testing.HttpApiEvents;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The switch that lifts all limits. */
class AdmitAllTest {
  private static final String HEADER = "tollgate-admit-all";
  private static final String PLATFORM = "arn:aws:iam::123456789012:user/platform";
  private static final String HOUR = "{\"reason\":\"SQS fails\",\"minutes\":60}";
  private static final Instant START = ControlPlaneFixture.START;
  private static final Instant END = START.plus(Duration.ofHours(1));

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  private Answer get() {
    return at.send(HttpApiEvents.of("GET /admit-all"));
  }

  private Answer put(String body) {
    return at.send(HttpApiEvents.of("PUT /admit-all", Map.of(), body));
  }

  private Answer delete() {
    return at.send(HttpApiEvents.of("DELETE /admit-all"));
  }

  private Answer tiers() {
    return at.send(HttpApiEvents.of("GET /tiers"));
  }

  private void wait(Duration time) {
    at.clock.advance(time);
  }

  @Test
  void the_switch_is_off_at_first() {
    Answer answer = get();

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.document().toString()).isEqualTo("{\"on\":false}");
    assertThat(answer.headers()).doesNotContainKey(HEADER);
  }

  @Test
  void it_is_turned_on_and_off() {
    Answer put = put(HOUR);

    assertThat(put.status()).isEqualTo(200);
    assertThat(put.document().toString())
        .isEqualTo(
            "{\"on\":true,\"since\":\"%s\",\"until\":\"%s\",\"reason\":\"SQS fails\",\"by\":\"%s\"}"
                .formatted(START, END, PLATFORM));
    assertThat(put.headers()).containsEntry(HEADER, "until=" + END);
    assertThat(at.admitAll.read()).contains(new AdmitAll(START, END, "SQS fails", PLATFORM));
    assertThat(get().document()).isEqualTo(put.document());

    Answer deleted = delete();
    assertThat(deleted.status()).isEqualTo(200);
    assertThat(deleted.document().toString()).isEqualTo("{\"on\":false}");
    assertThat(deleted.headers()).doesNotContainKey(HEADER);
    assertThat(at.admitAll.read()).isEmpty();
    assertThat(delete().status()).isEqualTo(200);
    assertThat(at.context.logged())
        .containsExactly(
            "admit-all turned on until " + END + " by " + PLATFORM + ": SQS fails\n",
            "admit-all turned off by " + PLATFORM + "\n",
            "admit-all turned off by " + PLATFORM + "\n");
  }

  @Test
  void a_repetition_replaces_the_time_and_the_reason() {
    put(HOUR);
    wait(Duration.ofMinutes(50));

    JsonNode again = put("{\"reason\":\"still\",\"minutes\":1440}").document();

    assertThat(again.get("reason").asText()).isEqualTo("still");
    assertThat(again.get("until").asText())
        .isEqualTo(START.plus(Duration.ofMinutes(50 + 1440)).toString());
  }

  @Test
  void it_ends_by_itself() {
    put(HOUR);

    wait(Duration.ofHours(1).minusNanos(1));
    assertThat(get().document().get("on").asBoolean()).isTrue();
    assertThat(tiers().headers()).containsEntry(HEADER, "until=" + END);
    wait(Duration.ofNanos(1));
    assertThat(tiers().headers()).doesNotContainKey(HEADER);
    assertThat(get().document().toString()).isEqualTo("{\"on\":false}");
  }

  @Test
  void every_response_has_the_header_also_of_failed_requests() {
    put(HOUR);

    for (Answer answer :
        new Answer[] {
          tiers(), at.get("nobody"), at.post("{}"), put("{}"), at.onboard("acme", "bronze")
        }) {
      assertThat(answer.headers()).containsEntry(HEADER, "until=" + END);
    }
  }

  @Test
  void other_processes_follow_within_five_seconds() {
    tiers();
    at.admitAll.turnOn(new AdmitAll(START, END, "elsewhere", "other"));

    wait(Duration.ofSeconds(5).minusNanos(1));
    assertThat(tiers().headers()).doesNotContainKey(HEADER);
    wait(Duration.ofNanos(1));
    int reads = at.admitAll.reads();
    assertThat(tiers().headers()).containsKey(HEADER);
    assertThat(tiers().headers()).containsKey(HEADER);
    assertThat(at.admitAll.reads()).isEqualTo(reads + 1);
  }

  @Test
  void a_failure_to_read_the_switch_fails_only_requests_for_it() {
    at.admitAll.outage().begin();

    assertThat(tiers().status()).isEqualTo(200);
    assertThat(get().status()).isEqualTo(503);
    assertThat(put(HOUR).status()).isEqualTo(503);
    assertThat(delete().status()).isEqualTo(503);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{} | reason | missing",
        "{\"reason\":\"x\"} | minutes | missing",
        "{\"minutes\":60} | reason | missing",
        "{\"reason\":\"\",\"minutes\":60} | reason | ''",
        "{\"reason\":\" \",\"minutes\":60} | reason | ' '",
        "{\"reason\":7,\"minutes\":60} | reason | 7",
        "{\"reason\":null,\"minutes\":60} | reason | null",
        "{\"reason\":\"x\",\"minutes\":0} | minutes | 0",
        "{\"reason\":\"x\",\"minutes\":-1} | minutes | -1",
        "{\"reason\":\"x\",\"minutes\":1441} | minutes | 1441",
        "{\"reason\":\"x\",\"minutes\":1.0} | minutes | 1.0",
        "{\"reason\":\"x\",\"minutes\":9223372036854775808} | minutes | 9223372036854775808",
        "{\"reason\":\"x\",\"minutes\":\"60\"} | minutes | '\"60\"'",
        "{\"reason\":\"x\",\"minutes\":60,\"by\":\"me\"} | by | '\"me\"'",
        "[] | body | []",
      })
  void bad_input_is_named_and_changes_nothing(String body, String field, String value) {
    Answer answer = put(body);

    assertThat(answer.status()).isEqualTo(400);
    JsonNode error = answer.document().at("/errors/0");
    assertThat(error.get("field").asText()).isEqualTo(field);
    assertThat(error.get("value").asText()).isEqualTo(value);
    assertThat(at.admitAll.read()).isEmpty();
  }

  @Test
  void a_reason_is_one_line_of_200_characters() {
    assertThat(put("{\"reason\":\"a\\nb\",\"minutes\":60}").status()).isEqualTo(400);
    assertThat(put("{\"reason\":\"" + "x".repeat(201) + "\",\"minutes\":60}").status())
        .isEqualTo(400);
    assertThat(at.admitAll.read()).isEmpty();
    assertThat(put("{\"reason\":\"" + "x".repeat(200) + "\",\"minutes\":1}").status())
        .isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PUT /admit-all", "DELETE /admit-all"})
  void a_dry_run_is_refused(String route) {
    put(HOUR);
    APIGatewayV2HTTPEvent event =
        route.startsWith("PUT")
            ? HttpApiEvents.of(route, Map.of(), "{\"reason\":\"other\",\"minutes\":1}")
            : HttpApiEvents.of(route);
    event.setQueryStringParameters(new HashMap<>(Map.of("dryRun", "true")));

    assertThat(at.send(event).status()).isEqualTo(400);
    assertThat(at.admitAll.read()).contains(new AdmitAll(START, END, "SQS fails", PLATFORM));
  }

  @Test
  void the_user_of_the_operators_page_is_named_or_else_nobody() {
    APIGatewayV2HTTPEvent event = HttpApiEvents.of("PUT /admit-all", Map.of(), HOUR);
    APIGatewayV2HTTPEvent.RequestContext.Authorizer authorizer =
        event.getRequestContext().getAuthorizer();
    authorizer.setIam(null);
    authorizer.setJwt(
        APIGatewayV2HTTPEvent.RequestContext.Authorizer.JWT
            .builder()
            .withClaims(new HashMap<>(Map.of("sub", "5f0c", "username", "ada")))
            .build());
    assertThat(at.send(event).document().get("by").asText()).isEqualTo("user:ada");
    authorizer.getJwt().getClaims().remove("username");
    assertThat(at.send(event).document().get("by").asText()).isEqualTo("user:5f0c");
    event.getRequestContext().setAuthorizer(null);
    assertThat(at.send(event).document().get("by").asText()).isEqualTo("unknown");
  }
}
