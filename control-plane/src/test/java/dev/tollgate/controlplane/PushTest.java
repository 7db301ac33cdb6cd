package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.Push;
import dev.tollgate.core.message.PushPage;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Subject;
import dev.tollgate.core.session.SubjectSessions;
import dev.tollgate.http.testing.HttpApiEvents;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PushTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final SessionId ONE = new SessionId("1".repeat(32));
  private static final SessionId TWO = new SessionId("2".repeat(32));

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  @BeforeEach
  void onboard() {
    at.onboard("acme", "bronze");
    session(ONE, "s-1", "s-2");
    session(TWO, "s-3");
  }

  private void session(SessionId id, String... sockets) {
    at.sessions.create(
        new Session(
            ACME,
            id,
            Set.of(sockets),
            at.clock.instant().plus(Duration.ofMinutes(5)),
            Optional.empty()));
  }

  private Answer push(String tenant, String body) {
    APIGatewayV2HTTPEvent event =
        HttpApiEvents.of("POST /tenants/{tenantId}/push", Map.of("tenantId", tenant), body);
    return at.send(event);
  }

  private static String toOne(String more) {
    return "{\"sessionId\":\"" + ONE.value() + "\"," + more + "}";
  }

  @Test
  void a_session_gets_the_message_byte_for_byte() {
    String message = "{ \"b\" : [1.0, 1e5, -0, 12345678901234567890.123],\n \"a\":\"\\u0041ä\" }";

    Answer answer = push("acme", toOne("\"id\":\"p-1\", \"message\" :" + message));

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.document())
        .hasToString("{\"id\":\"p-1\",\"sockets\":2,\"gone\":0,\"failed\":0}");
    assertThat(at.sockets.postedTo("s-1"))
        .containsExactly("{\"type\":\"push\",\"id\":\"p-1\",\"message\":" + message + "}");
    assertThat(at.sockets.posted()).hasSize(2);
  }

  @Test
  void a_push_without_id_gets_one_and_is_never_a_repetition() {
    String first = push("acme", toOne("\"message\":1")).document().path("id").asText();
    String second = push("acme", toOne("\"message\":1")).document().path("id").asText();

    assertThat(first).isNotEqualTo(second).hasSize(36);
    assertThat(at.sockets.postedTo("s-1")).hasSize(2);
  }

  @Test
  void a_repetition_sends_nothing_and_gets_the_first_answer() {
    Answer first = push("acme", toOne("\"id\":\"p-1\",\"message\":1"));
    at.clock.advance(Duration.ofMinutes(5));
    at.sockets.lose("s-1");
    Answer again = push("acme", toOne("\"id\":\"p-1\",\"message\":1"));

    assertThat(again.document()).isEqualTo(first.document());
    assertThat(again.headers()).containsEntry("idempotency-replayed", "true");
    assertThat(at.sockets.posted()).hasSize(2);
  }

  @Test
  void an_id_names_one_push_of_one_tenant() {
    at.onboard("other", "bronze");
    push("acme", toOne("\"id\":\"p-1\",\"message\":1"));

    assertThat(push("acme", toOne("\"id\":\"p-1\",\"message\":2")).status()).isEqualTo(422);
    assertThat(push("other", toOne("\"id\":\"p-1\",\"message\":1")).status()).isEqualTo(200);
    assertThat(at.sockets.posted()).hasSize(2);
  }

  @Test
  void a_push_that_could_not_be_read_for_is_sent_by_its_repetition() {
    at.sessions.outage().begin();
    assertThat(push("acme", toOne("\"id\":\"p-1\",\"message\":1")).status()).isEqualTo(503);
    at.sessions.outage().end();

    assertThat(
            push("acme", toOne("\"id\":\"p-1\",\"message\":1")).document().path("sockets").asInt())
        .isEqualTo(2);
  }

  @Test
  void a_subject_gets_it_in_all_its_sessions() {
    Subject ann = Subject.of(ACME, "ann");
    for (SessionId id : Set.of(ONE, TWO)) {
      at.sessions.addToSubject(
          ACME,
          ann,
          id,
          10,
          Gcra.perMinute(600_000),
          at.sessions.findForSubject(ACME, ann),
          at.clock.instant(),
          at.clock.instant().plus(Duration.ofDays(1)));
    }
    assertThat(at.sessions.findForSubject(ACME, ann)).isNotEqualTo(SubjectSessions.NONE);

    assertThat(
            push("acme", "{\"subject\":\"ann\",\"message\":1}").document().path("sockets").asInt())
        .isEqualTo(3);
    assertThat(
            push("acme", "{\"subject\":\"bob\",\"message\":1}").document().path("sockets").asInt())
        .isZero();
  }

  /** Where connections of an attached API name their user, no token creates a session. */
  @Test
  void a_subject_gets_it_in_the_session_that_its_connections_to_an_attached_api_share() {
    session(SessionId.of(Subject.of(ACME, "ann")), "s-4", "s-5");

    assertThat(
            push("acme", "{\"subject\":\"ann\",\"message\":1}").document().path("sockets").asInt())
        .isEqualTo(2);
    assertThat(at.sockets.postedTo("s-4")).hasSize(1);
  }

  @Test
  void a_push_to_all_requests_the_first_page_once() {
    Answer answer = push("acme", "{\"all\":true,\"id\":\"p-1\",\"message\": 1.0}");
    push("acme", "{\"all\":true,\"id\":\"p-1\",\"message\": 1.0}");

    assertThat(answer.status()).isEqualTo(202);
    assertThat(answer.document()).hasToString("{\"id\":\"p-1\"}");
    assertThat(at.pushed)
        .extracting(PushPage::push, PushPage::after)
        .containsExactly(tuple(new Push(ACME, "p-1", "1.0"), Optional.empty()));
    assertThat(at.sockets.posted()).isEmpty();
  }

  @Test
  void a_page_carries_the_instant_from_which_its_id_may_name_another_push() {
    String body = "{\"all\":true,\"id\":\"p-1\",\"message\":1}";
    push("acme", body);
    Instant expiry = at.pushed.get(0).idExpiresAt().orElseThrow();

    at.clock.advance(Duration.between(at.clock.instant(), expiry).minusNanos(1));
    assertThat(push("acme", body).headers()).containsEntry("idempotency-replayed", "true");
    at.clock.advance(Duration.ofNanos(1));
    assertThat(push("acme", body).status()).isEqualTo(202);

    assertThat(at.pushed)
        .extracting(PushPage::idExpiresAt)
        .containsExactly(Optional.of(expiry), Optional.of(expiry.plus(Duration.ofDays(1))));
  }

  /** The queue may have the page although its answer was lost. */
  @Test
  void a_repetition_after_a_failure_requests_the_same_page_and_another_body_is_refused() {
    String body = "{\"all\":true,\"id\":\"p-1\",\"message\":1}";
    at.loseAnswersOfPushQueue = true;
    assertThat(push("acme", body).status()).isEqualTo(503);
    at.loseAnswersOfPushQueue = false;
    at.clock.advance(Duration.ofHours(1));

    assertThat(push("acme", body.replace("1}", "2}")).status()).isEqualTo(422);
    assertThat(push("acme", body).status()).isEqualTo(202);

    assertThat(at.pushed).hasSize(2);
    assertThat(at.pushed.get(1)).isEqualTo(at.pushed.get(0));
  }

  /** The queue may have the page: its sockets and others would get two pushes with one id. */
  @ParameterizedTest
  @ValueSource(
      strings = {"\"sessionId\":\"11111111111111111111111111111111\"", "\"subject\":\"ann\""})
  void an_id_of_a_push_to_all_that_failed_names_no_push_to_a_session_or_subject(String target) {
    at.loseAnswersOfPushQueue = true;
    assertThat(push("acme", "{\"all\":true,\"id\":\"p-1\",\"message\":1}").status()).isEqualTo(503);
    at.loseAnswersOfPushQueue = false;

    for (Duration later : List.of(Duration.ZERO, Duration.ofHours(23))) {
      at.clock.advance(later);
      assertThat(push("acme", "{" + target + ",\"id\":\"p-1\",\"message\":1}").status())
          .isEqualTo(422);
    }

    assertThat(at.sockets.posted()).isEmpty();
    at.clock.advance(Duration.ofHours(1).plusSeconds(1));
    assertThat(push("acme", "{" + target + ",\"id\":\"p-1\",\"message\":1}").status())
        .isEqualTo(200);
  }

  @Test
  void a_push_to_all_without_id_needs_no_instant() {
    push("acme", "{\"all\":true,\"message\":1}");

    assertThat(at.pushed).extracting(PushPage::idExpiresAt).containsExactly(Optional.empty());
  }

  @Test
  void a_session_that_ended_takes_nothing_and_an_unknown_tenant_is_not_found() {
    at.clock.advance(Duration.ofMinutes(5));
    assertThat(push("acme", toOne("\"message\":1")).document().path("sockets").asInt()).isZero();
    String unknown = "{\"sessionId\":\"" + "3".repeat(32) + "\",\"message\":1}";
    assertThat(push("acme", unknown).document().path("sockets").asInt()).isZero();
    assertThat(push("nobody", unknown).status()).isEqualTo(404);
    assertThat(push("nobody", "{\"all\":true,\"message\":1}").status()).isEqualTo(404);
    assertThat(at.pushed).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"message\":1}",
        "{\"all\":false,\"message\":1}",
        "{\"all\":true,\"subject\":\"ann\",\"message\":1}",
        "{\"all\":true}",
        "{\"all\":true,\"message\":}",
        "{\"all\":true,\"message\":1,\"message\":2}",
        "{\"all\":true,\"message\":1,\"more\":2}",
        "{\"all\":true,\"message\":1,\"id\":\"a b\"}",
        "{\"sessionId\":\"short\",\"message\":1}",
        "[]"
      })
  void an_invalid_push_is_refused(String body) {
    assertThat(push("acme", body).status()).isEqualTo(400);
    assertThat(at.pushed).isEmpty();
    assertThat(at.sockets.posted()).isEmpty();
  }

  @Test
  void a_message_that_does_not_fit_into_a_frame_is_refused_with_the_limit() {
    String fits = "\"" + "x".repeat(131_033) + "\"";
    assertThat(push("acme", toOne("\"id\":\"p-1\",\"message\":" + fits)).status()).isEqualTo(200);
    Answer more = push("acme", toOne("\"id\":\"p-2\",\"message\":" + fits + " "));
    assertThat(more.status()).isEqualTo(200);
    Answer tooLong = push("acme", toOne("\"id\":\"p-3\",\"message\":\"x" + fits.substring(1)));
    assertThat(tooLong.status()).isEqualTo(400);
    assertThat(tooLong.document().path("detail").asText())
        .isEqualTo("message: 131036 bytes (expected: at most 131035 bytes)");
    Answer huge = push("acme", toOne("\"message\":\"" + "x".repeat(140_000) + "\""));
    assertThat(huge.status()).isEqualTo(413);
    assertThat(huge.document().path("detail").asText()).contains("at most 135168");
    assertThat(at.sockets.posted()).hasSize(4);
  }
}
