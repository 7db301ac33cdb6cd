package dev.tollgate.aws.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.Sockets.PostResult;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests to the management API of connections, and its responses. */
class ApiGatewaySocketsTest extends ScriptedAdapters {
  private static final String POST = "POST /abc/production/@connections/c";

  @Test
  void a_socket_is_closed_at_the_address_of_its_clients() {
    aws.sockets().close("abc=");

    assertThat(services.operations()).hasSize(1);
    assertThat(services.operations().get(0)).startsWith("DELETE /abc/production/@connections/abc");
  }

  @Test
  void a_lost_socket_counts_as_closed_and_an_unreachable_one_does_not() {
    String close = "DELETE /abc/production/@connections/c";
    services.on(close, request -> Answer.failure(410, "GoneException"));
    assertThatCode(() -> aws.sockets().close("c")).doesNotThrowAnyException();

    services.on(close, request -> Answer.failure(403, "ForbiddenException"));
    assertThatThrownBy(() -> aws.sockets().close("c")).isInstanceOf(Unavailable.class);
  }

  @Test
  void a_socket_is_open_unless_it_is_lost_or_its_state_is_unknown() {
    String get = "GET /abc/production/@connections/c";
    services.on(get, request -> Answer.ok("{\"connectedAt\":\"2026-03-01T12:00:00Z\"}"));
    assertThat(aws.sockets().isOpen("c")).isTrue();

    services.on(get, request -> Answer.failure(410, "GoneException"));
    assertThat(aws.sockets().isOpen("c")).isFalse();

    services.on(get, request -> Answer.failure(429, "LimitExceededException"));
    assertThatThrownBy(() -> aws.sockets().isOpen("c")).isInstanceOf(Unavailable.class);
  }

  @Test
  void a_frame_is_sent_unchanged_with_the_functions_own_credentials() {
    assertThat(aws.sockets().post("c", "{\"t\":\"😀\"}")).isEqualTo(PostResult.SENT);

    assertThat(services.requests(POST))
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.body()).isEqualTo("{\"t\":\"😀\"}");
              assertThat(request.accessKey()).isEqualTo("own");
            });
  }

  @Test
  void a_frame_to_a_lost_socket_is_gone_and_not_retried() {
    services.on(POST, request -> Answer.failure(410, "GoneException"));

    assertThat(aws.sockets().post("c", "{}")).isEqualTo(PostResult.GONE);

    assertThat(services.requests(POST)).hasSize(1);
  }

  @Test
  void a_throttled_frame_is_sent_again() {
    AtomicInteger count = new AtomicInteger();
    services.on(
        POST,
        request ->
            count.incrementAndGet() < 2
                ? Answer.failure(429, "LimitExceededException")
                : Answer.ok(""));

    assertThat(aws.sockets().post("c", "{}")).isEqualTo(PostResult.SENT);

    assertThat(services.requests(POST)).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource({
    "429, LimitExceededException, 3",
    "500, InternalServerError, 1",
    "403, ForbiddenException, 1",
    "413, PayloadTooLargeException, 1",
    "400, BadRequestException, 1"
  })
  void a_failed_frame_is_sent_again_only_if_it_was_throttled(
      int status, String type, int attempts) {
    services.on(POST, request -> Answer.failure(status, type));

    assertThatThrownBy(() -> aws.sockets().post("c", "{}"))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("PostToConnection");

    assertThat(services.requests(POST)).hasSize(attempts);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a b", "%zz", "a?b", "a/b", "\u00e9", "a\nb", "\uD83D"})
  void a_malformed_connection_id_causes_no_request(String id) {
    aws.sockets().close(id);

    assertThat(aws.sockets().isOpen(id)).isFalse();
    assertThat(aws.sockets().post(id, "{}")).isEqualTo(PostResult.GONE);
    assertThat(services.requests()).isEmpty();
  }

  @Test
  void a_well_formed_connection_id_causes_a_request() {
    aws.sockets().close("L0SM9cOFvHcCIhw=");

    assertThat(services.requests()).hasSize(1);
  }
}
