package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.session.Lifetime;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.http.testing.HttpApiEvents;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SessionsTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final String REST = "9".repeat(20);

  private final ControlPlaneFixture at = new ControlPlaneFixture();

  @BeforeEach
  void onboard() {
    at.onboard("acme", "bronze");
  }

  private void session(String reference, Instant endsAt, String... sockets) {
    at.sessions.create(
        new Session(
            ACME,
            new SessionId(reference + REST),
            Set.of(sockets),
            endsAt,
            Optional.empty(),
            Stream.of(sockets)
                .collect(Collectors.toMap(socket -> socket, socket -> at.clock.instant())),
            Optional.empty(),
            Map.of(),
            new Lifetime(Optional.of(ControlPlaneFixture.START), Optional.empty()),
            Optional.empty(),
            false));
  }

  private Instant later() {
    return at.clock.instant().plus(Duration.ofMinutes(5));
  }

  private Answer list(String tenant, Map<String, String> query) {
    APIGatewayV2HTTPEvent event =
        HttpApiEvents.of("GET /tenants/{tenantId}/sessions", Map.of("tenantId", tenant));
    event.setQueryStringParameters(new HashMap<>(query));
    return at.send(event);
  }

  @Test
  void a_damaged_row_is_skipped_and_logged() {
    session("0123456789ab", later());
    at.sessions.addUnreadable(new UnreadableRow("a session of", "acme", "endsAt is missing"));

    assertThat(list("acme", Map.of()).document().at("/sessions")).hasSize(1);

    assertThat(at.context.logged())
        .anySatisfy(line -> assertThat(line).contains("endsAt is missing"));
    assertThat(end("acme", "0123456789ab").status()).isEqualTo(204);
  }

  private Answer end(String tenant, String session) {
    return at.send(
        HttpApiEvents.of(
            "DELETE /tenants/{tenantId}/sessions/{session}",
            Map.of("tenantId", tenant, "session", session)));
  }

  @Test
  void a_list_has_the_first_digits_of_ids_and_no_id() {
    session("0123456789ab", later(), "s-1", "s-2");

    Answer answer = list("acme", Map.of());

    assertThat(answer.document())
        .hasToString(
            """
            {"sessions":[{"session":"0123456789ab","connections":2,\
            "createdAt":"2026-03-12T09:15:02Z","endsAt":"2026-03-12T09:20:02Z"}]}""");
  }

  @Test
  void ended_sessions_are_left_out() {
    session("0123456789ab", at.clock.instant());

    assertThat(list("acme", Map.of()).document().at("/sessions")).isEmpty();
  }

  @Test
  void pages_have_each_session_once_and_cursors_without_ids() {
    List<String> all = List.of("000000000001", "000000000002", "aaaaaaaaaaaa", "ffffffffffff");
    all.forEach(reference -> session(reference, later()));
    List<String> found = new ArrayList<>();
    Map<String, String> query = new HashMap<>(Map.of("limit", "1"));
    for (int i = 0; i < all.size(); i++) {
      JsonNode page = list("acme", query).document();
      page.at("/sessions").forEach(session -> found.add(session.path("session").asText()));
      String next = page.path("next").asText();
      assertThat(new String(Base64.getUrlDecoder().decode(next), StandardCharsets.ISO_8859_1))
          .doesNotContain(REST.substring(0, 4));
      query.put("cursor", next);
    }
    assertThat(found).isEqualTo(all);
    assertThat(query.get("cursor")).isEmpty();
  }

  @Test
  void an_ended_session_closes_its_sockets_and_has_an_entry_of_the_audit() {
    session("0123456789ab", later(), "s-1");
    session("0123456789ac", later(), "s-2");
    at.clock.advance(Duration.ofMinutes(1));

    assertThat(end("acme", "0123456789ab").status()).isEqualTo(204);
    assertThat(end("acme", "0123456789ab").status()).isEqualTo(204);

    assertThat(at.sockets.closed()).containsExactly("s-1");
    assertThat(at.sessions.list(ACME))
        .extracting(session -> session.id().value())
        .containsExactly("0123456789ac" + REST);
    assertThat(at.tenants.notes()).containsExactly("acme SessionEnded {session=0123456789ab}");
  }

  @Test
  void no_session_ends_without_an_entry_of_the_audit() {
    session("0123456789ab", later(), "s-1");
    at.tenants.outage().begin("note");

    assertThat(end("acme", "0123456789ab").status()).isEqualTo(503);

    assertThat(at.sockets.closed()).isEmpty();
  }

  @Test
  void two_sessions_with_the_same_digits_are_not_ended() {
    session("0123456789ab", later());
    at.sessions.create(
        new Session(
            ACME,
            new SessionId("0123456789ab" + "8".repeat(20)),
            Set.of(),
            later(),
            Optional.empty()));

    assertThat(end("acme", "0123456789ab").status()).isEqualTo(409);

    assertThat(at.sessions.list(ACME)).hasSize(2);
  }

  @Test
  void an_ended_session_with_the_same_digits_is_not_in_the_way() {
    session("0123456789ab", later());
    at.sessions.create(
        new Session(
            ACME,
            new SessionId("0123456789ab" + "8".repeat(20)),
            Set.of(),
            at.clock.instant(),
            Optional.empty()));

    assertThat(end("acme", "0123456789ab").status()).isEqualTo(204);
  }

  @Test
  void a_whole_id_is_refused_and_not_logged() {
    session("0123456789ab", later());

    assertThat(end("acme", "0123456789ab" + REST).status()).isEqualTo(400);

    assertThat(at.context.logged().toString()).doesNotContain(REST);
    assertThat(at.sessions.list(ACME)).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0123456789a", "0123456789AB", "0123456789ag"})
  void a_malformed_session_is_refused(String session) {
    assertThat(end("acme", session).status()).isEqualTo(400);
  }

  @Test
  void a_missing_tenant_and_a_bad_cursor_are_refused() {
    assertThat(list("nobody", Map.of()).status()).isEqualTo(404);
    assertThat(end("nobody", "0123456789ab").status()).isEqualTo(404);
    assertThat(list("acme", Map.of("cursor", "x")).status()).isEqualTo(400);
    assertThat(list("acme", Map.of("limit", "0")).status()).isEqualTo(400);
  }
}
