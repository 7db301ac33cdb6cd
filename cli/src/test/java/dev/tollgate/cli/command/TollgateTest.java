package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Run;
import dev.tollgate.cli.context.Outputs;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The common behaviour of all commands: finding the deployment, errors and exit codes. */
class TollgateTest {
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

  @Test
  void an_unknown_command_suggests_a_similar_one() {
    Run run = deployment.run("tenant", "list");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .isEqualTo(
            "tollgate: No command named `tollgate tenant`. Did you mean `tenants`?\n"
                + "See `tollgate --help`.\n");
    assertThat(deployment.run("tenants", "lst").err()).contains("Did you mean `list`?");
    assertThat(deployment.run("tenants", "lst", "--help").exitCode()).isEqualTo(2);
    assertThat(deployment.run("histories", "--help").err())
        .startsWith("tollgate: No command named `tollgate histories`. Did you mean `history`?\n");
    assertThat(deployment.run("tenants", "list", "--tiers").err())
        .startsWith("tollgate: Unknown option: --tiers. Did you mean `--tier`?\n");
    assertThat(deployment.run("tenants", "list", "gold").err())
        .startsWith("tollgate: Unexpected argument: gold\n");
  }

  @Test
  void a_misspelt_option_is_named_although_it_is_required() {
    Run run = deployment.run("tenants", "onboard", "acme", "--teir", "gold");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .isEqualTo(
            "tollgate: Unknown option: --teir. Did you mean `--tier`?\n"
                + "See `tollgate tenants onboard --help`.\n");
    assertThat(deployment.run("tenants", "onboard", "acme", "--teir=gold").err())
        .startsWith("tollgate: Unknown option: --teir=gold. Did you mean `--tier`?\n");
    assertThat(deployment.run("tenants", "onboard", "acme", "gold").err())
        .startsWith("tollgate: Missing required option: '--tier=TIER'\n");
    assertThat(deployment.run("tenants", "set-tier", "--dry-rnu").err())
        .startsWith("tollgate: Unknown option: --dry-rnu. Did you mean `--dry-run`?\n");
    assertThat(deployment.run("tenants", "set-tier", "acme", "--teir", "gold").err())
        .startsWith("tollgate: Unknown option: --teir\n");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void help_and_version_are_commands_too() {
    assertThat(deployment.run("help", "tenants", "onboard").out())
        .isEqualTo(deployment.run("tenants", "onboard", "--help").out())
        .contains("--tier=TIER");
    assertThat(deployment.run("help").out()).isEqualTo(deployment.run("--help").out());
    assertThat(deployment.run("help", "nothing").exitCode()).isEqualTo(2);
    assertThat(deployment.run("version").out()).isEqualTo(deployment.run("--version").out());
  }

  @Test
  void completion_takes_the_name_of_a_shell() {
    String script = deployment.run("completion").out();

    assertThat(deployment.run("completion", "bash").out()).isEqualTo(script);
    assertThat(deployment.run("completion", "zsh").out()).isEqualTo(script);
    assertThat(deployment.run("completion", "fish").err())
        .isEqualTo("tollgate: SHELL: fish (expected: bash or zsh)\n");
  }

  @Test
  void completion_knows_commands_aliases_and_options() {
    assertThat(deployment.run("completion").out())
        .contains("complete -F _complete_tollgate", "onboard", "offboard", "delete", "--sockets");
  }

  @Test
  void a_negative_number_is_refused() {
    assertThat(deployment.run("connect", "acme", "--hold", "-1").err())
        .contains("-1 (expected: a whole number, 0 or more)");
    assertThat(deployment.requests()).isEmpty();
  }

  @Test
  void no_command_prints_the_usage() {
    Run run = deployment.run();

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("Usage: tollgate", "tenants", "tiers", "connect", "up");
  }

  @Test
  void help_lists_the_exit_codes() {
    Run run = deployment.run("tenants", "list", "--help");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).contains("Exit codes:", "--outputs=FILE", "--tier=TIER");
  }

  @Test
  void an_unreachable_local_cloud_is_reported_with_the_command_that_starts_it() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    outputs(
        "{\"Tollgate\":{\"SessionURL\":\"x\",\"ControlPlaneURL\":\"http://127.0.0.1:%d/c\"}}"
            .formatted(port));

