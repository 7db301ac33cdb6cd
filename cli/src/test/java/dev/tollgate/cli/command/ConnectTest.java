package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Documents;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Request;
import dev.tollgate.cli.StubDeployment.Run;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class ConnectTest {
  private static final String THROTTLED = "{\"message\":\"Too Many Requests\"}";
  private static final String CREATE = "PUT /api/session?tenantId=acme";
  private static final String ASK = "GET /api/session?tenantId=acme&sessionId=3f2a";

  private StubDeployment deployment;

  @BeforeEach
  void open(@TempDir Path directory) throws IOException {
    deployment = new StubDeployment(directory);
    deployment.answers(CREATE, 201, Documents.SESSION.formatted(deployment.webSocketUri()));
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  @Test
  void connect_creates_a_session_and_opens_each_socket_on_it() {
    Run run = deployment.run("connect", "acme", "--sockets", "2");

    assertThat(deployment.requests())
        .containsExactly(new Request("PUT", "/api/session?tenantId=acme", ""));
    assertThat(deployment.sockets())
        .containsExactly(
            "/production?tenantId=acme&sessionId=3f2a", "/production?tenantId=acme&sessionId=3f2a");
    assertThat(run.out())
        .startsWith("Session 3f2a of acme, expires at 2026-03-01T10:05:00Z\n")
        .contains("socket 1  admitted\n", "socket 2  admitted\n");
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void connect_with_a_token_sends_it_with_each_session_request() {
    deployment.handshakes(429).answers(ASK, 200, Documents.FULL_SESSION);

    deployment.run("connect", "acme", "--token", "e.y.J");

    assertThat(deployment.authorizations()).containsExactly("Bearer e.y.J", "Bearer e.y.J");
  }

  @Test
  void connect_does_not_print_a_token_that_it_cannot_send() {
    Run run = deployment.run("connect", "acme", "--token", "SECRET\nx");

    assertThat(run.err())
        .isEqualTo(
            "tollgate: The token has U+000A as character 7 (expected: one line of visible ASCII"
                + " characters)\n");
    assertThat(run.exitCode()).isEqualTo(2);
  }

  @Test
  void connect_without_a_required_token_names_the_option() {
    assertFails(
        401,
        "{\"message\":\"Unauthorized\"}",
        Map.of("WWW-Authenticate", "Bearer"),
        "tollgate: 401: a valid token of tenant globex is required; pass it with --token. The server's reason:"
            + " Bearer\n");
  }

  @Test
  void connect_without_a_session_prints_when_to_retry() {
    assertFails(
        429,
        "{\"title\":\"Too many sessions of one subject\",\"status\":429}",
        Map.of("Retry-After", "195"),
        "tollgate: Too many sessions of one subject: Retry in 195 s, or use an existing"
            + " session with --session\n");
  }

  /** Asserts the error of a command whose session is not created because of this response. */
  private void assertFails(int status, String body, Map<String, String> headers, String error) {
    deployment.answers("PUT /api/session?tenantId=globex", status, body, headers);

    Run run = deployment.run("connect", "globex");

    assertThat(run.err()).isEqualTo(error);
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void connect_repeats_a_request_that_api_gateway_throttles() throws IOException {
    deployment
        .answers("PUT /api/session?tenantId=busy", 429, THROTTLED)
        .answers("PUT /api/session?tenantId=busy", 429, THROTTLED)
        .answers(
            "PUT /api/session?tenantId=busy",
            201,
            Documents.SESSION.formatted(deployment.webSocketUri()));

    Run run = deployment.run("connect", "busy");

    assertThat(run.waits()).containsExactly(Duration.ofSeconds(1), Duration.ofSeconds(2));
    assertThat(run.out()).contains("socket 1  admitted\n");
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void connect_that_api_gateway_throttles_does_not_blame_the_tenant() {
    assertFails(
        429,
        THROTTLED,
        Map.of(),
        "tollgate: 429 Too Many Requests: API Gateway throttles the session API for all clients."
            + " This is not a limit of tenant `globex`. Retry later, or raise the throttle of the"
            + " stage.\n");
  }

  /** The handshake's status is that of a tenant's limit; the session tells that there was none. */
  @Test
  void connect_retries_a_handshake_soon_that_api_gateway_throttled() {
    deployment
        .handshakes(429, 101)
        .answers(ASK, 429, THROTTLED)
        .answers(ASK, 200, "{\"admission\":{\"admitted\":true}}");

    Run run = deployment.run("connect", "acme", "--retry");

    assertThat(run.out())
        .contains("socket 1  refused: 429 Too Many Requests\n", "socket 1  next attempt in ")
        .endsWith("socket 1  admitted\n");
    assertThat(run.waits())
        .hasSizeLessThanOrEqualTo(2)
        .allSatisfy(wait -> assertThat(wait).isLessThan(Duration.ofSeconds(2)));
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void connect_that_api_gateway_throttles_all_the_time_gives_up() {
    deployment.handshakes(429).answers(ASK, 429, THROTTLED);

    Run run = deployment.run("connect", "acme");

    assertThat(run.err()).startsWith("tollgate: 429 Too Many Requests: API Gateway throttles");
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  @Timeout(60)
  void connect_with_send_repeats_a_message_that_api_gateway_refuses() {
    deployment
        .answersMessages(
            "{\"message\":\"Too Many Requests\",\"connectionId\":\"c=\",\"requestId\":\"r=\"}")
        .answersMessages(
            "{\"type\":\"accepted\",\"id\":\"$id\"}",
            "{\"type\":\"reply\",\"id\":\"$id\",\"message\":1}");

    Run run = deployment.run("connect", "acme", "--send", "hello");

    assertThat(run.out()).contains("socket 1  received {\"message\":\"Too Many Requests\"");
    assertThat(deployment.requests())
        .filteredOn(request -> request.method().equals("SEND"))
        .hasSize(2);
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void connect_to_an_existing_session_creates_none() {
    Run run = deployment.run("connect", "acme", "--session", "other");

    assertThat(deployment.requests()).isEmpty();
    assertThat(deployment.sockets()).containsExactly("/production?tenantId=acme&sessionId=other");
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void connect_prints_when_to_retry_a_refused_socket_and_fails() {
    deployment.handshakes(101, 429).answers(ASK, 200, Documents.FULL_SESSION);

    Run run = deployment.run("connect", "acme", "--sockets", "2");

    assertThat(run.out())
        .contains("socket 1  admitted\n")
        .endsWith(
            """
            socket 2  refused: 429 Too Many Requests
            Retry in 12 s (2026-03-01T10:00:12Z), 3 ahead in line: the tenant has no token
              open connections: 1 of 2 in this session, 7 of 10 for the tenant
              new connections per minute: 5 per session, 60 for the tenant
            """);
    assertThat(run.waits()).isEmpty();
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void connect_with_retry_waits_and_retries_the_refused_sockets() {
    deployment
        .handshakes(101, 429, 429, 101, 429, 101)
        .answers(ASK, 200, Documents.FULL_SESSION)
        .answers(
            ASK,
            200,
            "{\"admission\":{\"admitted\":false,\"ahead\":0}}",
            Map.of("Retry-After", "3"));

    Run run = deployment.run("connect", "acme", "--sockets", "3", "--retry");

    assertThat(run.waits().stream().reduce(Duration.ZERO, Duration::plus))
        .as("the sockets of a session have one place in line, so they wait one after another")
        .isEqualTo(Duration.ofSeconds(12 + 3 + 3));
    assertThat(run.out())
        .contains("socket 2  admitted\n", "Retry in 3 s, first in line\n", "socket 3  admitted\n");
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void connect_with_retry_gives_up_when_no_socket_is_admitted() {
    deployment
        .handshakes(429, 429, 429, 429, 429, 429, 429)
        .answers(ASK, 200, Documents.FULL_SESSION);

    Run run = deployment.run("connect", "acme", "--retry");

    assertThat(run.waits()).hasSize(4);
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void connect_with_retry_does_not_wait_if_the_time_is_unknown() {
    deployment
        .handshakes(429)
        .answers(
            ASK,
            200,
            "{\"connections\":2,\"limits\":{\"connectionsPerSession\":2},"
                + "\"admission\":{\"admitted\":false,\"reason\":\"SESSION_CONNECTIONS\"}}");

    Run run = deployment.run("connect", "acme", "--retry");

    assertThat(run.out())
        .contains("Waiting does not help: the session has 2 of 2 connections. Close one first.\n");
    assertThat(run.waits()).isEmpty();
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void connect_as_json_prints_a_document_per_event() {
    deployment.handshakes(429).answers(ASK, 200, Documents.FULL_SESSION);

    Run run = deployment.run("connect", "acme", "--json");

    assertThat(run.out().lines())
        .containsExactly(
            Documents.SESSION.formatted(deployment.webSocketUri()),
            "{\"socket\":1,\"admitted\":false,\"status\":429}",
            Documents.FULL_SESSION);
  }

  @Test
  @Timeout(60)
  void connect_with_hold_keeps_the_socket_and_its_session_alive() {
    deployment
        .answers(ASK, 200, Documents.FULL_SESSION)
        .answers(
            "PUT /api/session?tenantId=acme&sessionId=3f2a",
            200,
            Documents.SESSION.formatted(deployment.webSocketUri()));

    Run run = deployment.run("connect", "acme", "--hold", "600");

    assertThat(run.waits().stream().reduce(Duration.ZERO, Duration::plus))
        .isEqualTo(Duration.ofMinutes(10));
    assertThat(deployment.requests())
        .filteredOn(request -> request.method().equals("HEARTBEAT"))
        .as("heartbeats: API Gateway closes a socket that is idle for ten minutes")
        .isNotEmpty();
    assertThat(deployment.requests())
        .filteredOn(
            request -> request.path().contains("sessionId") && request.method().equals("PUT"))
        .as("renewals: the session ends when it is idle for 200 s")
        .hasSize(5);
    assertThat(deployment.sockets()).hasSize(1);
    assertThat(run.exitCode()).isZero();
  }

  @Test
  @Timeout(60)
  void connect_with_retry_opens_a_dropped_socket_again_on_the_same_session() {
    deployment.sendsAndClosesOnce("{\"type\":\"news\"}");
    deployment.answers(ASK, 200, Documents.FULL_SESSION);

    Run run = deployment.run("connect", "acme", "--retry", "--hold", "30");

    assertThat(run.out())
        .as("a wait of less than a second, rounded")
        .containsPattern(
            "socket 1  admitted\n"
                + "(?s:.*)socket 1  closed by the server: 1001 session ended\n"
                + "(?s:.*)socket 1  next attempt in (0\\.\\d|1\\.0) s\n"
                + "(?s:.*)socket 1  admitted\n");
    assertThat(deployment.sockets())
        .hasSize(2)
        .allMatch("/production?tenantId=acme&sessionId=3f2a"::equals);
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void connect_in_a_terminal_counts_down() {
    deployment
        .handshakes(429, 101)
        .repliesWith(prompt -> "")
        .answers(ASK, 200, Documents.FULL_SESSION);

    Run run = deployment.run("connect", "acme", "--retry");

    assertThat(run.waits()).hasSize(12).containsOnly(Duration.ofSeconds(1));
    assertThat(run.err())
        .startsWith(
            "\rsocket 1  3 ahead in line, next attempt in 12 s\rsocket 1  3 ahead in line, next attempt in 11 s")
        .contains("\rsocket 1  1 ahead in line, next attempt in 4 s")
        .endsWith(
            "\r" + " ".repeat("socket 1  1 ahead in line, next attempt in 1 s".length()) + "\r");
  }

  @Test
  @Timeout(20)
  void connect_with_hold_prints_frames_and_the_close() {
    deployment.sendsAndCloses("{\"type\":\"reply\"}");

    Run run = deployment.run("connect", "acme", "--hold", "300");

    assertThat(run.out())
        .contains(
            "socket 1  received {\"type\":\"reply\"}\n",
            "socket 1  closed by the server: 1001 session ended\n");
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  @Timeout(20)
  void received_text_cannot_control_the_terminal() {
    deployment.sendsAndCloses("{\"message\":\"\u009b31mred \u202eevil \u2028 line\"}");

    Run run = deployment.run("connect", "acme", "--hold", "300");

    assertThat(run.out())
        .contains("socket 1  received {\"message\":\"\\u009b31mred \\u202eevil \\u2028 line\"}\n");
  }

  @Test
  @Timeout(20)
  void connect_with_send_waits_for_the_reply_on_every_socket() {
    deployment.answersMessages(
        "{\"type\":\"accepted\",\"id\":\"$id\"}",
        "{\"type\":\"reply\",\"id\":\"$id\",\"message\":1}");

    Run run = deployment.run("connect", "acme", "--sockets", "2", "--send", "{\"a\": [1]}");

    assertThat(deployment.requests())
        .endsWith(
            new Request(
                "SEND", "", "{\"action\":\"PooledSQS\",\"id\":\"$id\",\"message\":{\"a\":[1]}}"));
    assertThat(run.out())
        .contains(
            "socket 1  received {\"type\":\"reply\"", "socket 2  received {\"type\":\"reply\"");
    assertThat(run.exitCode()).isZero();
  }

  @Test
  @Timeout(20)
  void connect_with_send_fails_if_the_message_is_rejected() {
    deployment.answersMessages("{\"type\":\"error\",\"code\":\"NOT_SILO\"}");

    Run run = deployment.run("connect", "acme", "--send", "hello 1", "--silo");

    assertThat(deployment.requests())
        .endsWith(
            new Request(
                "SEND", "", "{\"action\":\"SiloSQS\",\"id\":\"$id\",\"message\":\"hello 1\"}"));
    assertThat(run.out()).contains("NOT_SILO");
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void connect_of_an_unknown_tenant_opens_nothing() {
    deployment.answers(
        "PUT /api/session?tenantId=nobody",
        404,
        Documents.problem(404, "Not Found", "no tenant nobody"));

    Run run = deployment.run("connect", "nobody");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).isEqualTo("tollgate: no tenant nobody\n");
    assertThat(deployment.sockets()).isEmpty();
  }
}
