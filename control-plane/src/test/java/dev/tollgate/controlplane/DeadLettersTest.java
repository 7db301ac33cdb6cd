package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.DeadLetter.Source;
import dev.tollgate.http.testing.HttpApiEvents;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class DeadLettersTest {
  private static final String SESSION = "0123456789ab" + "9".repeat(20);
  private static final TenantId ACME = new TenantId("acme");

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  @BeforeEach
  void onboard() {
    at.onboard("acme", "bronze");
  }

  private Answer list(String tenant) {
    return at.send(
        HttpApiEvents.of("GET /tenants/{tenantId}/dead-letters", Map.of("tenantId", tenant)));
  }

  private Answer redrive(String tenant, Map<String, String> query, String body) {
    APIGatewayV2HTTPEvent event =
        HttpApiEvents.of(
            "POST /tenants/{tenantId}/dead-letters/redrive", Map.of("tenantId", tenant), body);
    event.setQueryStringParameters(new HashMap<>(query));
    return at.send(event);
  }

  @Test
  void a_dead_letter_is_shown_without_the_id_of_its_session() {
    at.deadLetters.add(Source.POOL, "acme:" + SESSION, "hello");
    at.deadLetters.add(Source.POOL, "acme:foreign", "hello");

    assertThat(list("acme").document())
        .hasToString(
            """
            {"deadLetters":[{"id":"letter-1","session":"0123456789ab",\
            "at":"2026-03-12T09:15:02Z","receives":5,"body":"hello","truncated":false,\
            "queue":"POOL"},{"id":"letter-2","at":"2026-03-12T09:15:02Z","receives":5,\
            "body":"hello","truncated":false,"queue":"POOL"}],"count":2,"complete":true}""");
  }

  @Test
  void ten_are_shown_and_all_are_counted() {
    for (int i = 0; i < 12; i++) {
      at.deadLetters.add(Source.SILO, "acme:" + SESSION, "letter");
    }

    Answer answer = list("acme");

    assertThat(answer.document().at("/deadLetters")).hasSize(10);
    assertThat(answer.document().path("count").asInt()).isEqualTo(12);
  }

  @Test
  void a_long_body_is_cut_between_characters() {
    at.deadLetters.add(Source.POOL, "acme:" + SESSION, "x" + "😀".repeat(300));
    at.deadLetters.add(Source.POOL, "acme:" + SESSION, "😀".repeat(300));

    Answer answer = list("acme");

    assertThat(answer.document().at("/deadLetters/0/body").textValue())
        .isEqualTo("x" + "😀".repeat(299));
    assertThat(answer.document().at("/deadLetters/0/truncated").booleanValue()).isTrue();
    assertThat(answer.document().at("/deadLetters/1/truncated").booleanValue()).isFalse();
  }

  @Test
  void a_redrive_moves_up_to_its_limit_and_has_an_entry_of_the_audit() {
    for (int i = 0; i < 3; i++) {
      at.deadLetters.add(Source.POOL, "acme:" + SESSION, "letter-" + i);
    }

    assertThat(redrive("acme", Map.of("limit", "2"), "").document())
        .hasToString("{\"moved\":2,\"complete\":false}");
    assertThat(redrive("acme", Map.of(), "{}").document())
        .hasToString("{\"moved\":1,\"complete\":true}");

    assertThat(at.deadLetters.take(Source.POOL, ACME)).hasSize(3);
    assertThat(at.tenants.notes())
        .containsExactly(
            "acme DeadLettersRedriven {limit=2}", "acme DeadLettersRedriven {limit=100}");
  }

  @Test
  void nothing_is_moved_without_an_entry_of_the_audit() {
    at.deadLetters.add(Source.POOL, "acme:" + SESSION, "letter");
    at.tenants.outage().begin("note");

    assertThat(redrive("acme", Map.of(), "").status()).isEqualTo(503);

    assertThat(at.deadLetters.take(Source.POOL, ACME)).isEmpty();
  }

  @Test
  void letters_of_a_former_tenant_with_the_same_id_are_neither_shown_nor_moved() {
    at.deadLetters.add(Source.POOL, "acme:" + SESSION, "of the former tenant");
    at.delete("acme");
    at.clock.advance(Duration.ofMillis(1));
    assertThat(at.onboard("acme", "bronze").status()).isEqualTo(201);
    at.deadLetters.add(Source.POOL, "acme:" + SESSION, "letter");
    at.patch("acme", "{\"overrides\":{\"tenantPerMinute\":7}}");

    assertThat(list("acme").document().at("/deadLetters/0/body").asText()).isEqualTo("letter");
    assertThat(list("acme").document().path("count").asInt()).isEqualTo(1);
    redrive("acme", Map.of(), "");

    assertThat(at.deadLetters.take(Source.POOL, ACME))
        .containsExactly("acme:" + SESSION + " letter");
  }

  @Test
  void a_search_takes_half_of_the_time_of_its_request() {
    at.deadLetters.add(Source.POOL, "acme:" + SESSION, "letter");
    at.deadLetters.duringSearch(() -> at.clock.advance(Duration.ofSeconds(15)));

    assertThat(list("acme").document().path("complete").asBoolean()).isFalse();
  }

  @Test
  void nothing_is_moved_for_a_tenant_that_is_not_active() {
    at.deadLetters.add(Source.POOL, "acme:" + SESSION, "letter");
    at.send(
        HttpApiEvents.of(
            "PATCH /tenants/{tenantId}", Map.of("tenantId", "acme"), "{\"status\":\"SUSPENDED\"}"));

    Answer answer = redrive("acme", Map.of(), "");

    assertThat(answer.status()).isEqualTo(409);
    assertThat(answer.document().path("detail").asText()).startsWith("acme is SUSPENDED.");
    assertThat(at.deadLetters.take(Source.POOL, ACME)).isEmpty();
    assertThat(at.tenants.notes()).isEmpty();
    assertThat(list("acme").document().path("count").asInt()).isEqualTo(1);
  }

  @Test
  void bad_requests_move_nothing_and_have_no_entry() {
    at.deadLetters.add(Source.POOL, "acme:" + SESSION, "letter");

    assertThat(redrive("acme", Map.of("limit", "0"), "").status()).isEqualTo(400);
    assertThat(redrive("acme", Map.of("limit", "101"), "").status()).isEqualTo(400);
    assertThat(redrive("acme", Map.of("dryRun", "true"), "").status()).isEqualTo(400);
    assertThat(redrive("acme", Map.of(), "{\"all\":true}").status()).isEqualTo(400);
    assertThat(redrive("nobody", Map.of(), "").status()).isEqualTo(404);
    assertThat(list("nobody").status()).isEqualTo(404);

    assertThat(at.deadLetters.take(Source.POOL, ACME)).isEmpty();
    assertThat(at.tenants.notes()).isEmpty();
  }
}
