package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Documents;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Request;
import dev.tollgate.cli.StubDeployment.Response;
import dev.tollgate.cli.StubDeployment.Run;
import dev.tollgate.cli.context.Outputs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The command line of {@code tollgate verify}; {@code VerifyIT} runs it against a real stack. */
class VerifyTest {
  @TempDir private Path directory;
  private StubDeployment deployment;

  @BeforeEach
  void open() throws IOException {
    deployment = new StubDeployment(directory);
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  private static final Map<String, String> HEADERS =
      Map.of(
          "Cache-Control", "no-store",
          "X-Content-Type-Options", "nosniff",
          "ETag", "\"3\"",
          "Location", "/tenants/acme");

  /** A deployment that onboards tenants and answers PUT /session with 401. */
  private static Optional<Response> needingTokens(Request request, Optional<String> ifMatch) {
    boolean session = request.path().startsWith("/api/session");
    return Optional.of(
        switch (request.method()) {
          case "POST" -> new Response(201, Documents.FULL_ACME, HEADERS);
          case "DELETE" -> new Response(204, "", HEADERS);
          case "PUT" ->
              session
                  ? new Response(
                      401, "{\"message\":\"Unauthorized\"}", Map.of("WWW-Authenticate", "Bearer"))
                  : new Response(201, Documents.FULL_BRONZE, HEADERS);
          default ->
              new Response(
                  200,
                  request.path().endsWith("/tiers")
                      ? "{\"tiers\":[" + Documents.FULL_BRONZE + "]}"
                      : Documents.FULL_ACME,
                  HEADERS);
        });
  }

  @Test
  void an_unknown_check_is_refused_with_the_names_of_all() {
    Run run = deployment.run("verify", "--check", "everything");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("--check: everything (expected: one of onboard, retune,");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void too_many_checks_at_once_are_refused() {
    Run run = deployment.run("verify", "--parallel", "17");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("--parallel: 17 (expected: 1 to 16)");
  }

  @Test
  void a_report_that_could_not_be_written_is_refused_before_the_run() {
    Run run = deployment.run("verify", "--junit", "missing/report.xml");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("--junit: missing/report.xml (expected: a file in a writable");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void without_permission_nothing_is_created() {
    deployment.answers("GET /control/tiers", 403, "{\"message\":\"Forbidden\"}");

    Run run = deployment.run("verify");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("403 Forbidden");
    assertThat(deployment.requests()).extracting(Request::method).containsOnly("GET");
  }

  @Test
  void lifted_limits_are_not_verified() {
    deployment.answers(
        "GET /control/tiers",
        200,
        "{\"tiers\":[]}",
        Map.of("Tollgate-Admit-All", "until=2026-03-12T16:00:00Z"));

    Run run = deployment.run("verify");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .contains(
            "All limits are lifted until 2026-03-12T16:00:00Z, so they cannot be verified. Run"
                + " `tollgate admit-all off` first");
    assertThat(deployment.requests()).extracting(Request::method).containsOnly("GET");
  }

  @Test
  void a_run_that_does_not_start_replaces_an_earlier_junit_report() throws IOException {
    deployment.answers("GET /control/tiers", 429, "{\"message\":\"Too Many Requests\"}");
    Path junit = directory.resolve("report.xml");
    Files.writeString(junit, "<testsuite failures=\"0\" errors=\"0\"/>");

    Run run = deployment.run("verify", "--junit", junit.toString());

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(Files.readString(junit)).contains("errors=\"1\"", "429 Too Many Requests");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void a_junit_report_on_a_full_disk_is_refused_before_the_run() {
    Path full = directory.resolve("report.xml");
    try {
      Files.createSymbolicLink(full, Path.of("/dev/full"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }

    Run run = deployment.run("verify", "--junit", full.toString());

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .isEqualTo("tollgate: --junit: " + full + " (expected: a file that can be written)\n");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void a_check_without_a_token_is_skipped_and_fails_the_command() {
    deployment.answersWith(VerifyTest::needingTokens);

    Run run = deployment.run("verify", "--check", "limits");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).contains("SKIPPED", "--token-command", "0 passed, 0 failed, 1 skipped");
    assertThat(deployment.requests().stream().filter(it -> it.method().equals("DELETE")))
        .as("a tenant, twice, and three tiers")
        .hasSizeBetween(4, 5);
  }

  @Test
  void a_terminal_shows_the_progress_in_one_line_below_the_results() {
    deployment.answersWith(VerifyTest::needingTokens).confirmedBy(question -> true);

    assertThat(deployment.run("verify", "--check", "limits").err())
        .contains("\rFinished 0 of 1 checks, 0 s")
        .containsPattern("\r +\r  SKIPPED limits .*\n\rFinished ")
        .contains("\rFinished 1 of 1 checks, ");
    assertThat(deployment.run("verify", "--check", "limits", "--json").err())
        .doesNotContain("Finished", "\r");
  }

  @Test
  void the_token_command_gets_the_tenant_and_its_token_is_sent() {
    deployment.answersWith(VerifyTest::needingTokens);

    deployment.run("verify", "--check", "limits", "--token-command", "echo token-of-$TENANT");

    assertThat(deployment.authorizations())
        .singleElement()
        .asString()
        .matches("Bearer token-of-verify-[0-9a-z]{6}-limits");
  }

  @Test
  void a_token_command_that_fails_is_reported() {
    deployment.answersWith(VerifyTest::needingTokens);

    Run run = deployment.run("verify", "--check", "limits", "--token-command", "exit 3");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).contains("--token-command: no token for tenant", "(exit code 3)");
  }

  @Test
  void a_token_of_two_lines_is_not_sent_and_not_printed() throws IOException {
    deployment.answersWith(VerifyTest::needingTokens);
    Path junit = directory.resolve("report.xml");

    Run run =
        deployment.run(
            "verify",
            "--check",
            "limits",
            "--junit",
            junit.toString(),
            "--token-command",
            "printf 'eyJ.SECRET\\nWarning'");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).contains("The token has U+000A as character 11");
    assertThat(run.out() + run.err() + Files.readString(junit)).doesNotContain("SECRET");
    assertThat(deployment.authorizations()).isEmpty();
  }

  @Test
  void a_context_that_is_chosen_during_the_run_is_not_addressed() throws IOException {
    Path other = directory.resolve("other.json");
    Files.writeString(
        other,
        Files.readString(directory.resolve(Outputs.DEFAULT))
            .replace("/control", "/other-control")
            .replace("/api", "/other-api"));
    deployment.addContext("other", other);
    AtomicBoolean chosen = new AtomicBoolean();
    deployment.answersWith(
        (request, ifMatch) -> {
          if (chosen.compareAndSet(false, true)) {
            deployment.run("context", "use", "other");
          }
          return needingTokens(request, ifMatch);
        });

    deployment.run("verify", "--check", "limits");

    assertThat(deployment.requests())
        .extracting(Request::path)
        .anyMatch(path -> path.startsWith("/api/session"))
        .noneMatch(path -> path.startsWith("/other"));
  }

  /** The outputs of an application whose own API Tollgate is attached to. */
  private void attach() throws IOException {
    Path outputs = directory.resolve(Outputs.DEFAULT);
    Files.writeString(outputs, Files.readString(outputs).replace("\"SessionURL\"", "\"Other\""));
  }

  @Test
  void an_attached_api_needs_the_query_of_a_handshake() throws IOException {
    attach();
    deployment.answersWith(VerifyTest::needingTokens);
    for (String wrong : new String[] {"", "--handshake=user=ann", "--handshake=TENANT#x"}) {
      Run run = deployment.run(("verify --check limits " + wrong).strip().split(" "));

      assertThat(run.exitCode()).isEqualTo(2);
      assertThat(run.err()).contains("--handshake: ", "such as 'workspace=TENANT&user=verify'");
    }
    assertThat(deployment.run("verify", "--handshake", "token=TOKEN").err())
        .contains("--handshake: TOKEN needs the option --token-command");
    assertThat(deployment.requests()).extracting(Request::method).containsOnly("GET");
  }

  @Test
  void checks_that_an_attached_api_does_not_promise_are_listed_and_fail_nothing()
      throws IOException {
    attach();
    deployment.answersWith(VerifyTest::needingTokens);

    Run run =
        deployment.run(
            "verify", "--handshake", "w=TENANT", "--check", "sessions", "--check", "answers");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out())
        .contains(
            "N/A     sessions",
            "reason    Connections of an attached API open their sessions",
            "N/A     answers",
            "0 passed, 0 failed, 0 skipped, 2 not applicable.");
  }
}