    Run run = runWithOutputs("tenants", "list");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .isEqualTo(
            "tollgate: Cannot connect to http://127.0.0.1:%d. Start the local cloud with `./tollgate up`.\n"
                .formatted(port));
    assertThat(runWithOutputs("tenants", "list", "--json").err())
        .startsWith("{\"type\":\"about:blank\",\"title\":\"Cannot connect to");
  }

  @Test
  void an_unknown_host_is_named() throws IOException {
    outputs(
        "{\"Tollgate\":{\"SessionURL\":\"x\",\"ControlPlaneURL\":\"http://tollgate.invalid\"}}");

    assertThat(runWithOutputs("tenants", "list").err())
        .isEqualTo("tollgate: Cannot connect to http://tollgate.invalid: unknown host\n");
  }

  @Test
  void an_error_of_the_gateway_becomes_a_problem() {
    deployment
        .answers("GET /control/tiers", 403, "{\"message\":\"Forbidden\"}")
        .answers("GET /control/tenants", 502, "<html>bad</html>");

    assertThat(deployment.run("tiers", "list").err()).isEqualTo("tollgate: 403 Forbidden\n");
    assertThat(deployment.run("tenants", "list").err())
        .isEqualTo("tollgate: 502 Bad Gateway: <html>bad</html>\n");
    assertThat(deployment.run("tiers", "list", "--json").err())
        .isEqualTo("{\"type\":\"about:blank\",\"title\":\"Forbidden\",\"status\":403}\n");
  }

  @Test
  void named_outputs_are_relative_to_the_current_directory() throws IOException {
    Files.move(directory.resolve(Outputs.DEFAULT), directory.resolve("prod.json"));
    deployment.answers("GET /control/tenants", 200, "{\"tenants\":[]}");

    assertThat(deployment.run("tenants", "list", "--outputs", "prod.json").exitCode()).isZero();
    assertThat(deployment.run("tenants", "list", "--outputs", "none.json").exitCode()).isEqualTo(2);
  }

  @Test
  void several_stacks_need_a_name() throws IOException {
    outputs(
        ("{\"One\":{\"SessionURL\":\"x\",\"ControlPlaneURL\":\"http://127.0.0.1:%1$d/control\"},"
                + "\"Two\":{\"SessionURL\":\"x\",\"ControlPlaneURL\":\"http://127.0.0.1:%1$d/two\"},"
                + "\"Vpc\":{\"VpcId\":\"vpc-1\"}}")
            .formatted(deployment.uri().getPort()));
    deployment.answers("GET /two/tenants", 200, "{\"tenants\":[]}");

    Run unnamed = runWithOutputs("tenants", "list");
    assertThat(unnamed.exitCode()).isEqualTo(2);
    assertThat(unnamed.err()).contains("Choose one with --stack: One, Two");
    assertThat(runWithOutputs("tenants", "list", "--stack", "Two").exitCode()).isZero();
    assertThat(runWithOutputs("tenants", "list", "--stack", "Three").err())
        .contains("--stack: Three (expected: a stack in");
  }

  @Test
  void outputs_without_the_control_plane_name_the_missing_output() throws IOException {
    outputs("{\"Tollgate\":{\"SessionURL\":\"x\"}}");

    assertThat(runWithOutputs("tenants", "list").err()).contains("has no output ControlPlaneURL");
  }

  @Test
  void connect_to_an_attached_deployment_says_what_to_do_instead() throws IOException {
    outputs("{'Chat':{'ControlPlaneURL':'%s'}}".formatted(deployment.uri()).replace('\'', '"'));

    Run run = runWithOutputs("connect", "acme");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .contains("Tollgate is attached to an API of your own")
        .contains("`tollgate doctor`");
  }

  @ParameterizedTest
  @CsvSource({
    "tenants list, https://abc123.execute-api.eu-west-1.amazonaws.com",
    "connect acme, https://abc123.execute-api.eu-west-1.amazonaws.com",
    "tenants list --region eu-west-1, https://api.example.com/tollgate"
  })
  void requests_to_aws_are_signed(String command, String url) throws IOException {
    outputs(
        "{'Tollgate':{'SessionURL':'%1$s/session','ControlPlaneURL':'%1$s'}}"
            .formatted(url)
            .replace('\'', '"'));
    System.setProperty("aws.disableEc2Metadata", "true");
    try {
      Run run = runWithOutputs((command + " --profile no-such-profile").split(" "));

      assertThat(run.err()).startsWith("tollgate: No AWS credentials to sign the request with.");
    } finally {
      System.clearProperty("aws.disableEc2Metadata");
    }
  }

  private void outputs(String json) throws IOException {
    Files.writeString(directory.resolve("other.json"), json);
  }

  private Run runWithOutputs(String... command) {
    return deployment.run(
        Stream.concat(Stream.of("--outputs", "other.json"), Stream.of(command))
            .toArray(String[]::new));
  }
}
