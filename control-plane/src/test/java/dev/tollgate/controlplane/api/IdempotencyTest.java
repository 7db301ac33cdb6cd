package dev.tollgate.controlplane.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.controlplane.ControlPlaneFixture;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Race;
import dev.tollgate.http.testing.HttpApiEvents;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests with the same key onboard a tenant once, and every repetition gets the first response.
 */
final class IdempotencyTest {
  private static final String ACME = "{\"tenantId\":\"acme\",\"tier\":\"bronze\"}";
  private static final String BETA = "{\"tenantId\":\"beta\",\"tier\":\"bronze\"}";

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  private Answer post(String key, String body) {
    APIGatewayV2HTTPEvent event = HttpApiEvents.of("POST /tenants", Map.of(), body);
    event.getHeaders().put("idempotency-key", key);
    return at.send(event);
  }

  private static String type(Answer answer) {
    return answer.document().path("type").asText().replace("urn:tollgate:problem:", "");
  }

  private static JsonNode withoutInstance(Answer answer) {
    return ((ObjectNode) answer.document().deepCopy()).without("instance");
  }

  @Test
  void a_repetition_gets_the_first_response() {
    Answer first = post("\"k\"", ACME);
    at.patch("acme", "{\"tier\":\"gold\"}");

    Answer again = post("\"k\"", ACME);

    assertThat(first.status()).isEqualTo(201);
    assertThat(first.headers()).doesNotContainKey("idempotency-replayed");
    assertThat(again.status()).isEqualTo(201);
    assertThat(again.document()).isEqualTo(first.document());
    assertThat(again.headers())
        .containsEntry("idempotency-replayed", "true")
        .containsAllEntriesOf(first.headers());
  }

  @Test
  void a_repetition_does_not_onboard_an_offboarded_tenant_again() {
    post("\"k\"", ACME);
    at.delete("acme");
    at.sweep(3);
    assertThat(at.tenant("acme")).isEmpty();

    assertThat(post("\"k\"", ACME).status()).isEqualTo(201);

    assertThat(at.tenant("acme")).isEmpty();
  }

  @Test
  void the_response_of_a_conflict_is_stored_too() {
    at.onboard("acme", "gold");
    Answer first = post("\"k\"", ACME);
    at.patch("acme", "{\"tier\":\"bronze\"}");

    Answer again = post("\"k\"", ACME);

    assertThat(first.status()).isEqualTo(409);
    assertThat(again.status()).isEqualTo(409);
    assertThat(withoutInstance(again)).isEqualTo(withoutInstance(first));
  }

  @Test
  void a_stored_response_expires_after_a_day() {
    post("\"k\"", ACME);
    at.clock.advance(Duration.ofHours(24).minusSeconds(1));
    assertThat(post("\"k\"", ACME).headers()).containsKey("idempotency-replayed");

    at.clock.advance(Duration.ofSeconds(2));

    assertThat(post("\"k\"", BETA).status()).isEqualTo(201);
  }

  @Test
  void the_key_of_another_request_is_refused() {
    post("\"k\"", ACME);

    Answer other = post("\"k\"", BETA);

    assertThat(other.status()).isEqualTo(422);
    assertThat(type(other)).isEqualTo("idempotency-key-reused");
    assertThat(at.tenant("beta")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"k", "\"\"", "\"k", "\"k\",\"l\""})
  void a_malformed_key_is_refused(String key) {
    Answer refused = post(key, ACME);

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.document().at("/errors/0/field").asText()).isEqualTo("Idempotency-Key");
    assertThat(at.tenant("acme")).isEmpty();
  }

  @Test
  void an_invalid_request_releases_its_key() {
    assertThat(post("\"k\"", "{\"tenantId\":\"acme\",\"tier\":\"platinum\"}").status())
        .isEqualTo(400);
    assertThat(post("\"k\"", "{\"tenantId\":\"Acme\",\"tier\":\"bronze\"}").status())
        .isEqualTo(400);

    assertThat(post("\"k\"", ACME).status()).isEqualTo(201);
  }

  @Test
  void a_failed_request_releases_its_key() {
    at.tenants.outage().begin();
    assertThat(post("\"k\"", ACME).status()).isEqualTo(503);
    at.tenants.outage().end();

    Answer second = post("\"k\"", ACME);

    assertThat(second.status()).isEqualTo(201);
    assertThat(second.headers()).doesNotContainKey("idempotency-replayed");
  }

  @Test
  void a_request_is_not_processed_if_its_key_cannot_be_claimed() {
    at.keys.outage().begin("claim");

    assertThat(post("\"k\"", ACME).status()).isEqualTo(503);

    assertThat(at.tenant("acme")).isEmpty();
  }

  @Test
  void a_processed_request_is_answered_even_if_the_response_cannot_be_stored() {
    at.keys.outage().begin("store");
    assertThat(post("\"k\"", ACME).status()).isEqualTo(201);
    at.keys.outage().end();

    assertThat(type(post("\"k\"", ACME))).isEqualTo("idempotency-in-progress");
    at.clock.advance(Duration.ofSeconds(61));
    assertThat(post("\"k\"", ACME).status()).isEqualTo(200);
  }

  @Test
  void a_repetition_of_a_request_in_progress_is_refused_with_retry_after() {
    CompletableFuture<Answer> concurrent = new CompletableFuture<>();
    at.faults.plan(1, Faults.concurrently(() -> concurrent.complete(post("\"k\"", ACME))));

    Answer first = post("\"k\"", ACME);

    assertThat(first.status()).isEqualTo(201);
    Answer second = concurrent.join();
    assertThat(second.status()).isEqualTo(409);
    assertThat(type(second)).isEqualTo("idempotency-in-progress");
    assertThat(second.headers()).containsEntry("retry-after", "1");
  }

  @Test
  void the_key_of_a_crashed_request_is_free_after_a_minute() {
    at.faults.plan(1, Faults.KILLED);
    at.keys.outage().begin("release");
    assertThatThrownBy(() -> post("\"k\"", ACME)).isInstanceOf(Faults.Killed.class);
    at.keys.outage().end();
    assertThat(post("\"k\"", ACME).status()).isEqualTo(409);

    at.clock.advance(Duration.ofSeconds(61));

    assertThat(post("\"k\"", ACME).status()).isEqualTo(201);
  }

  @Test
  void one_of_many_concurrent_requests_onboards_and_none_gets_a_wrong_response() {
    List<Answer> answers = Race.of(8, i -> post("\"k\"", ACME));

    assertThat(answers)
        .filteredOn(
            answer ->
                answer.status() == 201 && !answer.headers().containsKey("idempotency-replayed"))
        .hasSize(1);
    assertThat(answers)
        .allMatch(
            answer ->
                answer.status() == 201
                    || (answer.status() == 409 && type(answer).equals("idempotency-in-progress")));
    assertThat(post("\"k\"", ACME).headers()).containsEntry("idempotency-replayed", "true");
  }
}
