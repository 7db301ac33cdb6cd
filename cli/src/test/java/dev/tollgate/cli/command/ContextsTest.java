package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Documents;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Request;
import dev.tollgate.cli.StubDeployment.Run;
import dev.tollgate.cli.context.Outputs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which deployment a command addresses, and how it asks if that is production. */
class ContextsTest {
  private static final String TIERS = "{\"tiers\":[" + Documents.BRONZE + "]}";
  private static final String CHANGED_TIERS =
      """
      tiers:
        bronze:
          isolation: POOL
          limits: {tenantPerMinute: 60, sessionPerMinute: 5, connectionsPerSession: 2,
                   tenantConnections: 5, sessionTTL: 200, messagesPerMinute: 60}
      """;

  @TempDir private Path directory;
  private StubDeployment deployment;

  @BeforeEach
  void open() throws IOException {
    deployment = new StubDeployment(directory);
    for (String name : List.of("local", "prod", "staging", "file")) {
      deployment.answers("GET /" + name + "/tenants", 200, "{\"tenants\":[]}");
      deployment.answers("GET /" + name + "/tiers", 200, TIERS);
    }
    for (String name : List.of("prod", "staging", "file")) {
      outputs(name + ".json", name);
    }
    deployment.answers("GET /control/tenants", 200, "{\"tenants\":[]}");
    deployment.answers("GET /control/tiers", 200, TIERS);
    Files.writeString(directory.resolve("tenants.csv"), "tenantId,tier\nacme,bronze\n");
    Files.writeString(
        directory.resolve("saas.yaml"), "tenants: {acme: {tier: bronze}}\n" + CHANGED_TIERS);
    for (String name : List.of("prod", "control")) {
      deployment
          .answers("GET /" + name + "/tenants/acme", 200, Documents.ACME)
          .answers("GET /" + name + "/tiers/bronze", 200, Documents.BRONZE)
          .answers("PUT /" + name + "/tiers/bronze?dryRun=true", 200, Documents.DRY_BRONZE)
          .answers("PUT /" + name + "/tiers/bronze?dryRun=true&limit=1", 200, Documents.DRY_BRONZE);
    }
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  @Test
  void a_command_addresses_the_deployment_that_is_named_most_explicitly() {
    run("context add prod --outputs prod.json --production");
    run("context add staging --outputs staging.json");
    assertThat(addressed("tenants list")).isEqualTo("/control/tenants");

    run("context use prod");
    assertThat(addressed("tenants list")).isEqualTo("/prod/tenants");

    deployment.environment("TOLLGATE_CONTEXT", "staging");
    assertThat(addressed("tenants list")).isEqualTo("/staging/tenants");
    assertThat(addressed("tenants list --context local")).isEqualTo("/control/tenants");
    assertThat(addressed("--outputs file.json tenants list")).isEqualTo("/file/tenants");

    deployment.environment("TOLLGATE_CONTEXT", "");
    assertThat(addressed("tenants list")).isEqualTo("/prod/tenants");
  }

  @Test
  void list_marks_the_context_in_use_and_production() {
    run("context add prod --outputs prod.json --production --region eu-west-1 --profile ops");
    run("context use prod");

    String uri = deployment.uri().toString();
    assertThat(run("context list").out())
        .isEqualTo(
            """
               CONTEXT  URL%1$s  REGION     PROFILE  OUTPUTS
               local    %2$s/control/                      .tollgate/outputs.json
            *  prod     %2$s/prod      eu-west-1  ops      prod.json               PRODUCTION
            """
                .formatted(" ".repeat(uri.length() + "/control/".length() - 3), uri));
    deployment.environment("TOLLGATE_CONTEXT", "local");
    assertThat(run("context list").out())
        .contains("*  local", "   prod")
        .endsWith("\nTOLLGATE_CONTEXT is set: local\n");
    assertThat(run("context use prod").out())
        .isEqualTo(
            """
            Commands now address prod.
            In this shell, TOLLGATE_CONTEXT takes precedence: local.
            """);
    assertThat(run("context list --json").out())
        .startsWith("{\"current\":\"prod\",\"contexts\":{\"local\":{\"outputs\":\"")
        .contains("\"region\":\"eu-west-1\",\"profile\":\"ops\",\"production\":true}}}");
  }

  @Test
  void help_shows_the_target() {
    run("context add prod --outputs prod.json --production --region eu-west-1");

    String uri = deployment.uri().toString();
    assertThat(run("tenants offboard --help").out())
        .endsWith("\nTarget: local (" + uri + "/control)\n");
    assertThat(run("tenants list --context prod --help").out())
        .endsWith("\nTarget: prod (PRODUCTION, " + uri + "/prod, eu-west-1)\n");
    assertThat(run("tenants list --context nosuch --help").out())
        .endsWith("\nTarget: none. No context named `nosuch`. Contexts: local, prod.\n");
    assertThat(run("--help").out()).endsWith("\nTarget: local (" + uri + "/control)\n");
    assertThat(run("up --help").out()).doesNotContain("Target:");
  }

  @Test
  void an_unknown_context_is_reported_with_the_contexts_there_are() {
    run("context add prod --outputs prod.json");

    for (String command :
        List.of("tenants list --context nosuch", "context use nosuch", "context remove nosuch")) {
      Run run = run(command);

      assertThat(run.exitCode()).isEqualTo(2);
      assertThat(run.err())
          .isEqualTo("tollgate: No context named `nosuch`. Contexts: local, prod.\n");
    }
    deployment.environment("TOLLGATE_CONTEXT", "nosuch");
    assertThat(run("tenants list").err()).contains("No context named `nosuch`.");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void without_a_context_a_file_in_the_current_directory_addresses_nothing() {
    run("context remove local");

    Run run = run("tenants list");

    assertThat(directory.resolve(Outputs.DEFAULT)).exists();
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .isEqualTo(
            "tollgate: No deployment is addressed. Start a local cloud with `./tollgate up`, choose a"
                + " context with --context, or pass the file that `cdk deploy --outputs-file` wrote"
                + " with --outputs. There are no contexts. Add one with `tollgate context add NAME"
                + " --outputs FILE`.\n");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void a_file_that_another_deployment_has_overwritten_is_refused() throws IOException {
    run("context add staging --outputs staging.json");
    outputs("staging.json", "prod");
    outputs(Outputs.DEFAULT.toString(), "prod");

    assertThat(run("tenants list --context staging").err())
        .contains(
            "Context `staging` is for the deployment " + deployment.uri() + "/staging, but ",
            "staging.json now describes " + deployment.uri() + "/prod.",
            "`tollgate context remove staging` and add it again");
    assertThat(run("tenants list").exitCode()).isEqualTo(2);
    assertThat(run("tenants list").err()).endsWith("again with `./tollgate up`.\n");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void remove_of_the_context_in_use_says_which_is_next() {
    run("context add prod --outputs prod.json");
    run("context use prod");

    assertThat(run("context remove prod").out())
        .isEqualTo("Removed context prod.\nIt was in use. Commands now address local.\n");
    assertThat(run("context remove local").out()).isEqualTo("Removed context local.\n");
    assertThat(run("context list").out()).isEqualTo("No contexts.\n");
    assertThat(directory.resolve("prod.json")).exists();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "context add prod | --outputs is missing",
        "context add prod --outputs none.json | none.json: no such file",
        "context add local --outputs prod.json | `tollgate up` maintains this context",
        "context add a/b --outputs prod.json | Context name: a/b (expected: letters",
        "tenants list --context local --outputs prod.json | because --outputs is given",
        "tenants list --stack Other | --stack: Other (expected: Tollgate"
      })
  void a_command_line_that_does_not_name_one_deployment_is_refused(String command, String error) {
    Run run = run(command);

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains(error);
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void add_does_not_replace_a_context() {
    run("context add prod --outputs prod.json --production");

    Run again = run("context add prod --outputs staging.json");

    assertThat(again.exitCode()).isEqualTo(2);
    assertThat(again.err()).contains("Context `prod` already exists.");
    assertThat(run("context list").out()).contains("PRODUCTION");
  }

  @Test
  void a_damaged_file_of_contexts_is_reported() throws IOException {
    Path file = directory.resolve("tollgate/contexts.json");
    Files.writeString(file, "{\"contexts\":{\"prod\":{\"outputs\":\"/x\"}}}");

    assertThat(run("tenants list").err())
        .isEqualTo("tollgate: " + file + ": context prod: stack is missing (expected: a string)\n");
    Files.writeString(file, "{");
    assertThat(run("tenants list").err()).contains("contexts.json: line 1 is not JSON");
  }

  /** The commands that ask against every deployment. */
  private static final List<String> REMOVING =
      List.of("tenants offboard acme", "tiers delete bronze", "apply saas.yaml");

  /** The commands that ask against production only. */
  private static final List<String> OTHERS =
      List.of(
          "tenants onboard acme --tier bronze",
          "tenants set-tier acme silver",
          "tenants override acme sessionTTL=60",
          "tenants suspend acme",
          "tenants activate acme",
          "tenants import tenants.csv",
          "tiers apply saas.yaml",
          "doctor --repair",
          "admit-all on --reason x",
          "admit-all off",
          "connect acme");

  static Stream<String> changingCommands() {
    return Stream.of(REMOVING, OTHERS, List.of("verify")).flatMap(List::stream);
  }

  @ParameterizedTest
  @MethodSource("changingCommands")
  void production_asks_for_the_name_of_the_context(String command) {
    run("context add prod --outputs prod.json --production");
    run("context use prod");
    List<String> prompts = new ArrayList<>();
    deployment
        .answers("GET /prod/tenants/acme", 200, "{}")
        .answers("GET /prod/tiers/bronze", 200, "{}");

    for (String reply : List.of("y", "", "local")) {
      deployment.repliesWith(
          prompt -> {
            prompts.add(prompt);
            return reply;
          });
      // `tiers apply` shows its warnings before it asks.
      String warnings = command.startsWith("tiers apply") ? "acme: 7 connections are open\n" : "";
      assertThat(run(command).err())
          .isEqualTo(warnings + "tollgate: Cancelled. Nothing was changed.\n");
    }

    assertThat(changes()).isEmpty();
    assertThat(prompts)
        .hasSize(3)
        .allMatch(
            prompt ->
                prompt.startsWith("Target: prod (PRODUCTION, " + deployment.uri() + "/prod)\n")
                    && prompt.endsWith("? Type the name of the context to confirm (prod):"));
    deployment.repliesWith(prompt -> "prod").requests().clear();
    run(command);
    assertThat(deployment.requests())
        .isNotEmpty()
        .allMatch(request -> request.path().startsWith("/prod/"));
    assertThat(changes()).hasSizeGreaterThanOrEqualTo(command.equals("verify") ? 0 : 1);
  }

  @ParameterizedTest
  @MethodSource("changingCommands")
  void yes_in_production_needs_the_context_on_the_command_line(String command) {
    run("context add prod --outputs prod.json --production");
    run("context use prod");
    deployment.environment("TOLLGATE_CONTEXT", "prod");

    assertThat(run(command).err()).endsWith(", use --yes with --context prod.\n");
    Run refused = run(command + " --yes");
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err())
        .startsWith("tollgate: This deployment is marked as production: prod (PRODUCTION, ")
        .endsWith(" without confirmation, use --yes with --context prod.\n");
    assertThat(run(command + " --yes --outputs prod.json").exitCode()).isEqualTo(2);
    assertThat(run(command + " --json").exitCode()).isEqualTo(2);
    assertThat(changes()).isEmpty();

    deployment.requests().clear();
    assertThat(run(command + " --yes --context prod").target())
        .isEqualTo("Target: prod (PRODUCTION, " + deployment.uri() + "/prod)\n");
    assertThat(deployment.requests()).isNotEmpty();
    assertThat(run(command + " --yes --context prod --json").target()).isEmpty();
  }

  @Test
  void another_context_of_a_production_deployment_is_production_too() {
    run("context add prod --outputs prod.json --production");
    run("context add alias --outputs prod.json");

    run("context use alias");

    assertThat(run("tiers delete bronze --yes").err())
        .endsWith("use --yes with --context alias.\n");
    assertThat(deployment.requests()).isEmpty();
    assertThat(run("tiers list --context alias --help").out())
        .contains("Target: alias (PRODUCTION");
  }

  static List<String> otherCommands() {
    return OTHERS;
  }

  @ParameterizedTest
  @MethodSource("otherCommands")
  void outside_of_production_most_changes_show_the_target_and_do_not_ask(String command) {
    Run run = run(command);

    assertThat(run.target()).isEqualTo("Target: local (" + deployment.uri() + "/control)\n");
    assertThat(changes()).hasSize(1);
    assertThat(run(command + " --json").target()).isEmpty();
  }

  @Test
  void other_commands_show_no_target() {
    for (String command :
        List.of("tenants list", "tiers list", "doctor", "tenants offboard acme --dry-run")) {
      assertThat(run(command).target()).isEmpty();
    }
  }

  @Test
  void the_production_mark_is_not_removed_without_a_question() {
    run("context add prod --outputs prod.json --production");

    Run refused = run("context remove prod");
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err()).endsWith("To remove context prod without confirmation, use --yes.\n");
    deployment.repliesWith(prompt -> "y");
    assertThat(run("context remove prod").err()).contains("Cancelled.");
    deployment.repliesWith(
        prompt -> {
          assertThat(prompt)
              .startsWith("Target: prod (PRODUCTION, " + deployment.uri() + "/prod)\nForget ");
          run("context remove prod --yes");
          run("context add prod --outputs staging.json --production");
          return "prod";
        });
    assertThat(run("context remove prod").err()).contains("was changed by another command");
    deployment.repliesWith(prompt -> "prod");
    assertThat(run("context remove prod").out()).isEqualTo("Removed context prod.\n");
    assertThat(run("context list").out()).doesNotContain("PRODUCTION");
  }

  private List<Request> changes() {
    return deployment.requests().stream()
        .filter(request -> !request.method().equals("GET"))
        .filter(request -> !request.path().contains("dryRun=true"))
        .toList();
  }

  @Test
  void a_confirmed_command_changes_the_deployment_that_its_question_named() {
    run("context add staging --outputs staging.json");
    run("context add live --outputs prod.json --production");
    for (String command : List.of("tenants offboard acme", "tiers delete bronze")) {
      run("context use staging");
      deployment.repliesWith(
          prompt -> {
            assertThat(prompt).startsWith("Target: staging (" + deployment.uri() + "/staging)\n");
            run("context use live");
            return "y";
          });

      assertThat(addressedPaths(command))
          .isNotEmpty()
          .allMatch(path -> path.startsWith("/staging/"));
    }
  }

  @Test
  void an_outputs_file_that_is_overwritten_during_the_question_changes_nothing() {
    deployment.repliesWith(
        prompt -> {
          outputs("file.json", "prod");
          return "y";
        });

    assertThat(addressedPaths("tenants offboard acme --outputs file.json"))
        .isNotEmpty()
        .allMatch(path -> path.startsWith("/file/"));
  }

  @Test
  void contexts_that_are_added_at_once_are_all_kept() throws Exception {
    run("context add prod --outputs prod.json --production");
    int processes = 6;
    CyclicBarrier start = new CyclicBarrier(processes);
    ExecutorService threads = Executors.newFixedThreadPool(processes);
    try {
      List<Future<Run>> runs = new ArrayList<>();
      for (int number = 1; number <= processes; number++) {
        String command = "context add c" + number + " --outputs staging.json";
        runs.add(
            threads.submit(
                () -> {
                  start.await();
                  return run(command);
                }));
      }
      for (Future<Run> one : runs) {
        assertThat(one.get().err()).isEmpty();
      }
    } finally {
      threads.shutdownNow();
    }

    assertThat(run("context list").out())
        .contains("c1", "c2", "c3", "c4", "c5", "c6", "PRODUCTION");
  }

  @Test
  void a_file_of_contexts_that_is_a_link_stays_one() throws IOException {
    Path link = directory.resolve("tollgate/contexts.json");
    Path real = Files.createDirectory(directory.resolve("dotfiles")).resolve("tollgate.json");
    Files.move(link, real);
    Files.createSymbolicLink(link, Path.of("../dotfiles/tollgate.json"));

    run("context add prod --outputs prod.json");

    assertThat(link).isSymbolicLink();
    assertThat(Files.readString(real)).contains("\"prod\"", "\"local\"");
    Files.delete(real);
    run("context add prod --outputs prod.json");
    assertThat(link).isSymbolicLink();
    assertThat(Files.readString(real)).contains("\"prod\"").doesNotContain("\"local\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1:%d/prod/",
        "http://localhost:%d/prod",
        "HTTP://LocalHost.:%d//prod",
        "http://[::1]:%d/prod",
        "http://[::ffff:127.0.0.1]:%d/prod",
        "http://127.1.2.3:%d/prod",
        "http://0.0.0.0:%d/prod",
        "http://127.0.0.1:%d/x/../prod/.",
        "http://127.0.0.1:%d/%%70rod"
      })
  void the_production_mark_holds_for_every_spelling_of_the_url(String url) throws IOException {
    run("context add prod --outputs prod.json --production");
    Files.writeString(
        directory.resolve("other.json"),
        "{\"Tollgate\":{\"SessionURL\":\"http://127.0.0.1/session\",\"ControlPlaneURL\":\"%s\"}}"
            .formatted(url.formatted(deployment.uri().getPort())));

    Run run = run("tenants offboard acme --yes --outputs other.json");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .contains("This deployment is marked as production: prod (PRODUCTION, ")
        .endsWith("use --yes with --context prod.\n");
    assertThat(deployment.requests()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"production\":\"yes\" | context prod: production: yes (expected: true or false)",
        "\"production\":1 | context prod: production: 1 (expected: true or false)",
        "\"Production\":true | context prod: production is missing (expected: true or false)",
        "\"production\":true,\"url\":\"ftp://h\" | context prod: url: ftp://h (expected: an http"
      })
  void a_context_with_a_bad_value_is_refused(String members, String error) throws IOException {
    Files.writeString(
        directory.resolve("tollgate/contexts.json"),
        "{\"contexts\":{\"prod\":{\"outputs\":\"%s\",\"stack\":\"Tollgate\",\"url\":\"%s/prod\",%s}}}"
            .formatted(directory.resolve("prod.json"), deployment.uri(), members));

    Run run = run("tenants offboard acme --yes --context prod");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains(error);
    assertThat(run("context add other --outputs prod.json").exitCode()).isEqualTo(2);
    assertThat(deployment.requests()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"[]", "{\"contexts\":[]}", "{\"contexts\":{\"a\":1}}", "{\"current\":1}"})
  void a_file_of_contexts_in_another_form_is_refused_and_not_overwritten(String text)
      throws IOException {
    Path file = directory.resolve("tollgate/contexts.json");
    Files.writeString(file, text);

    assertThat(run("context add other --outputs prod.json").exitCode()).isEqualTo(2);
    assertThat(file).hasContent(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1:8080/con trol",
        "127.0.0.1:8080/control",
        "//host/control",
        "ftp://host/control",
        "https:///control",
        "https://user@host/control",
        "https://host/control?a=b",
        "https://host/control#a",
        "http://host:99999/control",
        "http://a_b/control",
        ""
      })
  void an_outputs_file_with_a_bad_url_is_reported_in_one_line(String url) throws IOException {
    Files.writeString(
        directory.resolve("bad.json"),
        "{\"Tollgate\":{\"SessionURL\":\"http://h/s\",\"ControlPlaneURL\":\"%s\"}}".formatted(url));
    String error =
        "bad.json: output ControlPlaneURL of stack Tollgate: "
            + url
            + " (expected: an http or https URL without query or fragment)\n";

    for (String command :
        List.of("tenants list", "tenants offboard acme", "context add bad", "connect acme")) {
      Run run = run(command + " --outputs bad.json");

      assertThat(run.exitCode()).as(command).isEqualTo(2);
      assertThat(run.err()).startsWith("tollgate: ").endsWith(error).hasLineCount(1);
    }
    Run help = run("tenants list --outputs bad.json --help");
    assertThat(help.out()).contains("\nTarget: none. ").endsWith(error);
    assertThat(help.err()).isEmpty();
    assertThat(run("context list").out()).doesNotContain("bad");
  }

  private List<String> addressedPaths(String command) {
    deployment.requests().clear();
    run(command);
    return deployment.requests().stream().map(Request::path).toList();
  }

  private void outputs(String file, String path) {
    String outputs =
        """
        {"Tollgate": {"SessionURL": "%1$s/%3$s/session", "ControlPlaneURL": "%1$s/%3$s",
                      "WebSocketURL": "%2$s/%3$s/sockets"}}
        """;
    try {
      Files.writeString(
          directory.resolve(file),
          outputs.formatted(deployment.uri(), deployment.webSocketUri(), path));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Run run(String command) {
    return deployment.run(command.split(" "));
  }

  private String addressed(String command) {
    deployment.requests().clear();
    assertThat(run(command).err()).isEmpty();
    return deployment.requests().get(0).path();
  }
}
